"""What a name of a script can stand for, as far as it is known before the run.

What can be changed (names, attributes, entries, items) is kept in dictionaries, which change only
by way of a ``Journal``: of two branches both can then be followed.
"""

from __future__ import annotations

import ast
import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from nanolint.frozen import dataclass
from nanolint.run.terms import Given, Number, Operation, Place, Term, World

if TYPE_CHECKING:
    from nanolint.run.equation import NotKnown
    from nanolint.trainers.script.modules import Source

TERMS = (Given, Number, World, Operation)
NONE = Number(None)
REST = "*"  # the entry of a table that says why it may hold more
MODULE, OF_TRANSFORMERS = "Module", "PreTrainedModel"  # bases of models
ITEMS, COUNT = "items", "count"


@dataclass(frozen=True, slots=True)
class External:
    """A module, class or function of a library, by its full name: ``torch.compile``."""

    name: str

    @property
    def last(self) -> str:
        """The part behind the last dot."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor or an array; its dimensions, None where not even their number is known.

    ``perhaps_more``: it was cut out of something whose dimensions are not known, and may have more
    than these. ``perhaps_several``: a batch of samples that nobody knows; it may be several such
    tensors, by their order or by names.
    """

    shape: tuple[Thing, ...] | None
    perhaps_more: bool = False
    perhaps_several: bool = False


@dataclasses.dataclass(slots=True, eq=False)
class Row:
    """A tuple or a list. One that is filled in a loop, of which one turn is followed, has a count.

    ``loops`` and ``tests`` are how many loops, and conditions that nobody can decide, were around
    the place where it was made.
    """

    slot: dict[object, Thing | tuple[Thing, ...]]
    loops: int = 0
    tests: int = 0

    @property
    def count(self) -> Thing | None:
        """How many items it has, all like its last; None: just those that it holds."""
        found = self.slot.get(COUNT)
        return found if not isinstance(found, tuple) else None

    @property
    def items(self) -> tuple[Thing, ...]:
        """What it holds now."""
        found = self.slot[ITEMS]
        return found if isinstance(found, tuple) else ()


@dataclass(frozen=True, slots=True)
class Repeated:
    """So many things like ``item``: a list that is filled in a loop, or what is iterated over."""

    item: Thing
    count: Thing


@dataclasses.dataclass(slots=True, eq=False)
class Table:
    """A dictionary."""

    entries: dict[object, Thing] = field(default_factory=dict)


@dataclasses.dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a function or a class body, and the scope around it."""

    source: Source
    names: dict[object, Thing] = field(default_factory=dict)
    around: Scope | None = None
    declared: set[str] = field(default_factory=set)  # global or nonlocal here
    written: dict[str, ast.expr] = field(default_factory=dict)  # what names were set to last
    is_class: bool = False  # of a class body, which its methods do not see

    def holder(self, name: str) -> Scope | None:
        """The scope that has ``name``, seen from here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.around
        return None

    @property
    def outermost(self) -> Scope:
        """The scope of the module."""
        return self if self.around is None else self.around.outermost


@dataclasses.dataclass(slots=True, eq=False)
class Function:
    """A function of the project; ``bound`` is what it is called on, where it is a method."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    bound: Thing | None = None
    decorators: tuple[Thing, ...] = ()
    defaults: dict[str, Thing] = field(default_factory=dict)
    owner: Class | None = None

    @property
    def name(self) -> str:
        """What the project calls it."""
        return "a lambda" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclasses.dataclass(slots=True, eq=False)
class Class:
    """A class of the project. ``declared`` are its annotated fields, in their order."""

    node: ast.ClassDef
    scope: Scope
    bases: tuple[Thing, ...]
    names: dict[object, Thing]
    declared: tuple[str, ...] = ()
    is_dataclass: bool = False

    def find(self, name: str) -> Thing | None:
        """The attribute ``name`` of the class or of what it derives from."""
        if name in self.names:
            return self.names[name]
        found = (base.find(name) for base in self.bases if isinstance(base, Class))
        return next((each for each in found if each is not None), None)

    def derives_from(self, *names: str) -> bool:
        """Whether a base has one of ``names`` in its full name: ``nn.Module``."""
        return any(
            base.derives_from(*names)
            if isinstance(base, Class)
            else isinstance(base, External) and any(base.name.endswith(name) for name in names)
            for base in self.bases
        )

    @property
    def library_base(self) -> str:
        """The module of torch that it derives from: ``Module``, ``Linear``; empty for none.

        A model on transformers' base is one on ``Module``.
        """
        for base in self.bases:
            if isinstance(base, Class) and base.library_base:
                return base.library_base
            if isinstance(base, External) and base.name.startswith(("torch.nn.", "nn.", "Module")):
                return base.last
            if isinstance(base, External) and base.last == OF_TRANSFORMERS:
                return MODULE
        return ""

    @property
    def all_declared(self) -> tuple[str, ...]:
        """The annotated fields, those of the bases first."""
        inherited = (base.all_declared for base in self.bases if isinstance(base, Class))
        names = [name for each in inherited for name in each]
        return tuple(dict.fromkeys([*names, *self.declared]))


@dataclasses.dataclass(slots=True, eq=False)
class Instance:
    """What a call of a class gave, or of a function of a library."""

    of: Class | External
    place: Place
    fields: dict[object, Thing] = field(default_factory=dict)
    arguments: tuple[Thing, ...] = ()
    named: dict[str, Thing] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        """Whether it is a module of the project's, for torch."""
        return isinstance(self.of, Class) and bool(self.of.library_base)

    def argument(self, position: int, name: str) -> Thing | None:
        """An argument of a library's class, by its position or its name."""
        if name in self.named:
            return self.named[name]
        return self.arguments[position] if position < len(self.arguments) else None


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A model in ``torch.compile`` or DistributedDataParallel; not ``certain``: perhaps."""

    inner: Thing
    by: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Partial:
    """A function with some of its arguments: ``functools.partial(...)``."""

    function: Thing
    arguments: tuple[Thing, ...]
    named: tuple[tuple[str, Thing], ...]


@dataclass(frozen=True, slots=True)
class Super:
    """What ``super()`` gives: the instance as what its class derives from."""

    instance: Thing
    owner: Class


@dataclasses.dataclass(slots=True, eq=False)
class Imported:
    """A module of the project."""

    scope: Scope


Thing: TypeAlias = (
    "Term | NotKnown | External | Tensor | Row | Repeated | Table | Function | Class | Instance"
    " | Wrapped | Partial | Super | Imported"
)

# What is called as it is, as against a method of a library.
CALLABLE = (External, Function, Class, Partial, Wrapped, Instance)


def is_call_of(thing: Thing, name: str) -> TypeGuard[Instance]:
    """Whether it is what a call of something outside of the project gives."""
    return isinstance(thing, Instance) and isinstance(thing.of, External) and thing.of.name == name
