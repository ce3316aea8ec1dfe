"""While nothing is typed, the runs are read that are likely to be typed next.

What comes of them is remembered where runs are read and judged, so that the keystroke finds it.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING

from nanolint.lsp.judging import judge_ahead
from nanolint.lsp.likely import MICRO_BATCH, OTHERS, likely_texts
from nanolint.memory.recording import kind
from nanolint.memory.turns import GaveWay, giving_way

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Context

# Imported by the first text that Python cannot parse, which is the first one that is typed.
FIRST = "nanolint.source.from_libcst"
OFTEN = 100  # looks for young garbage, behind which all that lives is looked through
MOST_READ = 64  # places in kinds of runs of which it is remembered that they were read ahead


def tidy_up() -> None:
    """Have Python look for garbage while nobody waits: for what came since it did so last, 15 ms
    behind a reading; every so often in all that lives, 0.3 s."""
    gc.collect(1 if gc.get_count()[-1] < OFTEN else 2)


class Ahead:
    """Reads for one document at a time, beside what else the server does."""

    def __init__(self) -> None:
        self._wanted = Event()
        self._read: list[object] = []
        self._reader: Thread | None = None

    def begin(self, context: Context, plan: Plan, typed: int | None = None) -> None:
        """Read on from ``context``, where somebody typed last, and what was not read before in runs
        that differ in numbers alone: of other micro-batches, with as many passes; of all else, in
        this micro-batch, too."""
        self.give_way()
        runs = [(each.run, each.target) for each in context.cases]
        kinds = tuple((kind(run, target.gpu), target) for run, target in runs if run and target)
        known = [run for run, _ in runs if run]
        passes = tuple(each.gradient_accumulation_steps for each in known)
        batches = tuple(each.batch_size for each in known)
        likely = {
            (kinds, what, passes, () if what in (MICRO_BATCH, OTHERS) else batches): texts
            for what, texts in likely_texts(context, typed).items()
        }
        unread = {key: texts for key, texts in likely.items() if key not in self._read}
        if not kinds or not unread:
            return
        self._wanted = wanted = Event()
        before = self._reader

        def read() -> None:
            if before is not None:
                before.join()
            with suppress(GaveWay), giving_way(wanted.is_set):
                import_module(FIRST)
                for key, texts in unread.items():
                    _judge(texts, context.path, plan)
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
        tidy_up()
