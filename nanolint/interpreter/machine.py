"""The state that the parts of the interpreter share: the current line, the limits, each other."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from nanolint.interpreter.listening import Listener
from nanolint.interpreter.values import Event, Place, Unknown, Unread
from nanolint.interpreter.watched import MadeUp
from nanolint.tape.locating import Line, Where
from nanolint.tape.reading_lock import give_way
from nanolint.tensors.device import NotTraced

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.interpreter.counted import Length, Noted
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Class, Function, Instance, Namespace, Options, Value
    from nanolint.tensors.device import Device
    from nanolint.tensors.tensor import Tensor

STEPS = 3_000_000  # statements, calls and turns of loops
DEPTH = 60  # calls inside calls
ELEMENTS = 1_000_000  # of a list or a string


class Machine:
    """The state of one reading.

    Tensors lie on ``card`` or ``host``, new ones on ``default``. ``module`` and ``line`` are those
    that are being read. ``version`` is torch's; ``absent`` are names that the program deleted.
    ``tokens`` is the size of the vocabulary, by the table of embeddings, once there is one.
    ``made_up`` are the numbers that stand for others; ``listener`` is told what trains.
    """

    def __init__(
        self,
        card: Device,
        host: Device,
        *,
        version: tuple[int, int],
    ) -> None:
        self.card = card
        self.host = host
        self.default = host
        self.version = version
        self.listener = Listener()
        self.absent: set[str] = set()
        self.tokens = 0
        self.made_up = MadeUp()
        self.tensor_attributes: WeakKeyDictionary[Tensor, dict[str, Value]] = WeakKeyDictionary()
        self.shadowed: set[str] = set()  # methods that an attribute of some tensor hides
        self.module: Namespace | None = None
        self.line = 0
        self.steps = STEPS
        self.learns_outside = False  # a tensor of the host is to gather a gradient
        self.presumes = False  # of who starts it: a file, a variable, a flag, how many cards
        self.is_bare = False  # packages that it may do without are taken for not installed
        self.trying = 0  # blocks that go on where something in them fails
        self.callers: list[tuple[Namespace | None, int, int]] = []  # module, line, call
        self.frames: list[Frame] = []  # of the functions that are being run
        self.graph_depth = -1  # of the calls, in the function that is compiled
        self.call_number = 0  # of the innermost function of the program that is being called
        self.calls = 0
        self._wheres: dict[tuple[str, int, int, int], Where] = {}
        self.imported: dict[str, Namespace] = {}
        self.asked: list[Noted] = []  # of the turns of loops that train, see ``counted.py``
        self.growing: dict[int, Length] = {}  # of lists that grow from turn to turn

    def unpacked(self, settings: Unknown, _function: Value) -> dict[str, Value]:
        """Returns the arguments that ``**settings`` passes. Raises Unread if they are not known."""
        raise settings.unread()

    def updated(self, _owner: dict[Value, Value], settings: Unknown) -> None:
        """``owner.update(settings)``. Raises Unread if it is not known."""
        raise settings.unread()

    def numbered(self, _number: int | None) -> Device:
        """The card of that number, or the current one."""
        return self.card

    def number(self, node: ast.Constant, _frame: Frame) -> Value:
        """A number, as the program has it."""
        return node.value

    @property
    def place(self) -> Place:
        """The place that is being read."""
        return Place(self.module.path if self.module else "", self.line)

    @property
    def depth(self) -> int:
        """How many calls of functions it is inside of."""
        return len(self.callers)

    def where(self) -> Where | None:
        """The place that is being read, and its callers; None between two calls of a model."""
        if self.module is None:
            return None
        state = (self.module.path, self.line, self.call_number, len(self.callers))
        known = self._wheres.get(state)
        if known is None:
            stack = [Line(self.module.path, self.line)]
            for module, line, _ in reversed(self.callers):
                if module is not None and stack[-1] != (module.path, line):
                    stack.append(Line(module.path, line))
            known = self._wheres[state] = Where(tuple(stack), self.call_number)
        return known

    def unread(self, reason: str) -> Unread:
        """The error that ends the reading here."""
        return Unread(reason, self.place)

    def end(self) -> BaseException:
        """Returns what says that the program ends here, without a failure."""
        return self.unread("the program ends here")

    def unknown(self, reason: str) -> Unknown:
        """A value that is not known, from here on."""
        return Unknown(reason, self.place)

    def breaks(self, what: str, of: Tensor | None = None) -> None:
        """Dynamo cannot trace this, which asks for the contents of a tensor, perhaps.

        Raises NotTraced while a graph is traced, at once or by the first operation after it. A
        break in a function that is called in the graph would lie in a graph of its own.
        """
        if self.card.tracer is not None:
            error = NotTraced(f"a graph break at {self.place} ({what})")
            if self.depth != self.graph_depth:
                raise error
            self.card.tracer.breaks(error, of)

    def loads_weights(self, state: Unknown, saved: Iterable[tuple[str, Tensor]]) -> None:
        """A model takes ``state``, of which nothing is known, for its own, which is ``saved``."""

    def assume(self, what: str) -> None:
        """Notes an assumption that nobody has confirmed."""
        self.card.tape.assume(f"{what} ({self.place})")

    def created(self, made: Instance) -> Instance:
        """Notes a new object: while a graph is traced, nobody else sees its attributes."""
        if self.card.tracer is not None:
            self.card.tracer.creates(made.attributes)
        return made

    def bind(self, names: dict[str, Value], name: str, value: Value) -> None:
        """Set an attribute; one of an object that a graph did not make is handed out by it."""
        if self.card.tracer is not None:
            self.card.tracer.binds(names, name)
        names[name] = value

    def at(self, module: Namespace, line: int) -> None:
        """This is being read; what nanolint itself wrote stands for the line that led there."""
        if module.path:
            self.module, self.line = module, line

    def step(self) -> None:
        """Counts a step. Raises Unread if there have been too many, and GaveWay."""
        self.steps -= 1
        if self.steps < 0:
            raise self.unread("takes too many steps to read")
        give_way()

    def bounded(self, elements: int) -> None:
        """Raises Unread if a list or a string would be too long."""
        if elements > ELEMENTS:
            raise self.unread(f"makes something of {elements} elements")

    # What a reading of more than a model adds.

    def unlisted(self, _node: ast.ListComp, _frame: Frame, error: Unread) -> Value:
        """Returns a stand-in for a list that could not be read to its end. Raises ``error`` as a
        rule."""
        raise error

    def passed_through(self, _values: Value) -> Value:
        """Returns a stand-in for each place if a loop over these goes through data of unknown
        length; None if it does not."""
        return None

    def rows(self, x: Tensor) -> int:
        """``len(x)``."""
        return x.shape[0]

    def length(self, value: Unknown) -> Value:
        """``len()`` of what is not known."""
        return value.bare()

    def says(self, *words: str) -> bool:
        """Whether one of these stands in the program's text."""
        raise NotImplementedError

    def lacks(self, _owner: dict[Value, Value], _name: str, _key: Value) -> bool:
        """Whether a dictionary of this name is known to lack a key in the run, too."""
        return False

    @property
    def may_be_started_otherwise(self) -> bool:
        """Whether what was read so far may hang on how it is started, or on the machine."""
        return False

    def happens(self, what: Event) -> None:
        """Something that divides a run into its phases."""

    def endless(self, value: Value) -> Iterator[Value]:
        """Returns the values of a loop that yields."""
        return self.iterate(value)

    def goes_on(self, value: Value) -> bool:
        """Whether a loop that yields has another turn."""
        return self.truth(value)

    def asserted(self, test: ast.expr, frame: Frame) -> None:
        """The run goes on if ``test`` holds, which is not known."""

    def manager(self, value: Value) -> Value:
        """Returns the context manager of a ``with`` statement."""
        return value

    # What the parts need of each other.

    zero_super: Value  # ``super``, which looks at who calls it
    enumeration: Class
    named_tuple: Class

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def execute(self, body: Iterable[ast.stmt], frame: Frame) -> object:
        """Run statements; what is returned tells how they ended."""
        raise NotImplementedError

    def generate(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame
    ) -> Iterator[Value]:
        """Yields the values of a generator function as they are asked for."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Bind a target."""
        raise NotImplementedError

    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        """Calls a function; ``arguments`` is emptied when the function lets them go."""
        raise NotImplementedError

    def convert(self, kind: type, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """Call one of Python's types."""
        raise NotImplementedError

    def decorate(self, decorator: Value, value: Value) -> Value:
        """Returns the result of a decorator for a function or a class."""
        raise NotImplementedError

    def define(self, node: ast.ClassDef, frame: Frame) -> Class:
        """The class of a ``class`` statement."""
        raise NotImplementedError

    def instantiate(self, cls: Class, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """A new object."""
        raise NotImplementedError

    def super_of(self, frame: Frame) -> Value:
        """``super()`` in a method."""
        raise NotImplementedError

    # Values.

    def builtin(self, name: str, module: Namespace) -> Value:
        """Returns a name that every module sees. Raises NameError if there is none and ``module``
        has not imported all of another one that nothing is known of."""
        raise NotImplementedError

    def attribute(self, owner: Value, name: str) -> Value:
        """Returns ``owner.name``. Raises AttributeError if it has none."""
        raise NotImplementedError

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """``owner.name = value``."""
        raise NotImplementedError

    def set_native(self, owner: Value, name: str, value: Value) -> None:
        """The same of what is no object of the program."""
        raise NotImplementedError

    def delete_attribute(self, owner: Value, name: str) -> None:
        """``del owner.name``."""
        raise NotImplementedError

    def item(self, owner: Value, index: Value) -> Value:
        """``owner[index]``."""
        raise NotImplementedError

    def bound(self, value: Value) -> Value:
        """Returns the start or the end of a slice."""
        return value

    def set_item(self, owner: Value, index: Value, value: Value) -> None:
        """``owner[index] = value``."""
        raise NotImplementedError

    def delete_item(self, owner: Value, index: Value) -> None:
        """``del owner[index]``."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Iterator[Value]:
        """Yields the elements of ``value``. Raises Unread if they are not known."""
        raise NotImplementedError

    def truth(self, value: Value) -> bool:
        """Returns ``bool(value)``. Raises Unread if it is not known."""
        raise NotImplementedError

    def instance_of(self, value: Value, kind: Value) -> Value:
        """``isinstance(value, kind)``."""
        raise NotImplementedError

    def tensor_type(self, value: Tensor) -> Value:
        """The class that a tensor is of."""
        raise NotImplementedError

    # Operators.

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        """``left op right``."""
        raise NotImplementedError

    def in_place(self, op: ast.operator, left: Value, right: Value) -> Value:
        """Returns the value that ``left op= right`` binds."""
        raise NotImplementedError

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        """``op operand``."""
        raise NotImplementedError

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        """``left op right``."""
        raise NotImplementedError

    # Modules of the program, and what moves.

    def copied(
        self,
        module: Instance,
        arguments: list[Value],
        keywords: dict[str, Value],
        read: Callable[[], Value],
        checkpointed: Options | None = None,
    ) -> Value:
        """Returns the result of a module: by ``read`` if it may be copied from then on, else READ.

        ``checkpointed`` are the options of ``torch.utils.checkpoint``, if that calls it.
        """
        raise NotImplementedError

    def runs(self, function: Function) -> None:
        """A function of the program is called."""
        raise NotImplementedError

    def move(self, module: Instance, device: Device | None) -> None:
        """``module.to(device)``."""
        raise NotImplementedError

    def load(self, name: str) -> Value:
        """Returns the module of that dotted name; an Unknown if the project has none."""
        raise NotImplementedError

    def member(self, module: Value, name: str) -> Value:
        """Returns ``module.name``, also if that is a module itself."""
        raise NotImplementedError

    def absolute(self, name: str, level: int, module: Namespace) -> str:
        """The dotted name of a module that another one imports."""
        raise NotImplementedError

    def is_foreign(self, name: str) -> bool:
        """Whether a module may or may not be installed."""
        raise NotImplementedError
