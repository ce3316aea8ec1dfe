"""A tape that was recorded, and all that is known of it: the one cache of the memory model.

Of what is read, cards share it that answer alike what was asked of them meanwhile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from nanolint.memory.tape import Tape
from nanolint.memory.tensors.asked import Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.memory.model.reading.values import Unread
    from nanolint.memory.tensors.asked import Card

MOST_CARDS = 16  # whose tapes of one run are remembered
MOST_RUNS = 1024  # whose answers are
MOST_TAPES = 32  # of those whose answers are; another one is made again for a new question

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
OneTape = TypeVar("OneTape", bound=Tape)


class Said(NamedTuple):
    """What a tape says of itself, see ``Tape``."""

    doubts: tuple[str, ...]
    assumed: tuple[str, ...]
    is_bound: bool


class Recorded(Generic[OneTape]):
    """A tape, and the answers to what was asked about it, which outlive it: a tape is megabytes,
    and most of what is asked has been asked before. ``again`` makes it once more."""

    def __init__(self, tape: OneTape, again: Callable[[], OneTape]) -> None:
        self._fresh: OneTape | None = tape
        self._again = again
        self.said = Said(tuple(tape.doubts), tuple(tape.assumed), tape.is_bound)
        self._answers: dict[tuple[object, ...], Any] = {}
        _made(self)

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
        if key not in self._answers:
            self._answers[key] = question(self.tape, *args, **kwargs)
        answer: Answer = self._answers[key]
        return answer

    def answered(self, question: Callable[..., Answer], **kwargs: Any) -> Answer | None:
        """The same, where it is known; else None."""
        return self._answers.get(_key(question, **kwargs))

    def tell(self, answer: Answer, question: Callable[..., Answer], **kwargs: Any) -> None:
        """Remember what ``question`` would return, which another one has shown."""
        self._answers[_key(question, **kwargs)] = answer


@lru_cache(maxsize=MOST_TAPES)
def _made(one: Recorded[Any]) -> Any:
    return one.make()


def _key(question: object, *args: object, **kwargs: object) -> tuple[object, ...]:
    return question, args, *kwargs.items()


def shared(
    recipe: tuple[object, ...],
    card: Card,
    record: Callable[[Asked], Recorded[Tape] | Unread],
) -> Recorded[Tape] | Unread:
    """What ``record`` makes of a recipe on ``card``; what it was for another one, where that has
    answered alike. ``recipe`` is all else that it follows from."""
    known = _of_any_card(recipe)
    for asked, found in known:
        if asked.answers_alike(card):
            return found
    asked = Asked(card)
    found = record(asked)
    known.append((asked, found))
    del known[:-MOST_CARDS]
    return found


@lru_cache(maxsize=MOST_RUNS)
def _of_any_card(_recipe: tuple[object, ...]) -> list[tuple[Asked, Recorded[Tape] | Unread]]:
    """What was recorded of a recipe so far, and what of the card that follows from."""
    return []
