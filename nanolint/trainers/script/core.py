"""What the parts of the follower share: the state of one following, and how to ask for the rest."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.frozen import dataclass
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.terms import Given, Place
from nanolint.trainers.script.operations import merged
from nanolint.trainers.script.things import TERMS

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nanolint.run.described import Put, Saved
    from nanolint.run.equation import Check, Turn
    from nanolint.source.settings_text import Node
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.things import Instance, Scope, Tensor, Thing

_ABSENT: Any = object()
Changes = dict[tuple[int, object], tuple[dict[object, Any], Any]]


@dataclasses.dataclass(slots=True)
class Journal:
    """Every change of a dictionary that a name, an attribute or an item is kept in."""

    _written: list[tuple[dict[object, Any], object, Any]] = field(default_factory=list)

    def write(self, holder: dict[object, Any], key: object, value: Any) -> None:
        """Put ``value`` at ``key``."""
        self._written.append((holder, key, holder.get(key, _ABSENT)))
        holder[key] = value

    def delete(self, holder: dict[object, Any], key: object) -> None:
        """Take ``key`` out, if it is there."""
        if key in holder:
            self._written.append((holder, key, holder.pop(key)))

    def mark(self) -> int:
        """A point to which ``take_back`` returns."""
        return len(self._written)

    def last(self, mark: int) -> tuple[dict[object, Any], object, Any] | None:
        """The last change since ``mark``: its dictionary, its key, and what was there before."""
        return self._written[-1] if len(self._written) > mark else None

    def take_back(self, mark: int) -> Changes:
        """Undo all changes since ``mark``; what they were."""
        changes: Changes = {}
        for holder, key, before in reversed(self._written[mark:]):
            changes.setdefault((id(holder), key), (holder, holder.get(key, _ABSENT)))
            if before is _ABSENT:
                holder.pop(key, None)
            else:
                holder[key] = before
        del self._written[mark:]
        return changes

    def apply(self, changes: Changes) -> None:
        """Make changes again that were taken back."""
        for (_, key), (holder, value) in changes.items():
            if value is _ABSENT:
                self.delete(holder, key)
            else:
                self.write(holder, key, value)

    def apply_either(self, one: Changes, other: Changes, doubt: NotKnown) -> None:
        """Make the changes of one of two branches, whichever it will be."""
        for place in {**one, **other}:
            holder, _ = one.get(place) or other[place]
            before = holder.get(place[1], _ABSENT)
            left = one[place][1] if place in one else before
            right = other[place][1] if place in other else before
            value = _merged(left, right, doubt)
            if value is _ABSENT:
                self.delete(holder, place[1])
            else:
                self.write(holder, place[1], value)


def _merged(left: Any, right: Any, doubt: NotKnown) -> Any:
    if left is _ABSENT or right is _ABSENT:
        return right if left is _ABSENT else left
    if isinstance(left, tuple) and isinstance(right, tuple):  # the items of a list
        if len(left) != len(right):
            return max(left, right, key=len)
        return tuple(merged(one, other, doubt) for one, other in zip(left, right, strict=True))
    return merged(left, right, doubt)


MOST_STEPS = 40_000  # statements and expressions that are followed, however often
DEEPEST = 24  # calls within calls


# What is asked of a tokenizer, or of what holds one, for its size.
VOCABULARIES = frozenset({"n_vocab", "vocab_size", "get_vocab_size", "max_token_value"})


class Exhausted(Exception):
    """The script is followed no further: it takes too many steps."""


LAUNCH_LINE = Place(None, 0)


@dataclass(frozen=True, slots=True)
class Word:
    """A value that the launch line sets: a flag, or a global of the configurator."""

    key: str
    value: Scalar | NotKnown
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A run that was started before: its script, what is around it, and its launch line's place."""

    script: Path
    around: Around
    place: Place


