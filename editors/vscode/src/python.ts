/** The Python environment that the user selected, from the Python extension. */

import { PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import { type Disposable, extensions, type Uri } from "vscode";

export function isInstalled(): boolean {
  return extensions.getExtension(PVSC_EXTENSION_ID) !== undefined;
}

async function api(): Promise<PythonExtension | undefined> {
  return isInstalled() ? PythonExtension.api() : undefined;
}

/** The interpreter selected for `folder`; undefined without the Python extension. */
export async function interpreter(folder: Uri | undefined): Promise<string | undefined> {
  const environments = (await api())?.environments;
  if (environments === undefined) {
    return undefined;
  }
  const selected = environments.getActiveEnvironmentPath(folder);
  const environment = await environments.resolveEnvironment(selected);
  return environment?.executable.uri?.fsPath;
}

/** Calls `changed` whenever another environment is selected. */
export async function watchInterpreter(changed: () => void): Promise<Disposable | undefined> {
  return (await api())?.environments.onDidChangeActiveEnvironmentPath(changed);
}
