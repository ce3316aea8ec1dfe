/** What the status bar says. */

import { format, type Version } from "./version";

/** The card that a file is judged on, as the server tells it. */
export interface Target {
  /** As a person writes it: "RTX 4070", "8x A100-40GB"; null where none is set. */
  readonly name: string | null;
  /** What set it: a settings file, a variable, the editor. */
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
  const name = target?.name ?? null;
  if (name === null) {
    return {
      text: "$(circuit-board) no GPU",
      tooltip: `${server}: memory is not judged until a GPU is chosen; click to choose one`,
      command: "nanolint.selectTarget",
      warning: false,
    };
  }
  const origin = target?.origin ?? null;
  return {
    text: `$(circuit-board) ${name}`,
    tooltip: `${server}: configs are judged on ${name}${origin === null ? "" : ` (${origin})`}; click to choose another GPU`,
    command: "nanolint.selectTarget",
    warning: false,
  };
}
