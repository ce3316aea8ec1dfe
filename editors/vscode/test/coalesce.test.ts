import assert from "node:assert/strict";
import { test } from "node:test";

import { coalesce } from "../src/coalesce";

test("asked often while it runs, it runs once more", async () => {
  let runs = 0;
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const restart = coalesce(async () => {
    runs += 1;
    await held;
  });
  const all = [restart(), restart(), restart(), restart()];
  release();
  await Promise.all(all);
  assert.equal(runs, 2);
  await restart();
  assert.equal(runs, 3);
});

test("a failure does not block the next run", async () => {
  let runs = 0;
  const restart = coalesce(async () => {
    runs += 1;
    if (runs === 1) {
      throw new Error("no");
    }
  });
  await assert.rejects(restart(), /no/);
  await restart();
  assert.equal(runs, 2);
});
