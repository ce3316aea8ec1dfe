"""Numbers and texts typed key by key, as a person types, beside ruff's language server.

    python benchmarks/keystrokes.py

First a context that was not read ahead, a digit every 150 milliseconds, in servers that read
nothing ahead; 20 milliseconds after each digit a completion is asked for. Then what 15 public forks
made of nanoGPT's config of GPT-2 (124M) and of that of Shakespeare (edits.json), each in servers
that read ahead: three seconds to look at the file, then edit by edit, with three seconds between
two. Told are the times from each key to the findings for its text, or for a newer one where that
was typed first. Both servers are typed into in turns.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.lsp import CARDS, CONFIG, NANOLINT, Client
from benchmarks.run import write_table
from nanolint.lsp.session import first_difference
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIZES = (1536, 768, 1280, 640, 1920, 384, 896, 1152, 1408, 1664)
BETWEEN_S, ASKED_AFTER_S = 0.15, 0.02  # the pace of 80 words a minute
THINKS_S = 3.0
TARGET_MS = 50
FIRST = 1000  # the number of the first completion
EDITS = Path(__file__).with_name("edits.json")
RUFF = str(Path(sys.executable).with_name("ruff")), "server"


class Typist(Client):
    """Types on without waiting for what the server says, and notes when it said it."""

    _found: dict[int, float]  # by the version that the findings are for
    _completed: dict[int, float]

    def listen(self) -> None:
        """Begin to note what is said."""
        self._found, self._completed, self._said = {}, {}, Condition()
        Thread(target=self._note, daemon=True).start()

    def keys(
        self, texts: Sequence[str], *, completes: bool = False
    ) -> tuple[list[float], list[float]]:
        """Type one text after the other. Returns the seconds from each to its findings, or to those
        of a newer text; and to the completion that is asked for behind it, if one is."""
        typed, asked = dict[int, float](), dict[int, float]()
        for text in texts:
            self._version += 1
            changed = {"uri": self._uri, "version": self._version}
            typed[self._version] = time.perf_counter()
            self._send(
                "textDocument/didChange",
                {"textDocument": changed, "contentChanges": [{"text": text}]},
            )
            if completes:
                time.sleep(ASKED_AFTER_S)
                about = {"textDocument": changed, "position": {"line": 0, "character": 0}}
                asked[FIRST + self._version] = time.perf_counter()
                self._send("textDocument/completion", about, FIRST + self._version)
            time.sleep(max(0, typed[self._version] + BETWEEN_S - time.perf_counter()))
        with self._said:
            self._said.wait_for(
                lambda: self._version in self._found and asked.keys() <= self._completed.keys()
            )
            findings = [
                min(at for version, at in self._found.items() if version >= each) - start
                for each, start in typed.items()
            ]
            return findings, [self._completed[each] - start for each, start in asked.items()]

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


def digits(size: int) -> list[str]:
    """The texts while a context is typed."""
    typed = [str(size)[:end] for end in range(1, 1 + len(str(size)))]
    return [CONFIG.replace("block_size = 1024", f"block_size = {each}") for each in typed]


def edited(values: dict[str, str], key: str, new: str) -> Iterator[str]:
    """The texts while a value is taken away as far as it differs, and another one typed."""
    old = values[key]
    same = first_difference(old, new)
    ends = [old[:end] for end in range(len(old) - 1, same - 1, -1)]
    for each in [*ends, *(new[:end] for end in range(same + 1, len(new) + 1))]:
        yield config({**values, key: each})


def config(values: dict[str, str]) -> str:
    """The text of a config."""
    return "".join(f"{key} = {value}\n" for key, value in values.items())


def typists(folder: Path, text: str, card: str, **options: object) -> list[Typist]:
    """nanolint's server and ruff's, with a config open."""
    path = write_project(folder.resolve(), {"config/a.py": text}) / "config" / "a.py"
    ours = Typist(NANOLINT, path, {"gpu": card, **options})
    both = [ours, Typist(RUFF, path, {})]
    for each in both:
        each.listen()
    return both


def of_sizes(card: str) -> Iterator[str]:
    """The rows of numbers that were not read ahead."""
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = typists(Path(name), CONFIG, card, readAhead=False)
        completed, mine, other = list[float](), list[float](), list[float]()
        for size in SIZES:
            found, completions = ours.keys(digits(size), completes=True)
            completed += completions
            mine.append(found[-1])
            other.append(theirs.keys(digits(size))[0][-1])
        ours.close()
        theirs.close()
    yield f"| {card} | a completion while a number is typed | {_ms(completed)} | | |"
    yield f"| {card} | the findings behind its last digit | {_row(mine, other)} |"


def of_edits(card: str) -> Iterator[str]:
    """The row of what forks have edited, and how much of it was in time."""
    known = json.loads(EDITS.read_text())
    mine, other = list[float](), list[float]()
    for session in known["sessions"]:
        values = dict(known["configs"][session["config"]])
        with tempfile.TemporaryDirectory() as name:
            ours, theirs = typists(Path(name), config(values), card)
            time.sleep(THINKS_S)
            for key, new in session["edits"]:
                texts = list(edited(values, key, new))
                mine += ours.keys(texts)[0]
                started = time.perf_counter()
                other += theirs.keys(texts)[0]
                time.sleep(max(0, started + THINKS_S - time.perf_counter()))
                values[key] = new
            ours.close()
            theirs.close()
    in_time = sum(1000 * each <= TARGET_MS for each in mine)
    what = f"{len(mine)} keys of edits, {in_time} in {TARGET_MS} ms"
    yield f"| {card} | {what} | {_row(mine, other)} |"


def main() -> None:
    """Measure, and write a table."""
    rows = [
        "| target GPU | | nanolint, median | 95th percentile | ruff server, median | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for card in CARDS:
        rows += [*of_sizes(card), *of_edits(card)]
    write_table("typed by a person", rows)


def _row(mine: list[float], other: list[float]) -> str:
    ratio = statistics.median(one / its for one, its in zip(mine, other, strict=True))
    return f"{_ms(mine)} | {1000 * statistics.median(other):.1f} ms | {ratio:.0f}"


def _ms(seconds: list[float]) -> str:
    high = statistics.quantiles(seconds, n=20)[-1]
    return f"{1000 * statistics.median(seconds):.0f} ms | {1000 * high:.0f} ms"


if __name__ == "__main__":
    main()
