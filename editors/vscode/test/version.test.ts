import assert from "node:assert/strict";
import { test } from "node:test";

import { isOlder, parseVersion, type Version } from "../src/version";

const printed: [text: string, version: Version | undefined][] = [
  ["nanolint 0.1.0\n", [0, 1, 0]],
  ["nanolint 1.20.3\r\n", [1, 20, 3]],
  ["nanolint 0.2", [0, 2, 0]],
  ["nanolint 0.2.0.dev1+g1234", [0, 2, 0]],
  ["Python 3.11.2", undefined],
  ["", undefined],
];

for (const [text, version] of printed) {
  test(`${JSON.stringify(text)} is ${version ?? "not nanolint"}`, () => {
    assert.deepEqual(parseVersion(text), version);
  });
}

test("versions compare by number, not by letter", () => {
  assert.equal(isOlder([0, 9, 0], [0, 10, 0]), true);
  assert.equal(isOlder([0, 10, 0], [0, 9, 0]), false);
  assert.equal(isOlder([1, 0, 0], [0, 9, 9]), false);
  assert.equal(isOlder([0, 1, 0], [0, 1, 0]), false);
});
