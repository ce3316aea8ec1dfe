/** From VS Code's settings to what the server is told, in the words of nanolint.toml. */

/** The settings that go to the server: their name in VS Code, and in nanolint.toml. */
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
