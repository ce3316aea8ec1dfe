/** Puts the parts together; what can be decided without VS Code is decided elsewhere. */

import * as vscode from "vscode";

import { coalesce } from "./coalesce";
import { Explanations } from "./explanation";
import { explainArguments, serverOptions } from "./options";
import { watchInterpreter } from "./python";
import { SECTION, Server } from "./server";
import { statusBar, type State } from "./status";
import { type Card, SCOPES, targetItems } from "./targets";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("nanolint", { log: true });
  const trace = vscode.window.createOutputChannel("nanolint trace");
  const item = vscode.window.createStatusBarItem("nanolint.target", vscode.StatusBarAlignment.Right);
  item.name = "nanolint";

  const show = (state: State): void => {
    const bar = statusBar(state);
    item.text = bar.text;
    item.tooltip = bar.tooltip;
    item.command = bar.command;
    item.backgroundColor = bar.warning
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined;
    item.show();
    void vscode.commands.executeCommand("setContext", "nanolint.running", state.is === "running");
  };

  const running = new Server(context.extensionPath, output, trace, selectTarget, show);
  server = running;
  const restart = coalesce(() => running.restart());
  const explanations = new Explanations((file) => explain(running, file));

  context.subscriptions.push(
    output,
    trace,
    item,
    explanations.register(),
    vscode.commands.registerCommand("nanolint.restart", restart),
    vscode.commands.registerCommand("nanolint.showOutput", () => output.show()),
    vscode.commands.registerTextEditorCommand("nanolint.explain", ({ document }) =>
      explanations.show(document),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      // The server is told of all others while it runs.
      if (["enable", "path"].some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
        void restart();
      }
    }),
    vscode.window.onDidChangeActiveTextEditor((editor) => running.retarget(editor?.document)),
    // Whatever changes the card also brings new findings.
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      const document = vscode.window.activeTextEditor?.document;
      if (uris.some((uri) => uri.toString() === document?.uri.toString())) {
        void running.retarget(document);
      }
    }),
  );
  const watch = await watchInterpreter(() => void restart());
  if (watch !== undefined) {
    context.subscriptions.push(watch);
  }
  await restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Asks for a card, and for how long, and tells the server. */
async function selectTarget(): Promise<void> {
  const gpu = await pickGpu();
  if (gpu === undefined) {
    return;
  }
  const uri = vscode.window.activeTextEditor?.document.uri.toString();
  if (gpu === null) {
    await server?.pick(null, "session", uri);
    return;
  }
  const kept = await vscode.window.showQuickPick(SCOPES, { title: `Judge configs on ${gpu}` });
  if (kept !== undefined) {
    await server?.pick(gpu, kept.scope, uri);
  }
}

/** The name of a card; null for what the settings say, undefined where the user leaves. */
async function pickGpu(): Promise<string | null | undefined> {
  const cards = (await server?.ask<Card[]>("nanolint.listGpus", [])) ?? [];
  const picked = await vscode.window.showQuickPick(
    targetItems(cards, server?.gpus ?? []),
    { title: "The GPU that configs are checked for", matchOnDescription: true },
  );
  if (picked === undefined || picked.gpu !== undefined) {
    return picked?.gpu;
  }
  const typed = await vscode.window.showInputBox({
    title: "A GPU's name, a size or a node",
    placeHolder: "4070, 12GB, 11.69GiB, 8xA100-40GB",
  });
  return typed === "" ? undefined : typed;
}

async function explain(from: Server, file: string): Promise<string> {
  const configuration = vscode.workspace.getConfiguration(SECTION, vscode.Uri.file(file));
  const options = serverOptions((name) => configuration.get(name));
  return from.run(explainArguments(options, from.pickedGpu, file));
}
