/** The first candidate that is a nanolint with a language server. */

import type { Candidate, Command } from "./candidates";
import { format, isOlder, OLDEST, parseVersion, type Version } from "./version";

export interface Located {
  readonly candidate: Candidate;
  readonly version: Version;
}

export interface Rejected {
  readonly candidate: Candidate;
  /** One line for people. */
  readonly reason: string;
}

export interface Search {
  readonly found: Located | undefined;
  /** What was tried before it, in order. */
  readonly rejected: readonly Rejected[];
}

/** Runs a command to its end and gives what it printed; rejects where it fails. */
export type Run = (command: Command, args: readonly string[]) => Promise<string>;

export async function locate(candidates: readonly Candidate[], run: Run): Promise<Search> {
  const rejected: Rejected[] = [];
  for (const candidate of candidates) {
    const answer = await ask(candidate, run);
    if (typeof answer !== "string") {
      return { found: { candidate, version: answer }, rejected };
    }
    rejected.push({ candidate, reason: answer });
  }
  return { found: undefined, rejected };
}

/** The version of a candidate, or why it is none. */
async function ask(candidate: Candidate, run: Run): Promise<Version | string> {
  let printed: string;
  try {
    printed = await run(candidate, ["--version"]);
  } catch (error) {
    return lastLine(error instanceof Error ? error.message : String(error));
  }
  const version = parseVersion(printed);
  if (version === undefined) {
    return `is not nanolint: it answers "${lastLine(printed)}" to --version`;
  }
  if (isOlder(version, OLDEST)) {
    return `is nanolint ${format(version)}; the language server came with ${format(OLDEST)}`;
  }
  return version;
}

/** Python's errors end in the line that counts. */
function lastLine(text: string): string {
  return text.trim().split(/\r?\n/).at(-1) ?? "";
}
