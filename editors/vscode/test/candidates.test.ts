import assert from "node:assert/strict";
import { test } from "node:test";

import { candidates } from "../src/candidates";

const nothing = { path: "", interpreter: undefined, home: "/home/ada", folder: undefined };

test("with nothing set, PATH is all there is", () => {
  assert.deepEqual(candidates(nothing), [{ origin: "PATH", file: "nanolint", args: [] }]);
});

test("the selected environment comes before PATH, and is run as a module", () => {
  const found = candidates({ ...nothing, interpreter: "/venv/bin/python" });
  assert.deepEqual(
    found.map(({ file, args }) => [file, ...args]),
    [["/venv/bin/python", "-m", "nanolint"], ["nanolint"]],
  );
});

test("nanolint.path comes first: the user wrote it by hand", () => {
  const found = candidates({ ...nothing, path: "/opt/nanolint", interpreter: "/venv/bin/python" });
  assert.deepEqual(
    found.map(({ origin }) => origin),
    ["nanolint.path", "the selected Python environment", "PATH"],
  );
});

const expanded: [written: string, folder: string | undefined, file: string][] = [
  ["~/bin/nanolint", undefined, "/home/ada/bin/nanolint"],
  ["~ada/bin/nanolint", undefined, "~ada/bin/nanolint"],
  ["${workspaceFolder}/.venv/bin/nanolint", "/code/$&", "/code/$&/.venv/bin/nanolint"],
  [".venv/bin/nanolint", "/code", "/code/.venv/bin/nanolint"],
  ["/opt/nanolint", "/code", "/opt/nanolint"],
  ["nanolint-dev", "/code", "nanolint-dev"],
];

for (const [path, folder, file] of expanded) {
  test(`nanolint.path ${path} with the folder ${folder} is ${file}`, () => {
    assert.equal(candidates({ ...nothing, path, folder })[0]?.file, file);
  });
}
