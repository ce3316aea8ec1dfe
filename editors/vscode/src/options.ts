/** From VS Code's settings to what the server is told, in the words of nanolint.toml. */

/** The settings that go to the server: their name in VS Code, and in nanolint.toml; the last two are an editor's alone. */
export const KEYS = {
  gpu: "gpu",
  inUse: "in-use",
  worldSize: "world-size",
  trainScript: "train-script",
  torchVersion: "torch-version",
  platform: "platform",
  allocator: "allocator",
  select: "select",
  extendSelect: "extend-select",
  ignore: "ignore",
  lines: "lines",
  readAhead: "readAhead",
} as const;

export type Options = Record<string, unknown>;

/** What is set; a setting that is null or empty is left to the project's own files. */
export function serverOptions(get: (name: string) => unknown): Options {
  const options: Options = {};
  for (const [name, key] of Object.entries(KEYS)) {
    const value = get(name);
    if (!isEmpty(value)) {
      options[key] = value;
    }
  }
  return options;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Settings that `nanolint explain` has an option of the same name for. */
const EXPLAIN_KEYS = [
  "gpu",
  "in-use",
  "world-size",
  "train-script",
  "torch-version",
  "platform",
  "allocator",
];

/** The arguments that explain `file` as the server judges it; `picked` is the card of the session. */
export function explainArguments(options: Options, picked: string | undefined, file: string): string[] {
  const told = picked === undefined ? options : { ...options, gpu: picked };
  const given = EXPLAIN_KEYS.flatMap((key) => {
    const value = told[key];
    const values: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value];
    return values.map((each) => `--${key}=${String(each)}`);
  });
  return ["explain", "--color=never", ...given, "--", file];
}
