import assert from "node:assert/strict";
import { test } from "node:test";

import { statusBar, type State } from "../src/status";

function running(gpus: string[], origin: string | null): State {
  return { is: "running", version: [0, 1, 0], target: { gpus, origin } };
}

test("the card is named, with what set it, and a click chooses another", () => {
  const bar = statusBar(running(["RTX 4070"], "pyproject.toml"));
  assert.equal(bar.text, "$(circuit-board) RTX 4070");
  assert.match(bar.tooltip, /nanolint 0\.1\.0: .* RTX 4070 \(pyproject\.toml\)/);
  assert.equal(bar.command, "nanolint.selectTarget");
  assert.equal(bar.warning, false);
});

test("of several cards the first is named, and all of them in the tooltip", () => {
  const bar = statusBar(running(["RTX 4070", "T4", "L4"], null));
  assert.equal(bar.text, "$(circuit-board) RTX 4070 +2");
  assert.match(bar.tooltip, /checked for RTX 4070, T4, L4; click/);
});

test("without a card it says so, and a click chooses one", () => {
  for (const state of [
    running([], null),
    { is: "running", version: [0, 1, 0], target: undefined } as const,
  ]) {
    const bar = statusBar(state);
    assert.equal(bar.text, "$(circuit-board) no GPU");
    assert.match(bar.tooltip, /memory is not checked/);
    assert.equal(bar.command, "nanolint.selectTarget");
  }
});

test("a failure is a warning that tells the reason and opens the output", () => {
  const bar = statusBar({ is: "failed", reason: "no nanolint was found" });
  assert.equal(bar.tooltip, "no nanolint was found");
  assert.equal(bar.command, "nanolint.showOutput");
  assert.equal(bar.warning, true);
});

test("a server that stopped is started by a click", () => {
  const bar = statusBar({ is: "stopped" });
  assert.equal(bar.command, "nanolint.restart");
  assert.equal(bar.warning, true);
});
