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

    def begin(self, context: Context, plan: Plan) -> None:
        """Read on from ``context``, unless what differs in the micro-batch alone was read."""
        self.give_way()
        runs = [(each.run, each.target) for each in context.cases]
        key = tuple((kind(run, target.gpu), target) for run, target in runs if run and target)
        if not key or key in self._read:
            return
        self._wanted = wanted = Event()

        def read() -> None:
            with ahead(wanted.is_set):
                _judge(likely_texts(context), context.path, plan)
                self._read = [*self._read, key][-MOST_READ:]

        Thread(target=read, name="ahead", daemon=True).start()

    def give_way(self) -> None:
        """End it, before its next reading: somebody waits for an answer."""
        self._wanted.set()


def _judge(texts: Iterable[str], path: Path | None, plan: Plan) -> None:
    for text in texts:
        with suppress(Exception):  # it is told when the text is typed
            judge_ahead(text, path, plan)
