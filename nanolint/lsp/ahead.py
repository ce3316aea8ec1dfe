"""While nothing is typed, the runs are read that are likely to be typed next.

What comes of them is remembered where runs are read and judged, so that the keystroke finds it.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from nanolint.lsp.judging import judge_ahead
from nanolint.lsp.micro_batch import likely_texts
from nanolint.memory.recording import kind
from nanolint.memory.turns import ahead

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Context

MOST_READ = 4  # kinds of runs of which it is remembered that they were read ahead


class Ahead:
    """Reads for one document at a time, beside what else the server does."""

    def __init__(self) -> None:
        self._wanted = Event()
        self._read: list[object] = []
        self._reader: Thread | None = None

    def begin(self, context: Context, plan: Plan) -> None:
        """Read on from ``context``, unless what differs in the micro-batch alone was read."""
        self.give_way()
        runs = [(each.run, each.target) for each in context.cases]
        key = tuple((kind(run, target.gpu), target) for run, target in runs if run and target)
        if not key or key in self._read:
            return
        self._wanted = wanted = Event()
        before = self._reader

        def read() -> None:
            if before is not None:
                before.join()
            with ahead(wanted.is_set):
                _judge(likely_texts(context), context.path, plan)
                self._read = [*self._read, key][-MOST_READ:]

        self._reader = Thread(target=read, name="ahead", daemon=True)
        self._reader.start()

    def give_way(self) -> None:
        """End it, before its next reading: somebody waits for an answer."""
        self._wanted.set()

    def end(self) -> None:
        """``give_way``, and wait until nothing is read any more."""
        self.give_way()
        self.wait()

    def wait(self) -> None:
        """Wait until everything is read."""
        if self._reader is not None:
            self._reader.join()


def _judge(texts: Iterable[str], path: Path | None, plan: Plan) -> None:
    for text in texts:
        with suppress(Exception):  # it is told when the text is typed
            judge_ahead(text, path, plan)
