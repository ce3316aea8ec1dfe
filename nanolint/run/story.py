"""The story of a run: what its loop does with modes, losses and gradients, as rules read it.

It has no tensor and no node: it is plain, frozen, and kept with the tape. An entry is a fact of the
replay and not of the text. What would need no rule is not told.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from nanolint.frozen import dataclass

# The lines of the project that lead to a place, the innermost first: file and number.
Stack: TypeAlias = "tuple[tuple[str, int], ...]"


class Fact(str, Enum):
    """The kinds of entries. ``words`` and ``numbers`` of an entry are named here in their order."""

    # An optimizer's step: the gradients of steps before are added to.
    # Words: the first names; numbers: parameters of which that is so, parameters with gradients.
    KEPT = "kept"
    # Backward passes of one step at one place, each of a mean that nothing divides, which an
    # optimizer steps on (``other``). Words: the optimizer's class; numbers: how many.
    SUMMED = "summed"
    # A clip of gradients that are still scaled.
    CLIPPED = "clipped"
    # A dropout that acts in a module which evaluates. Words: "dropout" or "attention".
    DROPS = "drops"
    # An ``eval()`` after which the model is trained (``other``) as it evaluates.
    STUCK = "stuck"
    # A loss of what softmax or log_softmax made (``other``). Words: that, and the loss.
    PROBABILITIES = "probabilities"
    # A backward pass through an autocast, or weights, of a type. Words: the type, and "scaled" or
    # "plain".
    HALF = "half"
    # A forward pass with a graph that no backward pass uses, unlike one that trains (``other``).
    # Numbers: its first event and its end.
    UNUSED = "unused"
    # A step after a single pass, or gradients that are set back between the passes of a step; the
    # loss is divided by a number above 1 (``other``). Words: "steps" or "sets back".
    MICRO = "micro"
    # A file whose type has no number for the last rows of a table that tokens are looked up in
    # (``other``). Words: the type; numbers: how many numbers it has, the rows.
    NARROW = "narrow"
    # A sampler that shuffles is gone through in each turn of a loop, and never told of an epoch.
    # Numbers: the turns.
    ALIKE = "alike"
    # A file of weights and a step that has no state of an optimizer. Words: its class, and
    # "loads" if the program loads weights.
    LACKS = "lacks"
    # A learning rate that does not do in this run what its schedule is for. Words: what is wrong
    # (``learning_rate.py``), how often the schedule steps, if not once a step, and rates;
    # numbers: the steps of the run, and one in which something happens.
    RATE = "rate"
    # A list that each turn of the loop appends a tensor of the card to. Words: "graph" if the
    # tensor holds one, or empty; numbers: the bytes that a turn keeps, and how many turns.
    GROWS = "grows"
    # A statement that cannot be read, and has nothing to do with the card. Words: why.
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Told:
    """An entry: ``place`` is its own, ``other`` another one that it is about."""

    what: Fact
    place: Stack
    other: Stack = ()
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """All that is told. ``is_whole``: nothing was passed over that may change what is told."""

    entries: tuple[Told, ...] = ()
    is_whole: bool = False

    def all(self, what: Fact) -> tuple[Told, ...]:
        """The entries of a kind."""
        return tuple(filter(lambda each: each.what is what, self.entries))


CLASSES: tuple[type, ...] = (Fact, Told, Story)
NO_STORY = Story()
