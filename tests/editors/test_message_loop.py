"""The server from its first message to its last, in this process: what it answers to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.files import door
from nanolint.lsp.serving import make_server
from tests.support.kept import Kept, Said
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\ncompile = True\n"
ABLE: dict[str, dict[str, Any]] = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]},
        "inlayHint": {"refreshSupport": True},
        "codeLens": {"refreshSupport": True},
    },
    "textDocument": {"hover": {"contentFormat": ["markdown"]}},
}
PULLS = {"diagnostics": {"refreshSupport": True}, **ABLE["workspace"]}


class Talk:
    """Messages to a server, and what it says to all of them.

    Each is sent once all requests before are answered, but those that are asked ``at_once``.
    """

    def __init__(self, root: Path, able: dict[str, Any], options: dict[str, Any]) -> None:
        self._sent: list[tuple[dict[str, Any], list[int]]] = []
        self._asked: list[int] = []
        self._at_once: list[int] = []
        self.ask(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            capabilities=able,
            initializationOptions=options,
            workspaceFolders=[{"uri": root.as_uri(), "name": "here"}],
        )
        self.tell("initialized")

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, *, at_once: bool = False, **params: Any) -> int:
        number = 1 + len(self._asked) + len(self._at_once)
        self._send({"id": number, "method": method, "params": params})
        (self._at_once if at_once else self._asked).append(number)
        return number

    def answers(self) -> tuple[dict[int, Any], list[dict[str, Any]]]:
        """The results by the number of the request, and what the server said on its own."""
        self._asked += self._at_once
        self._send({"id": 999, "method": "shutdown", "params": None})
        out = Kept()
        make_server().start_io(Said(self._sent, out), out)
        results: dict[int, Any] = {}
        said = []
        for message in out.messages:
            if "method" in message:
                said.append(message)
            else:
                results[message["id"]] = message.get("result", message.get("error"))
        assert 999 in results
        return results, said

    def _send(self, message: dict[str, Any]) -> None:
        self._sent.append((message, list(self._asked)))


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    files: dict[str, str | bytes] = {"config/a.py": CONFIG, "nanolint.toml": 'gpu = "rtx-3060"\n'}
    yield write_project(tmp_path, files)
    for path in list(door._shown):
        door.show(tmp_path / path, None)
    door.forget()


def opened(
    root: Path, *, able: dict[str, Any] = ABLE, **options: Any
) -> tuple[Talk, dict[str, str]]:
    talk = Talk(root, able, options)
    document = {"uri": (root / "config" / "a.py").as_uri()}
    item = {**document, "languageId": "python", "version": 1, "text": CONFIG}
    talk.tell("textDocument/didOpen", textDocument=item)
    return talk, document


EVERYWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}


def test_what_is_asked_about_a_document_is_answered(root: Path) -> None:
    talk, document = opened(root)
    below = {"line": 4, "character": 0}
    keys = talk.ask("textDocument/completion", textDocument=document, position=below)
    hints = talk.ask("textDocument/inlayHint", textDocument=document, range=EVERYWHERE)
    lenses = talk.ask("textDocument/codeLens", textDocument=document)
    none: dict[str, list[object]] = {"diagnostics": []}
    actions = talk.ask(
        "textDocument/codeAction", textDocument=document, range=EVERYWHERE, context=none
    )
    target = talk.ask("nanolint/target", uri=document["uri"])
    cards = talk.ask("workspace/executeCommand", command="nanolint.listGpus", arguments=[])
    results, _ = talk.answers()
    assert "n_layer" in {item["label"] for item in results[keys]["items"]}
    assert results[hints][0]["label"].endswith("out of memory")
    assert results[lenses][0]["command"]["title"].startswith("RTX 3060 12GB | ")
    assert {each["kind"] for each in results[actions]} == {"quickfix", "source.fixAll.nanolint"}
    assert results[target]["gpus"] == ["RTX 3060 12GB"]
    assert len(results[cards]) > 200


def test_an_editor_that_pulls_gets_findings_on_request(root: Path) -> None:
    able = {"workspace": PULLS, "textDocument": {"diagnostic": {}}}
    talk, document = opened(root, able=able)
    first = talk.ask("textDocument/diagnostic", textDocument=document)
    small = {**document, "version": 2}
    talk.tell(
        "textDocument/didChange",
        textDocument=small,
        contentChanges=[{"text": CONFIG.replace("16", "1")}],
    )
    then = talk.ask("textDocument/diagnostic", textDocument=document)
    talk.tell("textDocument/didSave", textDocument=document)
    talk.tell("textDocument/didClose", textDocument=document)
    gone = talk.ask("textDocument/diagnostic", textDocument=document)
    results, _ = talk.answers()
    codes = [{each["code"] for each in results[number]["items"]} for number in (first, then, gone)]
    assert "NL102" in codes[0] and "NL102" not in codes[1] and codes[2] == set()


def test_settings_and_the_picked_card_count_at_once(root: Path) -> None:
    talk, document = opened(root, gpu="a100-80gb")
    lenses = [talk.ask("textDocument/codeLens", textDocument=document)]
    talk.tell("workspace/didChangeConfiguration", settings={"nanolint": {"gpu": "t4"}})
    lenses.append(talk.ask("textDocument/codeLens", textDocument=document))
    talk.ask("workspace/executeCommand", command="nanolint.selectTarget", arguments=["rtx-4090"])
    lenses.append(talk.ask("textDocument/codeLens", textDocument=document))
    talk.ask("workspace/executeCommand", command="nanolint.selectTarget", arguments=["nonsense"])
    talk.tell(
        "workspace/didChangeWatchedFiles",
        changes=[{"uri": (root / "nanolint.toml").as_uri(), "type": 2}],
    )
    results, said = talk.answers()
    titles = [results[number][0]["command"]["title"].split(" |")[0] for number in lenses]
    assert titles == ["A100 80GB", "T4", "RTX 4090"]
    shown = [each["params"]["message"] for each in said if each["method"] == "window/showMessage"]
    assert any("nonsense" in message for message in shown)


def test_nonsense_is_answered_with_an_error_and_no_more(root: Path) -> None:
    talk, document = opened(root)
    talk.tell("textDocument/didChange", textDocument=document)  # without what has changed
    talk.ask("textDocument/hover", textDocument=document)
    unknown = talk.ask("no/such/method")
    talk.tell("textDocument/didClose", textDocument={"uri": "untitled:1"})
    lens = talk.ask("textDocument/codeLens", textDocument=document)
    results, _ = talk.answers()
    assert "code" in results[unknown]
    assert results[lens][0]["command"]["title"].startswith("RTX 3060 12GB | ")
