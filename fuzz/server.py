"""The language server's message loop: whatever a client sends, it goes on and answers."""

from __future__ import annotations

import json
import logging
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp

import atheris
from harness import run, watched

with watched():
    from nanolint.lsp import commands, features  # noqa: F401 (the server imports them late)
    from nanolint.lsp.serving import make_server

from tests.support.kept import Kept

ROOT = Path(mkdtemp())
URI = (ROOT / "config" / "a.py").as_uri()
LAST = 4711  # the number of the request that has to be answered in the end
METHODS = (
    *("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"),
    *("textDocument/didSave", "textDocument/hover", "textDocument/completion"),
    *("textDocument/codeAction", "textDocument/inlayHint", "textDocument/codeLens"),
    *("textDocument/diagnostic", "workspace/didChangeConfiguration", "workspace/executeCommand"),
    *("workspace/didChangeWatchedFiles", "nanolint/target", "initialized", "$/setTrace"),
)
TEXTS = ("batch_size = 64\nblock_size = 64\nn_layer = 1\n", "batch_size = (\n", "", "🦜 = 1\r\n")
COMMANDS = ("nanolint.selectTarget", "nanolint.listGpus", "none")
logging.disable(logging.CRITICAL)


def position(provider: atheris.FuzzedDataProvider) -> dict[str, int]:
    return {
        "line": provider.ConsumeIntInRange(-1, 5),
        "character": provider.ConsumeIntInRange(-1, 99),
    }


def message(provider: atheris.FuzzedDataProvider, number: int) -> bytes:
    """A message that is nearly right, or anything at all."""
    if provider.ConsumeIntInRange(0, 9) == 9:
        return provider.ConsumeBytes(40)
    text = TEXTS[provider.ConsumeIntInRange(0, len(TEXTS) - 1)]
    text += provider.ConsumeUnicode(20).encode("utf-8", "replace").decode()
    version = provider.ConsumeIntInRange(-1, 9)
    place = position(provider)
    params = {
        "textDocument": {"uri": URI, "version": version, "languageId": "python", "text": text},
        "contentChanges": [{"text": text}],
        "position": place,
        "range": {"start": place, "end": position(provider)},
        "context": {"diagnostics": [], "triggerKind": 1},
        "settings": {"nanolint": {"gpu": provider.ConsumeUnicodeNoSurrogates(8)}},
        "changes": [{"uri": URI, "type": 2}],
        "command": COMMANDS[provider.ConsumeIntInRange(0, 2)],
        "arguments": [provider.ConsumeUnicodeNoSurrogates(8)],
        "value": "off",
    }
    for key in list(params):
        if provider.ConsumeIntInRange(0, 30) == 30:
            del params[key]
    method = METHODS[provider.ConsumeIntInRange(0, len(METHODS) - 1)]
    told = {"jsonrpc": "2.0", "method": method, "params": params}
    if method.startswith("textDocument/did") is provider.ConsumeBool() or "did" not in method:
        told["id"] = number
    return json.dumps(told).encode()


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def request(number: int, method: str, params: object) -> bytes:
    told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return framed(json.dumps(told).encode())


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    start = {"processId": None, "rootUri": ROOT.as_uri(), "capabilities": {}}
    sent = request(0, "initialize", start)
    for number in range(1, provider.ConsumeIntInRange(1, 8)):
        sent += framed(message(provider, number))
    sent += request(LAST, "shutdown", None)
    answers = Kept()
    server = make_server()
    server.start_io(BytesIO(sent), answers)
    written = answers.written or answers.getvalue()
    assert b'"id": %d' % LAST in written or b'"id":%d' % LAST in written, written[-500:]


if __name__ == "__main__":
    run(one_input)
