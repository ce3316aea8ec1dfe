"""A tape that was recorded, and all that is known of it: the one cache of the memory model.

Of what is read, cards share it that answer alike what was asked of them meanwhile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from nanolint.memory.tape import Tape
from nanolint.memory.tensors.asked import Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.memory.model.reading.values import Unread
    from nanolint.memory.tensors.asked import Card

MOST_CARDS = 16  # whose tapes of one run are remembered

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
OneTape = TypeVar("OneTape", bound=Tape)


class Recorded(Generic[OneTape]):
    """A tape, and the answers to what was asked about it."""

    def __init__(self, tape: OneTape) -> None:
        self.tape = tape
        self._answers: dict[tuple[object, ...], Any] = {}

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


@lru_cache(maxsize=32)
def _of_any_card(_recipe: tuple[object, ...]) -> list[tuple[Asked, Recorded[Tape] | Unread]]:
    """What was recorded of a recipe so far, and what of the card that follows from."""
    return []
