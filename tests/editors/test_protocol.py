"""Messages out of order, or wrong: each request is answered, and the status says how it ended."""

from __future__ import annotations

import json
import subprocess
import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.lsp.serving import make_server
from tests.support.kept import Kept
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

INVALID_REQUEST, INVALID_PARAMS, NOT_INITIALIZED = -32600, -32602, -32002
START = {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
SHUTDOWN = {"id": 99, "method": "shutdown", "params": None}
EXIT = {"method": "exit", "params": None}
ASKED = {
    "id": 7,
    "method": "textDocument/hover",
    "params": {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}},
}


def framed(*messages: dict[str, Any]) -> bytes:
    bodies = [json.dumps({"jsonrpc": "2.0", **each}).encode() for each in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


def answers(*messages: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The answers to requests by their numbers."""
    out = Kept()
    make_server().start_io(BytesIO(framed(*messages)), out)
    return {each["id"]: each for each in out.messages if "method" not in each}


def test_a_request_with_wrong_parameters_is_answered_with_an_error() -> None:
    wrong = {**ASKED, "params": {"position": "here"}}
    found = answers(START, wrong, SHUTDOWN)
    assert found[7]["error"]["code"] == INVALID_PARAMS
    assert found[99]["result"] is None


def test_a_request_before_initialize_is_refused() -> None:
    found = answers(ASKED, START, SHUTDOWN)
    assert found[7]["error"]["code"] == NOT_INITIALIZED
    assert "capabilities" in found[1]["result"]


def test_a_request_after_shutdown_is_refused() -> None:
    found = answers(START, SHUTDOWN, ASKED)
    assert found[99]["result"] is None
    assert found[7]["error"]["code"] == INVALID_REQUEST


def test_notifications_out_of_order_are_passed_over() -> None:
    note = {"method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///a.py"}}}
    found = answers(note, START, SHUTDOWN, note)
    assert set(found) == {1, 99}


def test_shutdown_is_answered_while_the_server_waits_for_the_client(tmp_path: Path) -> None:
    (tmp_path / "nanolint.toml").write_text('gpu = "t4"\n', encoding="utf-8")
    able = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
    start = {**START, "params": {"processId": None, "capabilities": able}}
    item: dict[str, object] = {"uri": (tmp_path / "config" / "a.py").as_uri()}
    item |= {"languageId": "python", "version": 1, "text": "batch_size = 16\nblock_size = 64\n"}
    opened = {"method": "textDocument/didOpen", "params": {"textDocument": item}}
    chosen = {"gpu": "rtx-4070", "scope": "settings", "uri": item["uri"]}
    ask = {
        "id": 7,
        "method": "workspace/executeCommand",
        "params": {"command": "nanolint.selectTarget", "arguments": [chosen]},
    }
    found = answers(start, opened, ask, SHUTDOWN)
    assert found[99].get("error") is None
    assert found[7]["error"]["message"].endswith("is canceled")


@pytest.mark.parametrize(("before", "status"), [((START, SHUTDOWN), 0), ((START,), 1), ((), 1)])
def test_the_status_says_whether_shutdown_came_before_exit(
    before: tuple[dict[str, Any], ...], status: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nanolint", "server"],
        input=framed(*before, EXIT),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == status, done.stderr
