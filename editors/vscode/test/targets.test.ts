import assert from "node:assert/strict";
import { test } from "node:test";

import { targetItems } from "../src/targets";

const cards = [
  { name: "RTX 4070", total_bytes: 12576620544, sm_count: 46 },
  { name: "A100 40GB", total_bytes: 42298834944, sm_count: 108 },
];

test("cards are listed with the memory that torch reports, after the two ways without a card", () => {
  const items = targetItems(cards, []);
  assert.deepEqual(
    items.map(({ gpu }) => gpu),
    [null, undefined, "RTX 4070", "A100 40GB"],
  );
  assert.equal(items[2]?.description, "11.71 GiB, 46 SMs");
});

test("the card in use is ticked", () => {
  const labels = targetItems(cards, ["A100 40GB"]).map(({ label }) => label);
  assert.deepEqual(labels.slice(2), ["RTX 4070", "$(check) A100 40GB"]);
});
