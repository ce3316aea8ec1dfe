import assert from "node:assert/strict";
import { test } from "node:test";

import { candidates, type Command } from "../src/candidates";
import { locate } from "../src/locate";

const all = candidates({
  path: "/opt/nanolint",
  interpreter: "/venv/bin/python",
  home: "/home/ada",
  folder: undefined,
});

/** Answers to --version by program; a program without one fails as a missing file does. */
function programs(answers: Record<string, string>) {
  return async ({ file }: Command, args: readonly string[]): Promise<string> => {
    assert.deepEqual(args, ["--version"]);
    const answer = answers[file];
    if (answer === undefined) {
      throw new Error(`${file} does not exist`);
    }
    return answer;
  };
}

test("the first that answers is taken, and the others are not run", async () => {
  const { found, rejected } = await locate(all, programs({ "/opt/nanolint": "nanolint 0.1.0" }));
  assert.equal(found?.candidate.origin, "nanolint.path");
  assert.deepEqual(found?.version, [0, 1, 0]);
  assert.deepEqual(rejected, []);
});

test("where nanolint.path is wrong the next is taken, and the reason is kept", async () => {
  const { found, rejected } = await locate(all, programs({ nanolint: "nanolint 0.2.0" }));
  assert.equal(found?.candidate.origin, "PATH");
  assert.deepEqual(
    rejected.map(({ candidate, reason }) => [candidate.origin, reason]),
    [
      ["nanolint.path", "/opt/nanolint does not exist"],
      ["the selected Python environment", "/venv/bin/python does not exist"],
    ],
  );
});

test("a nanolint without a server, and another program, are passed over", async () => {
  const { found, rejected } = await locate(
    all,
    programs({ "/opt/nanolint": "nanolint 0.0.9", "/venv/bin/python": "hello\nworld\n" }),
  );
  assert.equal(found, undefined);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    [
      "is nanolint 0.0.9; the language server came with 0.1.0",
      'is not nanolint: it answers "world" to --version',
      "nanolint does not exist",
    ],
  );
});

test("of a traceback, the last line is the reason", async () => {
  const { rejected } = await locate(all.slice(1, 2), async () => {
    throw new Error("Traceback\n  File ...\nNo module named nanolint\n");
  });
  assert.equal(rejected[0]?.reason, "No module named nanolint");
});
