/** Running nanolint to its end. */

import { execFile } from "node:child_process";

import type { Command } from "./candidates";

const TIMEOUT_MS = 30_000;
const MOST_BYTES = 8 << 20;

/**
 * The environment and folder of every nanolint that this extension starts.
 *
 * `python -m` looks for modules in its folder first: a workspace with a `typing.py` of its own would
 * break the server. So it never starts in the workspace, and from Python 3.11 on it does not look.
 */
export function surroundings(folder: string): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: folder, env: { ...process.env, PYTHONSAFEPATH: "1" } };
}

export class Failure extends Error {}

/** What the command prints; rejects with a Failure that holds what it said instead. */
export function runToEnd(
  command: Command,
  args: readonly string[],
  folder: string,
): Promise<string> {
  const options = {
    ...surroundings(folder),
    timeout: TIMEOUT_MS,
    maxBuffer: MOST_BYTES,
    windowsHide: true,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(command.file, [...command.args, ...args], options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
      } else {
        const said = stderr.trim();
        const missing = error.code === "ENOENT" ? `${command.file} does not exist` : error.message;
        reject(new Failure(said === "" ? missing : said));
      }
    });
    child.stdin?.end();
  });
}
