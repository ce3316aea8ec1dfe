/** Where the nanolint of a window may be, best first. */

import * as path from "node:path";

/** A program and the arguments that stand before nanolint's own. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export interface Candidate extends Command {
  /** How the user would call this place. */
  readonly origin: "nanolint.path" | "the selected Python environment" | "PATH";
}

export interface Surroundings {
  /** The setting `nanolint.path`; empty where it is not set. */
  readonly path: string;
  /** The interpreter that the Python extension has selected, if it is installed. */
  readonly interpreter: string | undefined;
  readonly home: string;
  /** The first workspace folder, if one is open. */
  readonly folder: string | undefined;
}

/** The places to try. What the user wrote down by hand comes before what was found. */
export function candidates(around: Surroundings): Candidate[] {
  const found: Candidate[] = [];
  if (around.path !== "") {
    found.push({ origin: "nanolint.path", file: expand(around.path, around), args: [] });
  }
  if (around.interpreter !== undefined) {
    found.push({
      origin: "the selected Python environment",
      file: around.interpreter,
      args: ["-m", "nanolint"],
    });
  }
  found.push({ origin: "PATH", file: "nanolint", args: [] });
  return found;
}

/** `~` and `${workspaceFolder}`, and a path within the folder, as VS Code's users write them. */
function expand(written: string, { home, folder }: Surroundings): string {
  let file = written.replace(/^~(?=$|[\\/])/, () => home);
  if (folder !== undefined) {
    file = file.replaceAll("${workspaceFolder}", () => folder);
    if (/[\\/]/.test(file) && !path.isAbsolute(file)) {
      file = path.join(folder, file);
    }
  }
  return file;
}
