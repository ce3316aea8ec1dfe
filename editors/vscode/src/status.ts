/** What the status bar says. */

import { format, type Version } from "./version";

/** The cards that a file is judged on, as the server answers to `nanolint/target`. */
export interface Target {
  readonly gpus: readonly string[];
  /** What named them: a settings file, a variable, the editor; null where nothing did. */
  readonly origin: string | null;
}

export type State =
  | { readonly is: "starting" }
  | { readonly is: "running"; readonly version: Version; readonly target: Target | undefined }
  | { readonly is: "stopped" }
  | { readonly is: "failed"; readonly reason: string };

export interface StatusBar {
  readonly text: string;
  readonly tooltip: string;
  readonly command: "nanolint.selectTarget" | "nanolint.showOutput" | "nanolint.restart";
  readonly warning: boolean;
}

export function statusBar(state: State): StatusBar {
  switch (state.is) {
    case "starting":
      return {
        text: "$(loading~spin) nanolint",
        tooltip: "nanolint is starting",
        command: "nanolint.showOutput",
        warning: false,
      };
    case "stopped":
      return {
        text: "$(circle-slash) nanolint",
        tooltip: "nanolint has stopped; click to start it",
        command: "nanolint.restart",
        warning: true,
      };
    case "failed":
      return {
        text: "$(error) nanolint",
        tooltip: state.reason,
        command: "nanolint.showOutput",
        warning: true,
      };
    case "running":
      return running(state.version, state.target);
  }
}

function running(version: Version, target: Target | undefined): StatusBar {
  const server = `nanolint ${format(version)}`;
  const [first, ...others] = target?.gpus ?? [];
  if (first === undefined) {
    return {
      text: "$(circuit-board) no GPU",
      tooltip: `${server}: memory is not checked until a GPU is chosen; click to choose one`,
      command: "nanolint.selectTarget",
      warning: false,
    };
  }
  const origin = target?.origin ?? null;
  const from = origin === null ? "" : ` (${origin})`;
  return {
    text: `$(circuit-board) ${first}${others.length === 0 ? "" : ` +${others.length}`}`,
    tooltip: `${server}: checked for ${[first, ...others].join(", ")}${from}; click to choose another GPU`,
    command: "nanolint.selectTarget",
    warning: false,
  };
}
