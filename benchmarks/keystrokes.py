"""Numbers typed digit by digit, as a person types: what comes when, beside ruff's language server.

    python benchmarks/keystrokes.py

Into nanoGPT's config of GPT-2 (124M) a context is typed that was not read ahead, a digit every 150
milliseconds, in servers that read nothing ahead. 20 milliseconds after each digit a completion is
asked for. Told are the time until the completion comes, and that from the last digit to the
findings for it. Ruff's server is typed into in turns, and completes nothing.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from threading import Condition, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.lsp import CARDS, CONFIG, NANOLINT, Client  # noqa: E402
from benchmarks.run import write_table  # noqa: E402
from tests.support.project_tree import write_project  # noqa: E402

SIZES = (1536, 768, 1280, 640, 1920, 384, 896, 1152, 1408, 1664)
BETWEEN_S, ASKED_AFTER_S = 0.15, 0.02  # the pace of 80 words a minute
FIRST = 100  # the number of the first completion


class Typist(Client):
    """Types on without waiting for what the server says, and notes when it said it."""

    _found: dict[int, float]  # by the version that the findings are for
    _completed: dict[int, float]

    def listen(self) -> None:
        """Begin to note what is said."""
        self._found, self._completed, self._said = {}, {}, Condition()
        Thread(target=self._note, daemon=True).start()

    def number(self, digits: str) -> tuple[float, list[float]]:
        """Type a number. Returns the seconds from its last digit to its findings, and those of
        each completion."""
        asked: dict[int, float] = {}
        typed = 0.0
        for end in range(1, 1 + len(digits)):
            self._version += 1
            text = CONFIG.replace("block_size = 1024", f"block_size = {digits[:end]}")
            changed = {"uri": self._uri, "version": self._version}
            typed = time.perf_counter()
            self._send(
                "textDocument/didChange",
                {"textDocument": changed, "contentChanges": [{"text": text}]},
            )
            time.sleep(ASKED_AFTER_S)
            about = {"textDocument": changed, "position": {"line": 0, "character": 0}}
            asked[FIRST + self._version] = time.perf_counter()
            self._send("textDocument/completion", about, FIRST + self._version)
            time.sleep(max(0, typed + BETWEEN_S - time.perf_counter()))
        with self._said:
            self._said.wait_for(
                lambda: self._version in self._found and asked.keys() <= self._completed.keys()
            )
        completions = [self._completed[each] - start for each, start in asked.items()]
        return self._found[self._version] - typed, completions

    def _note(self) -> None:
        self._wait(self._noted)

    def _noted(self, message: dict[str, Any]) -> bool:
        now, told = time.perf_counter(), message.get("params") or {}
        with self._said:
            if message.get("method") == "textDocument/publishDiagnostics":
                self._found[told["version"]] = now
            elif "method" not in message:
                self._completed[message["id"]] = now
            self._said.notify_all()
        return False


def main() -> None:
    """Measure, and write a table."""
    rows = [
        "| target GPU | | nanolint, median | the most | ruff server, median | ratio |",
        "|---|---|---|---|---|---|",
    ]
    ruff = str(Path(sys.executable).with_name("ruff")), "server"
    for card in CARDS:
        with tempfile.TemporaryDirectory() as name:
            project = write_project(Path(name).resolve(), {"config/a.py": CONFIG})
            config = project / "config" / "a.py"
            ours = Typist(NANOLINT, config, {"gpu": card, "readAhead": False})
            theirs = Typist(ruff, config, {})
            for each in (ours, theirs):
                each.listen()
            typed = [(ours.number(str(size)), theirs.number(str(size))) for size in SIZES]
            for each in (ours, theirs):
                each.close()
        found = [one[0] for one, _ in typed]
        other = [its[0] for _, its in typed]
        completed = [each for one, _ in typed for each in one[1]]
        ratio = statistics.median(one / its for one, its in zip(found, other, strict=True))
        rows += [
            f"| {card} | a completion | {_ms(completed)} | none | |",
            f"| {card} | findings | {_ms(found)} "
            f"| {1000 * statistics.median(other):.1f} ms | {ratio:.0f} |",
        ]
    write_table("typed by a person", rows)


def _ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.0f} ms | {1000 * max(seconds):.0f} ms"


if __name__ == "__main__":
    main()
