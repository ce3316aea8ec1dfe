import assert from "node:assert/strict";
import { test } from "node:test";

import { explainArguments, serverOptions } from "../src/options";

test("a setting reaches the server under its name in nanolint.toml", () => {
  const set: Record<string, unknown> = { gpu: ["rtx-4070"], worldSize: 8, ignore: [], inUse: "" };
  assert.deepEqual(
    serverOptions((name) => set[name]),
    { gpu: ["rtx-4070"], "world-size": 8 },
  );
});

test("a config is explained with the settings that it is judged with", () => {
  const options = { gpu: ["rtx-4070", "t4"], "world-size": 8, ignore: ["NL105"] };
  assert.deepEqual(explainArguments(options, undefined, "/code/-x.py"), [
    ...["explain", "--color=never", "--gpu=rtx-4070", "--gpu=t4", "--world-size=8"],
    ...["--", "/code/-x.py"],
  ]);
});

test("the card that was picked for the session counts, not those of the settings", () => {
  const given = explainArguments({ gpu: ["t4"] }, "8xA100-40GB", "/code/x.py");
  assert.deepEqual(given.slice(2, 3), ["--gpu=8xA100-40GB"]);
});
