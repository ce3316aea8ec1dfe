"""Values that names stand for while a model is read.

Numbers, strings, tuples, lists and dictionaries stand for themselves, and so do pretend tensors;
all else is one of these classes, or an ``Unknown`` with its reason and its place.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nanolint.errors import UserError

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    from nanolint.run.stop import Stop
    from nanolint.tensors.dtypes import Dtype

Value: TypeAlias = Any  # of the program that is read
Options: TypeAlias = "tuple[tuple[str, Value], ...]"  # by their names, as they are passed

TELLS = "_nanolint_tells"  # the same: of what is called each time before the function
MADE_BY = "_nanolint_made_by"  # the same: what a decorator makes of it, which is not known
READ = object()  # in place of what a call returns: it has to be read
CONTENTS = "the contents of a tensor"  # why a number or a truth is not known
INSTALLED = "whether a package is installed"  # and why what is imported under ``try`` is not
NOT_COMPILED = "_torchdynamo_disable"  # an attribute of functions, as torch._dynamo sets it


class Place(NamedTuple):
    """A line of a file of the project."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Event(Enum):
    """The events that divide a run into its phases."""

    OPTIMIZER_MADE = "an optimizer is made"
    BACKWARD = "a backward pass begins"
    AFTER_BACKWARD = "a backward pass has ended"
    EVALUATES = "model.eval()"
    TRAINS = "model.train()"


class Unread(UserError):
    """Reading ends here: something that memory depends on is not known.

    >>> str(Unread("torch.foo is not known", Place("model.py", 12)))
    'torch.foo is not known (model.py:12)'
    """

    def __init__(self, reason: str, place: Place) -> None:
        super().__init__(f"{reason} ({place})" if place.path else reason)
        self.reason = reason
        self.place = place
        self.decided = False  # whether it is known that memory of the card depends on it
        self.stop: Stop | None = None  # how the program fails here, if that is known

    def again(self) -> Unread:
        """The same, to be raised once more."""
        made = Unread(self.reason, self.place)
        made.decided, made.stop = self.decided, self.stop
        return made


class Raised(Exception):
    """The program that is read raises an exception of a class of its own."""

    def __init__(self, value: Instance) -> None:
        super().__init__(value.cls.name)
        self.value = value


class Unknown:
    """A value that only a run could tell."""

    __slots__ = ("place", "reason")

    def __init__(self, reason: str, place: Place) -> None:
        self.reason = reason
        self.place = place

    def __repr__(self) -> str:
        return f"<unknown: {self.reason} ({self.place})>"

    def unread(self) -> Unread:
        """Returns the error to raise if memory depends on it."""
        return Unread(self.reason, self.place)

    def bare(self) -> Unknown:
        """The same reason, for what comes of it: of that no more is known."""
        return Unknown(self.reason, self.place)


class Formed(Unknown):
    """A text with numbers in it that are others for whoever shares the reading (``symbolic.py``):
    it can be printed, and is not known otherwise."""

    __slots__ = ("text",)

    def __init__(self, text: str, place: Place) -> None:
        super().__init__("a text with a number of the run in it", place)
        self.text = text


class Figure(Unknown):
    """The one number that a tensor holds: what comes of it is a number no more, for all that is
    known."""

    __slots__ = ()


class Absent(Unknown):
    """A module that nothing is known of, but that it is one."""

    __slots__ = ()


class Namespace:
    """A module: of the project, or what is known of one that it imports from elsewhere.

    ``starred`` is what ``from m import *`` may have given it besides, if m is not known.
    """

    def __init__(self, name: str, names: dict[str, Value], path: str = "") -> None:
        self.name = name
        self.names = names
        self.path = path
        self.starred: Unknown | None = None

    def __repr__(self) -> str:
        return f"<module {self.name}>"


class Later(NamedTuple):
    """A module that is made when a program imports it."""

    make: Callable[[], Namespace]


class Function:
    """A function of the program; ``closure`` is the frame of the call that it is written in."""

    __slots__ = ("attributes", "closure", "defaults", "keyword_defaults", "module", "node", "owner")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        module: Namespace,
        closure: Any,
        defaults: list[Value],
        keyword_defaults: list[Value | None],
    ) -> None:
        self.node = node
        self.module = module
        self.closure = closure
        self.defaults = defaults
        self.keyword_defaults = keyword_defaults
        self.owner: Class | None = None  # the class that it is written in
        self.attributes: dict[str, Value] = {}

    @property
    def name(self) -> str:
        """As it was defined."""
        return getattr(self.node, "name", "<lambda>")

    def code(self) -> Namespace:
        """``__code__``: the names of its parameters."""
        spec = self.node.args
        named = tuple(each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))
        return Namespace("code", {"co_varnames": named, "co_argcount": len(named)})

    def __repr__(self) -> str:
        return f"<function {self.name}>"


class Method(NamedTuple):
    """A function of a class and what it is called on."""

    function: Value
    owner: Value