@dataclass(frozen=True, slots=True)
class Around:
    """What a script finds around it when it is run.

    ``vocabulary`` stands for the size of a tokenizer that only the run reads. ``capability`` and
    ``memory_bytes`` are the card's, None where no card is named; ``model`` is a part of its name.
    ``words`` are the flags of its launch line in their order, ``assigned`` its words like
    ``train.rows=8``, ``alone`` the other words, ``variables`` the environment that it sets.
    ``changes`` are values put on top, by the names that people call them: ``--set DEPTH=12``.
    ``before`` are the runs before it, None where nothing is taken from any; ``saved`` is what they
    have written; ``saver`` says what would write what is not there, and how to say with what.
    ``is_module``: ``python -m`` starts it. ``is_whole``: its launch line is known, and has no other
    words. ``older_transformers`` says which file of the project asks for an older release than the
    known one.
    """

    world_size: int = 1
    capability: tuple[int, int] | None = None
    memory_bytes: int | None = None
    model: str = ""
    has_bfloat16: bool = True
    words: tuple[Word, ...] = ()
    variables: tuple[Word, ...] = ()
    assigned: tuple[Word, ...] = ()
    alone: tuple[str, ...] = ()
    changes: tuple[Word, ...] = ()
    launched: Place = LAUNCH_LINE
    vocabulary: Given | None = None
    before: tuple[Earlier, ...] | None = ()
    saved: tuple[Saved, ...] = ()
    saver: str = ""
    is_module: bool = False
    is_whole: bool = False
    older_transformers: str | None = None

    @property
    def is_bare(self) -> bool:
        """Whether the launch line has no word behind the script."""
        return not (self.words or self.assigned or self.alone)

    def variable(self, name: str) -> Word | None:
        """Returns the variables that ``--set`` or the launch line sets, as text."""
        for each in reversed((*self.variables, *self.changes)):
            if each.key == name:
                known = not isinstance(each.value, (NotKnown, str))
                return dataclasses.replace(each, value=str(each.value)) if known else each
        return None

    def change(self, key: str) -> Word | None:
        """The value put on top of what goes by the name ``key``."""
        name = plain_name(key)
        found = (each for each in reversed(self.changes) if plain_name(each.key) == name)
        return next(found, None)


@dataclasses.dataclass(slots=True, eq=False)
class Loop:
    """A loop that is being followed; ``count`` is N where it is a ``range(N)``."""

    node: ast.stmt
    place: Place
    count: Thing | None
    trains: bool  # backward() is called within it, by name


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a statement when it is reached."""

    loops: tuple[Loop, ...]
    managers: tuple[Thing, ...]  # of the ``with`` statements and decorators, outermost first
    tests: tuple[tuple[ast.expr, Thing], ...]  # of the ``if``s nobody can decide, and their periods


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the loop does, in the order in which it is done."""

    kind: str  # "model", "backward", "step", "sync", "optimizer", "module"
    place: Place
    context: Context
    subject: Thing
    tensors: tuple[Tensor, ...] = ()
    # Of a model: it is called with indices and targets, and nothing else; of backward: on a loss.
    plain: bool = False
    behind: bool = False  # of a model: it is given what another gave, as a criterion is


@dataclass(frozen=True, slots=True)
class Before:
    """How far a script was followed: what was changed and noted by then, and read."""

    mark: int
    lengths: tuple[int, ...]
    modules: frozenset[Path]


