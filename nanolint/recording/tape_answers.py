"""A tape that was recorded, with the answers about it: the one cache of the memory model.

Of what is read, cards share it that answer alike what was asked of them meanwhile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
)
from weakref import WeakKeyDictionary

from nanolint.run.story import CLASSES
from nanolint.tape.lasting import hold_newest, lasting
from nanolint.tape.tape import Tape, summits
from nanolint.tensors.device import Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.values import Unread
    from nanolint.run.story import Story
    from nanolint.tape.lasting import Answers
    from nanolint.tensors.device import AnyNumbers, Card

MOST_ALIKE = 8  # tapes that are worked out of one reading, each for numbers of its own
MOST_CARDS = 16  # whose tapes of one run are remembered
MOST_RUNS = 1024  # whose answers are
MOST_TAPES = 32  # of those whose answers are; another one is made again for a new question

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
OneTape = TypeVar("OneTape", bound=Tape)

Key: TypeAlias = "tuple[Callable[..., Any], tuple[object, ...]]"  # a question, and what with


class TapeFacts(NamedTuple):
    """What a tape says of itself, see ``Tape``."""

    doubts: tuple[str, ...]
    assumed: tuple[str, ...]
    is_bound: bool
    trained: tuple[int, ...]
    stop: tuple[Any, ...] | None
    uses_card: bool


@lasting(TapeFacts)
def facts_of(tape: Tape) -> TapeFacts:
    """What a tape says of itself."""
    stop = None if tape.stop is None else tape.stop.written
    return TapeFacts(
        tuple(tape.doubts),
        tuple(tape.assumed),
        tape.is_bound,
        tuple(tape.trained),
        stop,
        bool(tape.events),
    )


@lasting(*CLASSES)
def story_of(tape: Tape) -> Story:
    """Returns the story of its loop."""
    return tape.story


@lasting()
def left_by(tape: Tape, start: int, end: int) -> tuple[int, int]:
    """Returns the bytes that events from ``start`` on have allocated and not released by ``end``,
    and those of the allocated peak."""
    live = dict.fromkeys(each for each in tape.events[start:end] if each >= 0)
    for each in tape.events[start:end]:
        live.pop(~each, None)
    peak = max(peak for peak, _ in summits(tape, len(tape.events)).values())
    return sum(tape.sizes[each] for each in live), peak


class TapeAnswers(Generic[OneTape]):
    """A tape, and the answers to what was asked about it, which outlive it: a tape is megabytes,
    and most of what is asked has been asked before.

    ``again`` makes it once more, or for the first time where what was ``kept`` tells about it.
    """

    def __init__(
        self, tape: OneTape | None, again: Callable[[], OneTape], kept: Answers | None = None
    ) -> None:
        self._fresh = tape
        self._again = again
        self._kept = kept
        self._answers: dict[Key, Any] = {}
        self.said = self.answer(facts_of)

    @property
    def tape(self) -> OneTape:
        """The tape, made again where it was let go of."""
        made: OneTape = _made(self)
        return made

    def make(self) -> OneTape:
        """The tape that was given, for the first time, and another one later."""
        fresh, self._fresh = self._fresh, None
        return self._again() if fresh is None else fresh

    def answer(
        self,
        question: Callable[Concatenate[OneTape, Arguments], Answer],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Answer:
        """What ``question`` returns for the tape and these arguments, worked out once."""
        key = _key(question, *args, **kwargs)
        if not self._knows(key):
            self._tell(key, question(self.tape, *args, **kwargs))
        answer: Answer = self._answers[key]
        return answer

    def answered(self, question: Callable[..., Answer], **kwargs: Any) -> Answer | None:
        """The same, where it is known; else None."""
        key = _key(question, **kwargs)
        return self._answers[key] if self._knows(key) else None

    def tell(self, answer: Answer, question: Callable[..., Answer], **kwargs: Any) -> None:
        """Remember what ``question`` would return, which another one has shown."""
        self._tell(_key(question, **kwargs), answer)

    def _knows(self, key: Key) -> bool:
        """Whether an answer is known, with those that an earlier process has kept."""
        if key not in self._answers and self._kept is not None and self._kept.knows(*key):
            self._answers[key] = self._kept.find(*key)
        return key in self._answers

    def _tell(self, key: Key, answer: object) -> None:
        self._answers[key] = answer
        if self._kept is not None:
            self._kept.keep(*key, answer)


@lru_cache(maxsize=MOST_TAPES)
def _made(one: TapeAnswers[Any]) -> Any:
    return one.make()


def _key(question: Callable[..., Any], *args: object, **kwargs: object) -> Key:
    return question, (*args, *kwargs.items())


def worked_out(
    reading: AnyNumbers, content: bytes, made: Callable[[], TapeAnswers[Tape]]
) -> TapeAnswers[Tape]:
    """What is known of a tape that was worked out of a reading, which ``content`` tells from others
    of it: for other numbers it may have come to the same, as for more steps, and what was answered
    then is not asked again."""
    known = _worked_out.setdefault(reading, {})
    found = known.get(content) or made()
    hold_newest(known, content, found, MOST_ALIKE)
    return found


_worked_out: WeakKeyDictionary[AnyNumbers, dict[bytes, TapeAnswers[Tape]]] = WeakKeyDictionary()


def shared(
    recipe: tuple[object, ...],
    card: Card,
    record: Callable[[Asked], TapeAnswers[Tape] | Unread],
) -> TapeAnswers[Tape] | Unread:
    """What ``record`` makes of a recipe on ``card``; what it was for another one, where that has
    answered alike. ``recipe`` is all else that it follows from."""
    known, of_card = _of_any_card(recipe)
    if card in of_card:
        return of_card[card]
    found = next((each for asked, each in known if asked.answers_alike(card)), None)
    if found is None:
        asked = Asked(card)
        found = record(asked)
        known.append((asked, found))
        del known[:-MOST_CARDS]
    hold_newest(of_card, card, found, MOST_CARDS)
    return found


@lru_cache(maxsize=MOST_RUNS)
def _of_any_card(
    _recipe: tuple[object, ...],
) -> tuple[list[tuple[Asked, TapeAnswers[Tape] | Unread]], dict[Card, TapeAnswers[Tape] | Unread]]:
    """What was recorded of a recipe so far, and what of the card that follows from; and what that
    is for each card: to see that two answer alike takes up to 10 ms, and a keystroke asks 30 times.
    """
    return [], {}
