// Photographs the editor and the playground for the docs, in a real Chromium.
//
//     npm install --no-save code-server puppeteer-core     (code-server wants Node 24 and libkrb5-dev)
//     code-server --auth none --bind-addr 127.0.0.1:8791 --install-extension editors/vscode/nanolint.vsix
//     code-server --auth none --bind-addr 127.0.0.1:8791 &
//     node scripts/photograph.mjs editor OUT.png FOLDER FILE LINE
//     node scripts/photograph.mjs page OUT.png file:///.../playground/index.html#gpu=...&text=...
//
// FOLDER has a nanolint.toml that names the card. What it shows differs by release of VS Code, so no
// test holds the pictures: look at them.

import puppeteer from "puppeteer-core";

const [what, out, ...rest] = process.argv.slice(2);
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"],
});
const page = await browser.newPage();
if (what === "page") {
  await page.setViewport({ width: 1180, height: 1330 });
  await page.goto(rest[0]);
  await pause(30);
} else {
  const [folder, file, line] = rest;
  const payload = [["gotoLineMode", "true"], ["openFile", `vscode-remote://127.0.0.1:8791${folder}/${file}:${line}`]];
  const query = new URLSearchParams({ folder, payload: JSON.stringify(payload) });
  await page.setViewport({ width: 1280, height: 760 });
  await page.goto(`http://127.0.0.1:8791/?${query}`, { waitUntil: "domcontentloaded" });
  await pause(45); // until the server has answered
  for (const key of ["Control", "Shift"]) await page.keyboard.down(key);
  await page.keyboard.press("KeyM"); // the problems
  for (const key of ["Shift", "Control"]) await page.keyboard.up(key);
  await pause(4);
}
await page.screenshot({ path: out });
await browser.close();