@dataclasses.dataclass(slots=True)
class State:
    """What is found while a script is followed."""

    around: Around
    roots: tuple[Path, ...]
    journal: Journal = field(default_factory=Journal)
    modules: dict[Path, Scope | None] = field(default_factory=dict)
    given: dict[Given, None] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # what argparse refuses of the launch line
    loops: list[Loop] = field(default_factory=list)
    managers: list[Thing] = field(default_factory=list)
    tests: list[tuple[ast.expr, Thing]] = field(default_factory=list)
    built: dict[int, list[tuple[Instance, tuple[Thing, ...]]]] = field(default_factory=dict)
    building: list[tuple[Instance, list[Thing]]] = field(default_factory=list)
    depth: int = 0
    unrolled: int = 0  # loops around that are followed turn by turn
    steps: int = 0
    # What a loop counts up: where it is kept, and by which key.
    counted: list[tuple[dict[object, Thing], object]] = field(default_factory=list)
    collating: bool = False  # what puts samples together is followed: they may be short
    saved: list[Saved] = field(default_factory=list)
    loaded: dict[Place, Node | None] = field(default_factory=dict)  # None: one of several
    wanted: dict[str, None] = field(default_factory=dict)
    taken: dict[NotKnown, None] = field(default_factory=dict)
    put: dict[Put, None] = field(default_factory=dict)

    def spend(self) -> None:
        """Take one step. Raises Exhausted."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Exhausted

    def before(self) -> Before:
        """A point to which ``return_to`` returns."""
        lengths = tuple(len(each) for each in self._noted())
        return Before(self.journal.mark(), lengths, frozenset(self.modules))

    def has_trained(self, before: Before) -> bool:
        """Whether anything went backward since."""
        return any(each.kind == "backward" for each in self.events[before.lengths[0] :])

    def return_to(self, before: Before) -> None:
        """Forget what was found since."""
        self.journal.take_back(before.mark)
        for noted, length in zip(self._noted(), before.lengths, strict=True):
            del noted[length:]
        for path in self.modules.keys() - before.modules:  # their names are forgotten, too
            del self.modules[path]
        self.counted.clear()

    def step_either_way(self, ways: Sequence[int], test: tuple[ast.expr, Thing]) -> None:
        """Where an optimizer steps whichever way was gone, ``test`` decides no step. ``ways`` are
        how many events there were before each."""
        first, second = ways
        for way in (self.events[first:second], self.events[second:]):
            if not any(each.kind == "step" for each in way):
                return
        for place, each in enumerate(self.events[first:], first):
            if each.kind == "step":
                left = tuple(other for other in each.context.tests if other is not test)
                context = dataclasses.replace(each.context, tests=left)
                self.events[place] = dataclasses.replace(each, context=context)

    def _noted(self) -> tuple[list[Any], ...]:
        return self.events, self.checks, self.turns, self.refused, self.saved

    def happen(
        self,
        kind: str,
        place: Place,
        subject: Thing,
        tensors: Sequence[Tensor] = (),
        *,
        plain: bool = False,
        behind: bool = False,
    ) -> None:
        """Note an event."""
        context = Context(tuple(self.loops), tuple(self.managers), tuple(self.tests))
        self.events.append(Event(kind, place, context, subject, tuple(tensors), plain, behind))


class Core:
    """The follower as its parts see it. Each method is what its name says, in ``scope``."""

    def __init__(self, state: State) -> None:
        self.state = state

    def value(self, node: ast.expr, scope: Scope) -> Thing:
        """What an expression stands for."""
        raise NotImplementedError

    def bind(self, target: ast.expr, value: Thing, scope: Scope) -> None:
        """Assign."""
        raise NotImplementedError

    def run(self, body: Sequence[ast.stmt], scope: Scope) -> Flow:
        """Follow statements."""
        raise NotImplementedError

    def call(
        self,
        function: Thing,
        arguments: Sequence[Thing],
        named: Mapping[str, Thing],
        place: Place,
    ) -> Thing:
        """What a call gives."""
        raise NotImplementedError

    def method(
        self,
        owner: Thing,
        name: str,
        arguments: Sequence[Thing],
        named: Mapping[str, Thing],
        place: Place,
    ) -> Thing:
        """What a method gives that is not the project's own."""
        raise NotImplementedError

    def has_variable(self, name: Thing) -> bool | None:
        """Whether the environment has a variable."""
        raise NotImplementedError

    def attribute(self, owner: Thing, name: str, place: Place) -> Thing:
        """``owner.name``."""
        raise NotImplementedError

    def next_of(self, thing: Thing, place: Place) -> Thing:
        """What iterating over a thing gives first."""
        raise NotImplementedError

    def module(self, path: Path, name: str) -> Scope | None:
        """A module of the project, followed where it was not yet; None where it cannot be read."""
        raise NotImplementedError

    def script_scope(self) -> Scope:
        """The globals of the script itself."""
        raise NotImplementedError

    def default_of(self, call: Place) -> Place | None:
        """Where the ``default=None`` of the call in a line stands."""
        raise NotImplementedError

    def vocabulary(self, name: str) -> Thing | None:
        """The size of a tokenizer that only the run reads, where ``name`` asks for it and the
        project says it elsewhere."""
        known = self.state.around.vocabulary
        if known is None or name not in VOCABULARIES:
            return None
        self.state.given[known] = None
        return known

    def unknown(self, reason: str, place: Place) -> NotKnown:
        """Why something is not known."""
        return NotKnown(reason, place.path, place.line)

    def either(self, one: Callable[[], Flow], other: Callable[[], Flow], doubt: NotKnown) -> Flow:
        """Follow two ways of which only one is gone."""
        raise NotImplementedError


@dataclasses.dataclass(slots=True)
class Flow:
    """How a block was left: at its ``end``, by ``return``, ``break``, ``continue``, or the script
    ``stops`` there. ``value`` is what was returned, ``yielded`` what a generator gave."""

    how: str = "end"
    value: Thing | None = None


GOES_ON = Flow()

# What stands for a function of a library: what a call of it gives.
Handler: TypeAlias = "Callable[[Core, Sequence[Thing], Mapping[str, Thing], Place], Thing]"


def forget(core: Core, names: dict[object, Thing], why: NotKnown, beginning: str = "") -> None:
    """Each value that a program gives itself may be another, if its name has that beginning."""
    for key, value in list(names.items()):
        if not isinstance(value, TERMS) or not str(key).startswith(beginning):
            continue
        if str(key).startswith("__"):  # __name__ and what else Python itself has
            continue
        if isinstance(value, Given):
            core.state.given.pop(value, None)
        core.state.journal.write(names, key, why)
