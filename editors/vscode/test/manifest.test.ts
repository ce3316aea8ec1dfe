import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { KEYS, serverOptions } from "../src/options";
import { statusBar } from "../src/status";

const ROOT = join(__dirname, "..", "..");
const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");

interface Setting {
  readonly default: unknown;
  readonly type: string | string[];
}

const { contributes, icon } = JSON.parse(read("package.json")) as {
  icon: string;
  contributes: {
    commands: { command: string }[];
    walkthroughs: { steps: { description: string; media: { markdown: string } }[] }[];
    configuration: { properties: Record<string, Setting> };
  };
};
const settings = contributes.configuration.properties;
const OWN = ["nanolint.enable", "nanolint.path", "nanolint.trace.server"];

test("every setting is the extension's own or goes to the server, and each that goes is declared", () => {
  const sent = Object.keys(KEYS).map((name) => `nanolint.${name}`);
  assert.deepEqual(Object.keys(settings).sort(), [...OWN, ...sent].sort());
});

test("the walkthrough names pages that are there, and commands that are", () => {
  const commands = contributes.commands.map(({ command }) => command);
  const packed = read(".vscodeignore");
  for (const { steps } of contributes.walkthroughs) {
    for (const { description, media } of steps) {
      assert.ok(read(media.markdown).startsWith("## "));
      assert.ok(packed.includes("!media/*.md"));
      for (const [, command] of description.matchAll(/command:(nanolint\.\w+)/g)) {
        assert.ok(commands.includes(command ?? ""), command);
      }
    }
  }
});

test("the listing has an icon, and the package holds it", () => {
  assert.ok(read(".vscodeignore").includes(`!${icon}`));
  const head = readFileSync(join(ROOT, icon));
  assert.equal(head.subarray(1, 4).toString(), "PNG");
  assert.ok(head.readUInt32BE(16) >= 128 && head.readUInt32BE(16) === head.readUInt32BE(20));
});

test("untouched settings say nothing to the server", () => {
  assert.deepEqual(
    serverOptions((name) => settings[`nanolint.${name}`]?.default),
    {},
  );
});

test("the README tells every setting and every command", () => {
  const readme = read("README.md");
  for (const name of Object.keys(settings)) {
    assert.ok(readme.includes(`\`${name}\``), name);
  }
  for (const { command } of contributes.commands) {
    assert.ok(readme.includes(`\`${command}\``), command);
  }
});

test("what a click on the status bar runs is a command of the extension", () => {
  const commands = contributes.commands.map(({ command }) => command);
  for (const is of ["starting", "stopped"] as const) {
    assert.ok(commands.includes(statusBar({ is }).command));
  }
  assert.ok(commands.includes(statusBar({ is: "failed", reason: "" }).command));
  const running = statusBar({ is: "running", version: [0, 1, 0], target: undefined });
  assert.ok(commands.includes(running.command));
});
