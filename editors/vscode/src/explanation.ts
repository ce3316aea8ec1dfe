/** `nanolint explain` of a file, as a page beside the editor. */

import * as vscode from "vscode";

const SCHEME = "nanolint-explain";

/** Gives the text of the page for the config at `file`. */
export type Explain = (file: string) => Promise<string>;

export class Explanations implements vscode.TextDocumentContentProvider {
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changes.event;

  constructor(private readonly explain: Explain) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    try {
      return await this.explain(uri.fsPath);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Opens the page, brought up to date where it is open already. */
  async show(document: vscode.TextDocument): Promise<void> {
    await document.save();
    const uri = document.uri.with({ scheme: SCHEME });
    this.changes.fire(uri);
    const opened = await vscode.workspace.openTextDocument(uri);
    const page = await vscode.languages.setTextDocumentLanguage(opened, "plaintext");
    await vscode.window.showTextDocument(page, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
  }
}
