"""What a reading asks of its card, and of the numbers that its program names: where others answer
alike, the tape is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from nanolint.tape.symbolic import Formulas, is_symbolic, of_formulas

if TYPE_CHECKING:
    from collections.abc import Callable
    from weakref import ReferenceType

About = ParamSpec("About")
Answer = TypeVar("Answer")


class Card(NamedTuple):
    """What cards of one kind differ in; with ``numbers``, those that a script gives names to."""

    multiprocessors: int
    threads: int  # that each multiprocessor holds at once
    total_bytes: int = 0
    generation: int = 0  # the first number of its compute capability
    numbers: tuple[float, ...] = ()
    model: str = ""  # a part of the name that the driver has for it


class AnyNumbers(Protocol):
    """A reading that tapes for many numbers are worked out of (``family.py``)."""

    def is_alike(self, numbers: tuple[int, ...], card: Card, other: Card) -> bool:
        """Whether its tape for these numbers is the same on two cards."""
        raise NotImplementedError


class Followed(NamedTuple):
    """What a tape was worked out of: a reading, while it is remembered, for which numbers; and what
    tells that tape from others of it."""

    reading: ReferenceType[AnyNumbers]
    numbers: tuple[int, ...]
    content: bytes


class Asked:
    """The questions that were asked of a card, and its answers. With ``formulas`` the reading is
    one of symbolic numbers, and the card is the first that is given to them."""

    def __init__(self, card: Card, formulas: Formulas | None = None) -> None:
        self._card = card
        self.formulas = formulas
        self._answers: dict[tuple[Callable[..., Any], tuple[Any, ...]], Any] = {}
        self.is_first = False  # in this process, see ``recording.py``
        self.is_kept = False  # of a reading that was kept nobody knows what it asked
        self.followed: Followed | None = None

    def ask(
        self,
        question: Callable[Concatenate[Card, About], Answer],
        *about: About.args,
        **named: About.kwargs,
    ) -> Answer:
        """The card's answer to a function of a module, about values that can be compared."""
        assert not named
        if self.formulas is not None and is_symbolic(about):
            found: Answer = of_formulas(self.formulas, question, 0, about)
            return found
        key = question, about
        if key not in self._answers:
            self._answers[key] = question(self._card, *about, **named)
        answer: Answer = self._answers[key]
        return answer

    def elsewhere(self) -> Asked:
        """For what is not computed on the card: the same numbers, and answers to nobody."""
        return Asked(self._card, self.formulas)

    def agrees(self, other: Asked) -> bool:
        """Whether all that was asked elsewhere is answered alike here, where it is asked, too."""
        agrees = other.answers_alike(self._card)
        if agrees:
            self.take(other)
        return agrees

    def take(self, other: Asked) -> None:
        """What was asked elsewhere, of the same card, is asked here, too."""
        self._answers |= other._answers

    @property
    def watches(self) -> bool:
        """Whether the numbers of the program are known by their places."""
        return bool(self._card.numbers)

    def number(self, place: int) -> float:
        """A number of the program, which is not asked for yet."""
        return self._card.numbers[place]

    def answers_alike(self, card: Card) -> bool:
        """Whether another card answers all of it alike."""
        if card == self._card or self.is_kept:
            return card == self._card
        if self.followed is not None:
            found = self.followed.reading()
            return found is not None and found.is_alike(self.followed.numbers, self._card, card)
        asked = self._answers.items()
        return all(question(card, *about) == answer for (question, about), answer in asked)