class Class:
    """A class of the program. ``names`` are those of its body, ``bases`` may be unknown ones."""

    def __init__(
        self, name: str, bases: tuple[Value, ...], names: dict[str, Value], module: Namespace
    ) -> None:
        self.name = name
        self.bases = bases
        self.names = names
        self.module = module
        self.mro: tuple[Class, ...] = (self, *_merged([each for each in bases if _is_class(each)]))
        self.unknown: Unknown | None = next(
            (base for each in self.mro for base in each.bases if isinstance(base, Unknown)),
            next((each.unknown for each in self.mro[1:] if each.unknown is not None), None),
        )
        self.tell: Callable[[], None] | None = None  # what is called where it is made use of
        # Whether its objects are modules of PyTorch's: a program may have a Module of its own.
        self.is_module = any(e.name == "Module" and not e.module.path for e in self.mro)

    def __repr__(self) -> str:
        return f"<class {self.name}>"

    def find(self, name: str) -> Value:
        """Returns an attribute of the class; None if it has none (``has`` tells)."""
        for each in self.mro:
            if name in each.names:
                return each.names[name]
        return None

    def has(self, name: str) -> bool:
        """Whether it or one of its bases has that name."""
        return any(name in each.names for each in self.mro)

    def native_base(self) -> type | None:
        """The class of Python itself that it extends, such as ``Exception`` or ``dict``."""
        for each in self.mro:
            for base in each.bases:
                if isinstance(base, type):
                    return base
        return None

    def derives(self, other: Value) -> bool:
        """Whether it is ``other`` or extends it."""
        if isinstance(other, Class):
            return other in self.mro
        base = self.native_base()
        return isinstance(other, type) and base is not None and issubclass(base, other)


def _is_class(value: Value) -> bool:
    return isinstance(value, Class)


def _merged(bases: list[Class]) -> list[Class]:
    """The method resolution order of several bases (C3, as CPython's ``mro``).

    Raises TypeError where there is none.
    """
    queues = [list(base.mro) for base in bases] + [list(bases)]
    found: list[Class] = []
    while any(queues):
        queues = [queue for queue in queues if queue]
        for queue in queues:
            head = queue[0]
            if not any(head in other[1:] for other in queues):
                break
        else:
            raise TypeError("no consistent method resolution order")
        found.append(head)
        for queue in queues:
            if queue[0] is head:
                del queue[0]
    return found


class Instance:
    """An object of a class of the program.

    ``buffers`` are the attributes that a module registered as such; ``native`` is what an object
    holds as an exception, a dictionary or a tuple of Python itself; ``opened`` says why it may have
    other attributes, too.
    """

    __slots__ = ("__weakref__", "attributes", "buffers", "cls", "native", "opened")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.attributes: dict[str, Value] = {}
        self.buffers: set[str] = set()
        self.native: Value = None
        self.opened: Unknown | None = None

    def __repr__(self) -> str:
        return f"<{self.cls.name}>"


class Property(NamedTuple):
    """``@property``, and ``@cached_property`` with ``cached``."""

    getter: Value
    setter: Value = None
    cached: bool = False


class Static(NamedTuple):
    """``@staticmethod``, or with ``of_class`` ``@classmethod``."""

    function: Value
    of_class: bool = False


class Super(NamedTuple):
    """``super()``: attributes are looked up after ``cls``."""

    cls: Class
    instance: Value  # an Instance, or the Class in a class method

    def behind(self) -> tuple[Class, ...]:
        """The classes that follow."""
        order = self.instance.mro if isinstance(self.instance, Class) else self.instance.cls.mro
        return order[order.index(self.cls) + 1 :]


class Native:
    """A function that nanolint itself has for one of Python's or torch's.

    A ``plain`` one of something unknown is unknown; the others look at it themselves.
    """

    __slots__ = ("function", "name", "plain")

    def __init__(self, name: str, function: Callable[..., Value], *, plain: bool = True) -> None:
        self.name = name
        self.function = function
        self.plain = plain

    def __repr__(self) -> str:
        return f"<{self.name}>"


def silent(name: str, value: Value = None) -> Native:
    """A function that does nothing to memory."""
    return Native(name, lambda *_, **__: value, plain=False)


class Partial(NamedTuple):
    """``functools.partial``."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]


class Manager(NamedTuple):
    """A context manager that nanolint itself has; as a decorator it changes nothing else."""

    enter: Callable[[], Any]  # a context manager of Python


class Generated(NamedTuple):
    """The values of a generator, all at once."""

    values: Iterator[Value]


class Numbered:
    """``enumerate(of)``."""

    def __init__(self, pairs: Iterator[Value], of: Value) -> None:
        self._pairs, self.of = pairs, of

    def __iter__(self) -> Iterator[Value]:
        return self

    def __next__(self) -> Value:
        return next(self._pairs)


class TensorClass:
    """``torch.Tensor``, ``nn.Parameter``: for ``isinstance``, and to be called.

    ``dtype`` is that of its elements, if it is of one type alone, as ``torch.LongTensor``.
    """

    def __init__(self, name: str, dtype: Dtype | None = None) -> None:
        self.name = name
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<class {self.name}>"


TENSOR, PARAMETER = TensorClass("Tensor"), TensorClass("Parameter")


class Annotation:
    """A name of ``typing``: it means nothing to a run."""

    def __repr__(self) -> str:
        return "<annotation>"


ANNOTATION = Annotation()
