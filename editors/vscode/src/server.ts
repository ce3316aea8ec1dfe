/** The language server of one window: found, started, watched, stopped. */

import { homedir } from "node:os";

import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn, State as ClientState } from "vscode-languageclient/node";

import { candidates, type Command } from "./candidates";
import { locate, type Located } from "./locate";
import { serverOptions } from "./options";
import { runToEnd, surroundings } from "./process";
import { interpreter, isInstalled } from "./python";
import type { State, Target } from "./status";
import { format } from "./version";

export const SECTION = "nanolint";

export class Server {
  private client: LanguageClient | undefined;
  private located: Located | undefined;
  private target: Target | undefined;

  constructor(
    /** Where nanolint is started: a folder without Python files. */
    private readonly folder: string,
    private readonly output: vscode.LogOutputChannel,
    private readonly trace: vscode.OutputChannel,
    private readonly selectTarget: (gpu?: string | null) => Promise<unknown>,
    private readonly changed: (state: State) => void,
  ) {}

  /** The target that the server told last. */
  get current(): Target | undefined {
    return this.target;
  }

  /** Stops what runs, and starts the nanolint that is now the first to be found. */
  async restart(): Promise<void> {
    await this.stop();
    const configuration = vscode.workspace.getConfiguration(SECTION);
    if (!configuration.get<boolean>("enable", true)) {
      this.changed({ is: "stopped" });
      return;
    }
    this.changed({ is: "starting" });
    this.located = await this.find(configuration.get<string>("path", ""));
    if (this.located === undefined) {
      return;
    }
    const client = this.makeClient(this.located.candidate, configuration);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.output.error(String(error));
      this.changed({ is: "failed", reason: "nanolint's language server did not start; click for why" });
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.target = undefined;
    if (client?.needsStop() === true) {
      await client.stop();
    }
    await client?.dispose();
  }

  /** What a command of the server answers; undefined where none runs. */
  async ask<Answer>(command: string, args: unknown[]): Promise<Answer | undefined> {
    return this.client?.sendRequest<Answer>("workspace/executeCommand", { command, arguments: args });
  }

  /** What `nanolint ARGS` prints. */
  async run(args: readonly string[]): Promise<string> {
    if (this.located === undefined) {
      throw new Error("nanolint was not found.");
    }
    return runToEnd(this.located.candidate, args, this.folder);
  }

  private async find(path: string): Promise<Located | undefined> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const places = candidates({
      path,
      interpreter: await interpreter(folder),
      home: homedir(),
      folder: folder?.fsPath,
    });
    const { found, rejected } = await locate(places, (command, args) =>
      runToEnd(command, args, this.folder),
    );
    for (const { candidate, reason } of rejected) {
      this.output.info(`${candidate.origin} (${candidate.file}): ${reason}`);
    }
    if (found === undefined) {
      const reason = "nanolint was not found. Install it in the selected environment: pip install 'nanolint[server]'";
      this.output.error(reason);
      this.changed({ is: "failed", reason });
      void this.offer(reason);
    } else {
      const { candidate, version } = found;
      this.output.info(`nanolint ${format(version)} from ${candidate.origin} (${candidate.file})`);
      const wrong = rejected.find((one) => one.candidate.origin === "nanolint.path");
      if (wrong !== undefined) {
        void vscode.window.showWarningMessage(
          `nanolint.path cannot be used: ${wrong.reason}. nanolint from ${candidate.origin} is used.`,
        );
      }
    }
    return found;
  }

  private async offer(reason: string): Promise<void> {
    const select = "Select Interpreter";
    const show = "Show Output";
    const choices = isInstalled() ? [select, show] : [show];
    const chosen = await vscode.window.showErrorMessage(reason, ...choices);
    if (chosen === select) {
      await vscode.commands.executeCommand("python.setInterpreter");
    } else if (chosen === show) {
      this.output.show();
    }
  }

  private makeClient(
    command: Command,
    configuration: vscode.WorkspaceConfiguration,
  ): LanguageClient {
    const client = new LanguageClient(
      SECTION,
      "nanolint",
      {
        command: command.file,
        args: [...command.args, "server"],
        options: surroundings(this.folder),
      },
      {
        documentSelector: [
          { scheme: "file", language: "python" },
          { scheme: "untitled", language: "python" },
        ],
        initializationOptions: serverOptions((name) => configuration.get(name)),
        outputChannel: this.output,
        traceOutputChannel: this.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        middleware: {
          // The client registers the server's commands. From the palette and the status bar this one
          // comes without a card, and VS Code has a better way to ask than the server.
          executeCommand: (name, args, next) =>
            name === "nanolint.selectTarget" && args.length === 0
              ? this.selectTarget()
              : next(name, args),
        },
      },
    );
    client.onNotification("nanolint/status", (target: Target) => {
      this.target = target;
      this.report(client);
    });
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) {
        return; // an earlier one, on its way out
      }
      if (newState === ClientState.Running) {
        this.report(client);
      } else if (newState === ClientState.Stopped) {
        this.changed({ is: "stopped" });
      }
    });
    return client;
  }

  private report(client: LanguageClient): void {
    if (this.client === client && this.located !== undefined) {
      this.changed({ is: "running", version: this.located.version, target: this.target });
    }
  }
}
