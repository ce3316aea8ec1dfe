import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";

import { Failure, runToEnd } from "../src/process";

const node = { file: process.execPath, args: ["-e"] };

test("what a command prints comes back", async () => {
  assert.equal(await runToEnd(node, ["console.log('nanolint 0.1.0')"], tmpdir()), "nanolint 0.1.0\n");
});

test("a command that fails is a failure with its own words", async () => {
  const script = "console.error('No module named nanolint'); process.exit(1)";
  await assert.rejects(
    runToEnd(node, [script], tmpdir()),
    (error: unknown) => error instanceof Failure && error.message === "No module named nanolint",
  );
});

test("a command that is not there is a failure that names it", async () => {
  await assert.rejects(
    runToEnd({ file: "/no/such/nanolint", args: [] }, ["--version"], tmpdir()),
    /\/no\/such\/nanolint does not exist/,
  );
});

test("modules of the workspace cannot stand in for Python's own", async () => {
  const script = "console.log(process.cwd(), process.env.PYTHONSAFEPATH)";
  assert.match(await runToEnd(node, [script], tmpdir()), / 1\n$/);
});

test("a command that waits for input does not wait for ever", async () => {
  const script = "process.stdin.on('end', () => console.log('done')).resume()";
  assert.equal(await runToEnd(node, [script], tmpdir()), "done\n");
});
