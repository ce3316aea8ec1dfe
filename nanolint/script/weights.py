"""The weights of checkpoints that a run goes on from: on the card before the model has them.

``torch.load(path, map_location=device)`` puts them there one by one, in the order of the model's
state, and they lie there until the last name for them is gone. What they are is known once a model
takes them, so the setting up is read once more. The file is not opened: what it has besides the
model's, and in which types, is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nanolint.interpreter.values import Place, Unknown
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.values import Instance, Value
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

CONTENTS = "the contents of a file"
UNCOUNTED = "the size of what is loaded to the card here is not known"
TAKEN = "assuming that the model's weights are loaded to the card here, in its types"
TAKEN_IN_PART = f"{TAKEN}; nothing else of the file is counted"
ITS_SETTINGS = "assuming that the checkpoint it resumes from has the settings of this run"
SOMEWHERE = "without map_location weights load to where they were saved from; assuming the host"
MOST_READINGS = 8  # of the setting up, one for each checkpoint that a model takes


class Stored(Unknown):
    """The result of ``torch.load``, or the part of it under ``key``."""

    __slots__ = ("key",)

    def __init__(self, place: Place, key: str | None = None, why: str = CONTENTS) -> None:
        super().__init__(why, place)
        self.key = key

    def part(self, key: str) -> Stored:
        """The entry ``key`` of it."""
        return Stored(self.place, key)

    def asked_for(self) -> Stored:
        """The same, if the user is to say it."""
        why = f"the checkpoint that the run resumes from decides {self.key}; --set gives it"
        return Stored(self.place, self.key, why)


class Stores(dict):  # type: ignore[type-arg]
    """A file of which only what a model takes is known."""

    def __init__(self, place: Place, key: str, state: dict[str, Tensor]) -> None:
        super().__init__({key: state})
        self._place = place

    def __missing__(self, key: Value) -> Value:
        return Stored(self._place, key if isinstance(key, str) else None)


class Weight(NamedTuple):
    """One storage of a file, by the names that the model's state has for it."""

    names: tuple[str, ...]
    shape: Shape
    dtype: Dtype
    role: Role


class Piece(NamedTuple):
    """A tensor of a file that the script writes; those with the same number share their memory."""

    number: int
    device: Device
    shape: Shape
    dtype: Dtype
    role: Role


class Load(NamedTuple):
    """The ``nth`` call of ``torch.load`` on that line."""

    place: Place
    nth: int


class Held(NamedTuple):
    """The part of a file that a model took; ``key`` is its entry there, if that has others."""

    key: str | None
    weights: tuple[Weight, ...]


Weights: TypeAlias = "dict[Load, Held]"


class WeightsFound(BaseException):
    """Carries the content of a file that is loaded to the card; no program catches it."""

    def __init__(self, load: Load, held: Held) -> None:
        super().__init__()
        self.load = load
        self.held = held


class Flags:
    """The ``names`` of a parser with their values, and those that the launch line ``said``."""

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self.said: frozenset[str] = frozenset()

    def parsed(self, found: Instance, said: list[str]) -> None:
        """Note what a parser of the script found."""
        self.names, self.said = dict(found.attributes), frozenset(said)


class Checkpoint:
    """The files that are loaded; ``doubted`` if nothing else says what they hold."""

    def __init__(self, card: Device, weights: Weights, *, doubted: bool) -> None:
        self._card = card
        self._weights = weights
        self._doubted = doubted
        self._counts: dict[Place, int] = {}
        self._on_card: dict[Place, bool] = {}  # whether it is known that they are loaded to it
        self._taken: dict[Place, str] = {}  # with what of it is not known
        self._settled: dict[Place, None] = {}  # of which settings are taken for the run's

    def load(self, place: Place, *, is_placed: bool) -> Value:
        """Returns the result of ``torch.load``, on the card; or perhaps there, if it is not
        placed."""
        self._counts[place] = self._counts.get(place, 0) + 1
        self._on_card[place] = is_placed
        held = self._weights.get(Load(place, self._counts[place]))
        if held is None:
            return Stored(place)
        self._taken[place] = TAKEN if held.key is None else TAKEN_IN_PART
        state: dict[str, Tensor] = {}
        for names, shape, dtype, role in held.weights:
            state |= dict.fromkeys(names, empty(self._card, shape, dtype, role))
        return state if held.key is None else Stores(place, held.key, state)

    def take(self, state: Unknown, saved: Iterable[tuple[str, Tensor]]) -> None:
        """``load_state_dict`` of what is not known: ``saved`` is the state of its model.

        Raises WeightsFound if that tells what lies on the card.
        """
        place = state.place
        if not self._on_card.get(place, False):
            if place in self._on_card:
                self._taken[place] = SOMEWHERE
            return
        load = Load(place, self._counts[place])
        if load in self._weights or len(self._weights) + 1 >= MOST_READINGS:
            return
        names: dict[int, list[str]] = {}
        tensors: dict[int, Tensor] = {}
        for name, each in saved:
            tensors[id(each)] = each
            names.setdefault(id(each), []).append(name)
        weights = tuple(
            Weight(tuple(names[at]), each.shape, each.dtype, each.role)
            for at, each in tensors.items()
        )
        raise WeightsFound(load, Held(state.key if isinstance(state, Stored) else None, weights))

    def settle(self, setting: Stored) -> None:
        """Note that ``setting`` is taken for what the run itself says."""
        self._settled[setting.place] = None

    def doubts(self) -> Iterator[str]:
        """Returns the doubts about the files, with their lines."""
        for place in self._settled if self._doubted else ():
            yield f"{ITS_SETTINGS} ({place})"
        for place, is_placed in self._on_card.items() if self._doubted else ():
            if is_placed or place in self._taken:
                yield f"{self._taken.get(place, UNCOUNTED)} ({place})"
