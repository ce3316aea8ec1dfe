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
  private picked: string | undefined;

  constructor(
    /** Where nanolint is started: a folder without Python files. */
    private readonly folder: string,
    private readonly output: vscode.LogOutputChannel,
    private readonly trace: vscode.OutputChannel,
    private readonly selectTarget: () => Promise<void>,
    private readonly changed: (state: State) => void,
  ) {}

  /** The cards that the document shown is judged on. */
  get gpus(): readonly string[] {
    return this.target?.gpus ?? [];
  }

  /** The card that the user picked for the session. */
  get pickedGpu(): string | undefined {
    return this.picked;
  }

  /** Asks again which cards `document` is judged on, and reports the state. */
  async retarget(document: vscode.TextDocument | undefined): Promise<void> {
    const client = this.client;
    if (client?.isRunning() !== true || document?.languageId !== "python") {
      return;
    }
    const uri = document.uri.toString();
    const answer = await client.sendRequest<Target | null>("nanolint/target", { uri });
    this.target = answer ?? undefined;
    this.report(client);
  }

  /** Judges by another card; null: by what the settings say. */
  async pick(gpu: string | null, scope: "session" | "settings", uri: string | undefined): Promise<void> {
    const told = gpu === null ? null : { gpu, scope, ...(uri === undefined ? {} : { uri }) };
    await this.ask("nanolint.selectTarget", [told]);
    this.picked = gpu !== null && scope === "session" ? gpu : undefined;
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
    this.picked = undefined;
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
          { scheme: "file", pattern: "**/{nanolint,pyproject}.toml" },
        ],
        initializationOptions: serverOptions((name) => configuration.get(name)),
        synchronize: { configurationSection: SECTION },
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
          workspace: {
            // The server asks for the settings of each folder, in the words of nanolint.toml.
            configuration: ({ items }) =>
              items.map(({ section, scopeUri }) => {
                const scope = scopeUri === undefined ? undefined : vscode.Uri.parse(scopeUri);
                const found = vscode.workspace.getConfiguration(section, scope);
                return section === SECTION ? serverOptions((name) => found.get(name)) : found;
              }),
          },
        },
      },
    );
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
