"""While nothing is typed, the runs are read that are likely to be typed next.

What comes of them is remembered where runs are read and judged, so that the keystroke finds it.
"""

from __future__ import annotations

import gc
import sys
import time
from contextlib import suppress
from importlib import import_module
from itertools import islice
from threading import Event, Thread
from typing import TYPE_CHECKING

from nanolint.frames import in_one_piece
from nanolint.lsp.judging import judge_ahead
from nanolint.lsp.next_edits import OTHERS, likely_texts
from nanolint.recording.recording import kind
from nanolint.recording.symbolic_cache import remember_many
from nanolint.tape.lasting import hold_newest
from nanolint.tape.reading_lock import GaveWay, give_way, giving_way, resting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Context

# Imported by the first text that Python cannot parse, which is the first one that is typed.
FIRST = "nanolint.source.from_libcst"
OFTEN = 100  # looks for young garbage, behind which all that lives is looked through
MOST_READ = 256  # values in kinds of runs of which it is remembered that they were read ahead
# Texts of a value, and seconds, both of which are over before the next one has its turn.
A_FEW, SOME, MANY, ALL = (3, 0.1), (6, 0.7), (6, 1.2), (sys.maxsize, 0.0)
READING_S = 0.05  # that a text takes at least that is read; any other one leaves little garbage
MOST_YOUNG = 100_000  # objects since Python looked for garbage, beside those of a reading
NEXT = 3  # values whose texts are judged again: a reading of one may depend on any other number


def tidy_up() -> None:
    """Have Python look for garbage as a pause of typing begins: in what came since it did so last;
    every so often in all that lives, 0.3 s, which nobody waits for who has just stopped."""
    gc.collect(1 if gc.get_count()[-1] < OFTEN else 2)


class Ahead:
    """Reads for one document at a time, beside what else the server does."""

    def __init__(self) -> None:
        remember_many()  # else what is read ahead would be forgotten before it is typed
        self._wanted, self._resting = Event(), Event()
        self._read: dict[object, int] = {}  # how many texts, by what they are of
        self._reader: Thread | None = None

    def begin(self, context: Context, plan: Plan, typed: int | None = None) -> None:
        """Read on from ``context``, where somebody typed last, a few texts of each value in turn,
        and then what is left."""
        self.give_way()
        self.go_on()
        self._wanted = wanted = Event()
        before = self._reader

        def read() -> None:
            if before is not None:
                before.join()
            with suppress(GaveWay), giving_way(resting(wanted.is_set, self._resting.is_set)):
                import_module(FIRST)
                self._read_in_turn(context, plan, typed)

        self._reader = Thread(target=read, name="ahead", daemon=True)
        self._reader.start()

    @in_one_piece
    def _read_in_turn(self, context: Context, plan: Plan, typed: int | None) -> None:
        """Much of what comes next and of all else what is sure; then more of that, too."""
        left = [*self._unread(context, typed)]
        at_once = 1 if typed is None else 2  # what counts, and what stands below what was typed
        for much in (None, A_FEW, SOME, ALL):
            waiting, left = left, []
            for place, (key, texts, sure) in enumerate(waiting):
                turn = much or (MANY if place < at_once else (sure, 0.0))
                if not turn[0] or not self._judge(key, texts, context.path, plan, turn):
                    left.append((key, texts, sure))

    def _unread(
        self, context: Context, typed: int | None
    ) -> Iterator[tuple[object, Iterator[tuple[int, str]], int]]:
        """The texts that are likely with their numbers, and how many of them are sure; without
        those that were read before in runs that differ in numbers alone: of other micro-batches,
        with as many passes; of all else, in this micro-batch, too. What comes next depends on all
        other numbers: it is always read."""
        runs = [(each.run, each.target) for each in context.cases]
        kinds = tuple((kind(run, target.gpu), target) for run, target in runs if run and target)
        known = [run for run, _ in runs if run]
        passes = tuple(each.gradient_accumulation_steps for each in known)
        batches = tuple(each.batch_size for each in known)
        if not kinds:
            return
        for place, (what, likely) in enumerate(likely_texts(context, typed).items()):
            key = (kinds, what, passes, () if what == OTHERS else batches)
            read = 0 if place < NEXT else self._read.get(key, 0)
            texts = islice(enumerate(likely.texts, 1), read, None)
            yield key, texts, max(likely.sure - read, 0)

    def _judge(
        self,
        key: object,
        texts: Iterator[tuple[int, str]],
        path: Path | None,
        plan: Plan,
        turn: tuple[int, float],
    ) -> bool:
        """Judge texts until a turn is over; returns whether these were all."""
        start, (few, seconds) = time.monotonic(), turn
        for done, (number, text) in enumerate(texts, 1):
            give_way()
            began = time.monotonic()
            with suppress(Exception):  # it is told when the text is typed
                judge_ahead(text, path, plan)
            now = time.monotonic()
            if now >= began + READING_S or gc.get_count()[0] > MOST_YOUNG:
                gc.collect(1)  # 15 ms behind a reading
            hold_newest(self._read, key, max(number, self._read.get(key, 0)), MOST_READ)
            if done >= few and now >= start + seconds:
                return False
        return True

    def rest(self) -> None:
        """Do nothing meanwhile, and end where what somebody waits for is to be read."""
        self._resting.set()

    def go_on(self) -> None:
        """Nobody waits for an answer any more."""
        self._resting.clear()

    def give_way(self) -> None:
        """End it, in the middle of a reading if need be."""
        self._wanted.set()

    def end(self) -> None:
        """``give_way``, and wait until nothing is read any more."""
        self.give_way()
        self.wait()

    def wait(self) -> None:
        """Wait until everything is read."""
        if self._reader is not None:
            self._reader.join()
