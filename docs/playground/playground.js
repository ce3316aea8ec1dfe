"use strict";
// Python and nanolint come as texts in runtime.js, so that the page works from a folder, too: a page
// that was opened as a file may load scripts, and nothing else.
(() => {
  const at = (id) => document.getElementById(id);
  const text = at("text"), gpu = at("gpu"), state = at("state");

  const bytes = (base64) => Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  const address = (content, type) => URL.createObjectURL(new Blob([content], { type }));

  async function start() {
    const { wasm, stdlib, module, lock, sources, judge } = window.RUNTIME;
    delete window.RUNTIME;
    const fetched = window.fetch;
    window.fetch = (name, ...rest) =>
      String(name).endsWith("pyodide.asm.wasm")
        ? Promise.resolve(new Response(bytes(wasm), { headers: { "Content-Type": "application/wasm" } }))
        : fetched(name, ...rest);
    const made = await import(address(module, "text/javascript"));
    const python = await loadPyodide({
      createPyodideModule: made.default,
      stdLibURL: address(bytes(stdlib), "application/zip"),
      lockFileContents: lock,
      packageBaseUrl: location.href,
      indexURL: location.href,
    });
    window.fetch = fetched;
    python.unpackArchive(bytes(sources).buffer, "zip", { extractDir: "/nanolint" });
    python.runPython("import sys; sys.path.insert(0, '/nanolint')");
    python.runPython(judge);
    for (const name of JSON.parse(python.globals.get("cards")())) {
      at("cards").append(new Option(name));
    }
    return python.globals.get("judge");
  }

  function element(name, content, kind = "") {
    const made = document.createElement(name);
    made.className = kind;
    made.append(...[content].flat());
    return made;
  }

  function article({ severity, message, line, code, name, notes }) {
    const place = line ? [element("small", `line ${line}: ${code} ${name}`)] : [];
    const more = notes?.length ? [element("ul", notes.map((note) => element("li", note)))] : [];
    return element("article", [element("p", message), ...place, ...more], severity);
  }

  let fixed = null;
  function show(answer) {
    const found = (answer.findings ?? []).map(article);
    if (answer.error) found.push(article({ severity: "error", message: answer.error }));
    if (answer.why) found.push(article({ severity: "warning", message: `not checked: ${answer.why}` }));
    if (!found.length) found.push(article({ severity: "good", message: "No findings." }));
    at("findings").replaceChildren(...found);
    fixed = answer.fixed ?? null;
    at("fix").disabled = fixed === null || fixed === text.value;
    at("report").hidden = !answer.report;
    if (answer.report) at("report").srcdoc = answer.report;
  }

  const packed = (value) => btoa(String.fromCharCode(...new TextEncoder().encode(value)))
    .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const unpacked = (value) => new TextDecoder()
    .decode(bytes(value.replaceAll("-", "+").replaceAll("_", "/")));

  function fromLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    try {
      if (link.has("text")) text.value = unpacked(link.get("text"));
      if (link.has("gpu")) gpu.value = link.get("gpu");
    } catch {
      state.textContent = "the link is damaged: this is the example";
    }
  }

  function link() {
    const parts = new URLSearchParams({ gpu: gpu.value, text: packed(text.value) });
    return `${location.href.split("#")[0]}#${parts}`;
  }

  at("report").addEventListener("load", () => { // as tall as what it holds
    at("report").style.height = `${at("report").contentDocument.documentElement.scrollHeight}px`;
  });

  fromLink();
  start().then((judge) => {
    let waiting = null;
    const run = () => {
      const began = performance.now();
      show(JSON.parse(judge(text.value, gpu.value.trim())));
      state.textContent = `checked in ${Math.round(performance.now() - began)} ms`;
    };
    const soon = () => {
      clearTimeout(waiting);
      waiting = setTimeout(run, 250);
    };
    text.addEventListener("input", soon);
    gpu.addEventListener("input", soon);
    window.addEventListener("hashchange", () => { fromLink(); run(); });
    at("fix").addEventListener("click", () => { text.value = fixed; run(); });
    at("share").addEventListener("click", async () => {
      history.replaceState(null, "", link());
      try {
        await navigator.clipboard.writeText(location.href);
        state.textContent = "the link is copied";
      } catch {
        state.textContent = "the link is in the address bar";
      }
    });
    run();
  }).catch((error) => { state.textContent = `Python did not start: ${error}`; });
})();
