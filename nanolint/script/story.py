"""Tells the story of a run (``run/story.py``) while its script is read.

Nothing here holds a tensor, a module or a node: who lives how long is the program's affair.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.listening import Listener
from nanolint.interpreter.torch import modules
from nanolint.interpreter.torch.methods import holder_of
from nanolint.interpreter.values import Function, Instance
from nanolint.interpreter.watched import ANY
from nanolint.run.story import Fact, Story, Told
from nanolint.script.rates import Loop, Rates
from nanolint.script.saved_parts import parts_of, saves_otherwise
from nanolint.script.when import FOREVER
from nanolint.source.python import nodes, of_node
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.tape import Component
from nanolint.tensors.autograd import Operation, numbers
from nanolint.tensors.dtypes import BFLOAT16, FLOAT16
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.run.story import Stack
    from nanolint.tensors.autograd import Leaf
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.parameter import Parameter
    from nanolint.tensors.tensor import Node

# What a statement that is passed over may do to gradients or modes, by the names in it.
CHANGES = frozenset(
    {
        *("zero_grad", "zero_", "grad", "backward", "step", "unscale_", "train", "eval"),
        *("scale", "clip_grad_norm_", "requires_grad", "_foreach_zero_"),
    }
)
HARMLESS = ("torch.optim.lr_scheduler",)  # it sets rates
ZEROES = frozenset({"zero_", "fill_"})
SETS_BACK = frozenset({"zero_grad", "zero_", "_foreach_zero_"})
NAMES = 3  # that are told
TWICE = 2  # steps in a row, of which no gradient was set back in between
LARGE = 1000  # of a threshold of a clip: it was multiplied by the scale

# Operations on one number, by what they make of it.
MULTIPLY = frozenset({"mul", "__mul__", "__rmul__", "__imul__", "mul_", "multiply"})
DIVIDE = frozenset({"div", "__truediv__", "__itruediv__", "div_", "divide", "true_divide"})
ADD = frozenset({"add", "__add__", "__radd__", "__iadd__", "add_", "__sub__", "sub"})
SAME = frozenset({"to", "float", "clone", "contiguous", "view", "reshape", "squeeze", "type_as"})
MEANS = frozenset({"mean", "batchmean"})
LOSSES = frozenset(
    {
        *("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "kl_div"),
        *("binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss"),
    }
)
OF_CLASSES = frozenset({"cross_entropy", "nll_loss"})
SOFTMAX = frozenset({"softmax", "log_softmax"})
VIEWS = frozenset(f"nanolint.tensors.ops.{each}" for each in ("views", "conversion", "parts"))
SCALED, MEAN, SUM, AS_IT_IS = "scaled", "mean", "sum", "as it is"
DIVIDED, MULTIPLIED, UNKNOWN, OPAQUE = "divided", "multiplied", "unknown", "opaque"
PLAIN_MEAN = frozenset({SCALED, MEAN, SUM, AS_IT_IS})
# The optimizers that see how large a gradient is, or clips of it: no sign decides.
SEES_SIZE = frozenset({"Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "NAdam", "Adamax"})
NARROW = {"uint16": 1 << 16, "int16": 1 << 15, "uint8": 1 << 8}  # how many whole numbers
PADDED = 4096  # rows that a table may have for no token
HAS_MOMENTS = SEES_SIZE - {"SGD"}
WRAPPERS = frozenset({"DistributedDataParallel", "DataParallel"})


class Label(NamedTuple):
    """The operation that made one number, and its place."""

    name: str
    place: Stack


class Forward(NamedTuple):
    """A call of a model: its nodes lie between two numbers, its events between two others."""

    place: Stack
    nodes: tuple[int, int]
    events: tuple[int, int]
    evaluates: bool
    stuck: Stack | None  # the ``eval()`` that nothing took back, of a model that asks for it
    steps: int  # that were done before


class Steps:
    """The steps of one optimizer so far."""

    def __init__(self, kind: str, place: Stack) -> None:
        self.kind, self.place = kind, place
        self.count = 0
        self.last = 0  # the moment of the latest
        self.kept: dict[int, int] = {}  # of each gradient: the steps in a row that found it kept
        self.names: dict[int, str] = {}
        self.storages: dict[int, int] = {}


class Teller(Listener):
    """Listens to a reading."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine
        self.rates = Rates(machine, self._here)
        self._told: dict[object, Told] = {}
        self.grown: dict[Stack, Told] = {}  # lists, by what adds to them; the latest word counts
        self._is_whole = True
        self._now = 0  # a moment: each change of a gradient is one
        self._put: dict[int, int] = {}  # when a gradient was set or taken, by its holder
        self._zeroed: dict[int, int] = {}  # when it was filled with zeros, by its storage
        self._steps: dict[int, Steps] = {}
        self._labels: dict[int, Label] = {}  # by the numbers of nodes
        self._passes: list[tuple[Stack, frozenset[str]]] = []  # since the last step
        self._has_stepped = False  # since the last pass
        self._emptied: dict[int, int] = {}  # after how many of them, by its holder or its storage
        self._emptier: Stack = ()  # which statement did it
        self._touched = False  # a gradient was changed by the program itself, since the last step
        self._scaled = False  # the gradients are
        self._unscaled: set[int] = set()  # optimizers whose gradients were unscaled since
        self._halves: set[str | None] = set()  # of autocasts of modules since the last pass
        # Those of the last pass: empty if no module was seen, as of a graph that is replayed.
        self._of_pass: frozenset[str | None] = frozenset()
        self._open: tuple[Stack, int, int, bool, Stack | None] | None = None
        self._forwards: list[Forward] = []  # with a graph that no backward pass has used so far
        self._evals: dict[int, Stack] = {}  # by modules
        self._has_evaluated = False  # since the last of these
        self._sampled: dict[Stack, Loop] = {}  # the loop that goes through a sampler each turn
        self._saved: dict[Stack, frozenset[str]] = {}  # the parts of each file that is written
        self.tables: dict[int, tuple[int, Stack]] = {}  # the rows of each that is looked up
        self._files: dict[Stack, Dtype] = {}  # what data is read as
        self._done = 0  # steps
        self._is_back = False  # a backward pass runs
        self._training: Stack = ()  # the forward pass of the last that ran

    # What is not known.

    def passes_over(self, node: ast.stmt, path: str, why: str) -> None:
        """A statement is passed over."""
        self._is_whole = self._is_whole and not _changes(node)
        self._tell(Told(Fact.UNREAD, ((path, node.lineno),), words=(why,)))

    @contextmanager
    def unsure(self, node: ast.stmt) -> Iterator[None]:
        """The statements that are read in the block may not run."""
        whole = self._is_whole and not _changes(node)
        yield
        self._is_whole = whole

    def hands_over(self, reason: str, given: Iterable[Value]) -> None:
        """A library that nobody knows is given these."""
        if not reason.startswith(HARMLESS) and any(map(_learns, given)):
            self._is_whole = False

    # Modes and forward passes.

    def sets_mode(self, module: Instance, *, trains: bool) -> None:
        if trains:
            self._evals.pop(id(module), None)
        else:
            self._evals[id(module)] = self._here()
            self._has_evaluated = False

    def enters(self, module: Instance) -> None:
        super().enters(module)
        card = self._machine.card
        if card.grad_enabled:
            self._halves.add(None if card.half is None else _named(card.half))
        if len(self.inside) > 1 or self._is_back:  # there a checkpoint runs again
            return
        if not card.grad_enabled:
            self._has_evaluated = True
        elif card.tracer is None:
            evaluates, stuck = self._mode(module)
            begins = next(numbers), len(card.tape.events)
            self._open = self._here(), *begins, evaluates, stuck

    def leaves(self) -> None:
        super().leaves()
        if self.inside or self._open is None:
            return
        (place, node, event, evaluates, stuck), self._open = self._open, None
        end = next(numbers)
        if end > node + 1:
            events = event, len(self._machine.card.tape.events)
            self._forwards.append(Forward(place, (node, end), events, evaluates, stuck, self._done))

    def _mode(self, module: Instance) -> tuple[bool, Stack | None]:
        """Whether a model evaluates; and the call that told it so, if anything in it asks."""
        called = self._evals.get(id(module))
        while module.cls.name in WRAPPERS and isinstance(module.attributes.get("module"), Instance):
            module = module.attributes["module"]
            called = self._evals.get(id(module), called)
        if module.attributes.get("training") is not False:
            return False, None
        asks = called and any(_asks(each) for _, each in modules.modules(module))
        return True, called if asks else None

    # Operations.

    def made(
        self, name: str, arguments: tuple[Value, ...], options: dict[str, Value], found: Value
    ) -> None:
        if name == "dropout" or name == "scaled_dot_product_attention":
            self._drop(name, arguments, options)
        elif name == "embedding":
            table = arguments[1] if len(arguments) > 1 else options.get("weight")
            if isinstance(table, Tensor) and table.requires_grad:
                self.tables.setdefault(id(table), (table.shape[0], self._here()))
        elif isinstance(found, Tensor) and found.node is not None:
            if name in OF_CLASSES:
                self._look_into(name, arguments[0] if arguments else options.get("input"))
            if not found.shape or name in SOFTMAX:
                label = Label(_label(name, arguments, options), self._here())
                self._labels.setdefault(found.node.number, label)

    def _drop(self, name: str, arguments: tuple[Value, ...], options: dict[str, Value]) -> None:
        """A dropout acts whatever the mode of its module is, if it evaluates."""
        module = self.inside[-1] if self.inside else None
        if module is None or module.attributes.get("training") is not False:
            return
        if name == "dropout":
            given = (*arguments[1:], *(0.5, True)[len(arguments) - 1 :])
            p, trains = options.get("p", given[0]), options.get("training", given[1])
            kind = name
        else:
            p, trains = options.get("dropout_p", [*arguments, *[0.0] * 5][4]), True
            kind = "attention"
        if trains is True and _is_number(p) and p > 0:
            self._tell(Told(Fact.DROPS, self._here(), words=(kind,)))

    def _look_into(self, loss: str, x: Value) -> None:
        """A loss of classes is given what a softmax made, perhaps by way of views and casts."""
        node = x.node if isinstance(x, Tensor) else None
        while node is not None:
            label = self._labels.get(node.number)
            if label is not None:
                if label.name in SOFTMAX and (loss, label.name) != ("nll_loss", "log_softmax"):
                    words = label.name, loss
                    told = Told(Fact.PROBABILITIES, self._here(), label.place, words)
                    self._tell(told)
                return
            below = [each for each in node.edges if each is not None]
            made = node.backward if isinstance(node, Operation) else None
            is_view = getattr(made, "__module__", None) in VIEWS and len(below) == 1
            node = below[0][0] if is_view else None

    def reads(self, dtype: Dtype) -> None:
        """Data is read from a file as numbers of a type."""
        self._files.setdefault(self._here(), dtype)

    def samples(self, sampler: Value) -> None:
        """A loader begins to go through a sampler."""
        courses = self._machine.turns.courses  # type: ignore[attr-defined]
        is_one = isinstance(sampler, Instance) and sampler.cls.name == "DistributedSampler"
        if is_one and courses and sampler.attributes.get("shuffle") is True:
            self._sampled.setdefault(self._here(), courses[-1])

    def _tell_alike(self, trees: Iterable[ast.Module]) -> None:
        names = {each.attr for tree in trees for each in nodes(tree) if type(each) is ast.Attribute}
        if "set_epoch" in names or "accelerate" in self._machine.imported:
            return
        for place, loop in self._sampled.items():
            turns = loop.turns
            if turns is not None and TWICE <= turns < FOREVER:
                self._tell(Told(Fact.ALIKE, place, numbers=(_plainly(turns),)))

    def saves(self, value: Value) -> None:
        """The loop writes a file."""
        if self._machine.turns.courses:  # type: ignore[attr-defined]
            self._saved.setdefault(self._here(), frozenset(parts_of(value)))

    def _tell_saved(self, trees: Iterable[ast.Module]) -> None:
        kinds = {each.kind for each in self._steps.values()}
        if len(kinds) != 1 or not kinds <= HAS_MOMENTS or any(map(saves_otherwise, trees)):
            return
        if any(not parts <= {"weights", "step"} for parts in self._saved.values()):
            return
        loads = any(
            type(each) is ast.Attribute and each.attr == "load_state_dict"
            for tree in trees
            for each in nodes(tree)
        )
        for place, parts in self._saved.items():
            if len(parts) > 1:
                words = kinds.copy().pop(), "loads" if loads else ""
                self._tell(Told(Fact.LACKS, place, words=words))

    def _tell_narrow(self) -> None:
        """The largest table has rows that no file can ask for, if all are of one narrow type."""
        kinds = {each.name for each in self._files.values()}
        kind = kinds.pop() if len(kinds) == 1 else ""
        rows, other = max(self.tables.values(), default=(0, ()), key=lambda each: int(each[0]))
        if kind in NARROW and rows > NARROW[kind] + PADDED:
            numbers = NARROW[kind], _plainly(rows)
            self._tell(Told(Fact.NARROW, next(iter(self._files)), other, (kind,), numbers))

    # Scalers.

    def scales(self, found: Value) -> Value:
        """A loss was multiplied by the scale; returns it."""
        if isinstance(found, Tensor) and found.node is not None:
            self._labels[found.node.number] = Label(SCALED, ())
        return found

    def unscales(self, optimizer: Instance) -> None:
        """The gradients of an optimizer were divided by the scale."""
        self._unscaled.add(id(optimizer))

    def updates(self) -> None:
        """The scale is another one from here on."""
        self._scaled = False
        self._unscaled.clear()

    def clips(self, parameters: Sequence[Value], most: Value, optimizers: list[Instance]) -> None:
        """Gradients are clipped to ``most``."""
        if not (self._scaled and _is_number(most) and most < LARGE):
            return
        wanted = {id(each) for each in parameters}
        owners = [
            id(optimizer)
            for optimizer in optimizers
            if not wanted.isdisjoint(id(each) for each in _parameters(optimizer))
        ]
        if not self._unscaled.intersection(owners or self._unscaled):
            self._tell(Told(Fact.CLIPPED, self._here()))

    # Gradients.

    def puts(self, holder: Parameter | Leaf, gradient: Tensor | None) -> None:
        self._now += 1
        self._put[id(holder)] = self._now
        self._touched = self._touched or gradient is not None
        if gradient is None:
            self._empties(id(holder))

    def writes(self, x: Tensor, name: str) -> None:
        if x.role.component is not Component.GRADIENTS or x.storage is None:
            return
        if name in ZEROES:
            self._now += 1
            self._zeroed[id(x.storage)] = self._now
            self._empties(id(x.storage))
        else:
            self._touched = True

    def _empties(self, gradient: int) -> None:
        """A gradient is set back, perhaps before any step used it."""
        if self._passes and not self._has_stepped:
            self._emptied[gradient], self._emptier = len(self._passes), self._here()

    def goes_back(self, loss: Tensor) -> None:
        if loss.node is None:
            return
        here, marks = self._here(), frozenset(self._marks(loss.node))
        if self._has_stepped:
            self._passes, self._has_stepped, self._emptied = [], False, {}
        self._passes.append((here, marks))
        self._scaled = SCALED in marks
        self._of_pass, self._halves = frozenset(self._halves), set()
        self._use(loss.node)
        self._is_back = True

    def went_back(self) -> None:
        self._is_back = False

    def _marks(self, root: Node) -> Iterator[str]:
        """Yields what lies between a loss and the means that it is made of."""
        waiting, seen = [root], {root}
        while waiting:
            node = waiting.pop()
            label = self._labels.get(node.number)
            name = OPAQUE if label is None else label.name
            yield name
            if name in (SCALED, SUM, AS_IT_IS, DIVIDED, MULTIPLIED):
                below = {each[0] for each in node.edges if each is not None} - seen
                seen |= below
                waiting += below

    def _use(self, root: Node) -> None:
        """A backward pass uses the graphs of some forward passes."""
        left = self._forwards
        waiting, seen = [root], {root}
        while waiting and left:
            node = waiting.pop()
            for each in left:
                if each.nodes[0] < node.number < each.nodes[1]:
                    left = [other for other in left if other is not each]
                    self._training = each.place
                    has_evaluated = self._has_evaluated or any(other.evaluates for other in left)
                    if each.stuck is not None and has_evaluated:
                        self._tell(Told(Fact.STUCK, each.stuck, each.place))
                    break
            below = [each[0] for each in node.edges if each is not None and each[0] not in seen]
            seen.update(below)
            waiting += below
        self._forwards = left

    def stepped(self, optimizer: Instance, passes: int) -> None:
        """An optimizer has stepped, after so many backward passes."""
        here = self._here()
        steps = self._steps.setdefault(id(optimizer), Steps(optimizer.cls.name, here))
        for each in _parameters(optimizer):
            holder = holder_of(each)
            gradient = None if holder is None else holder.gradient
            if holder is None or gradient is None:
                continue
            steps.storages[id(holder)] = id(gradient.storage)
            is_kept = steps.count > 0 and self._changed(id(holder), steps) <= steps.last
            steps.kept[id(holder)] = steps.kept.get(id(holder), 0) + 1 if is_kept else 0
            steps.names[id(holder)] = gradient.role.label.removeprefix("gradient of ")
        if steps.count > 0:
            self._tell_of_passes(optimizer, here, passes)
        steps.count += 1
        steps.last = self._now
        self._done += not self._has_stepped
        self._has_stepped, self._touched = True, False
        self._drop_unused(TWICE)

    def _tell_of_passes(self, optimizer: Instance, here: Stack, passes: int) -> None:
        """Tells of the backward passes of a step."""
        if not self._passes:
            return
        place, marks = self._passes[-1]
        if passes > 1 and DIVIDED in marks and self._has_lost(optimizer):
            self._tell(Told(Fact.MICRO, self._emptier, self._divided(), ("sets back",)))
        is_one = all(each == (place, marks) for each in self._passes)
        name, is_mean = optimizer.cls.name, marks <= PLAIN_MEAN and MEAN in marks
        if is_one and is_mean and passes > 1 and not self._touched and name in SEES_SIZE:
            self._tell(Told(Fact.SUMMED, place, here, (name,), (_plainly(passes),)))
        if len(self._passes) == passes == 1 and DIVIDED in marks:
            self._tell(Told(Fact.MICRO, here, self._divided(), ("steps",)))
        if not self._of_pass:
            return
        of_weights = {_named(each.dtype) for each in _parameters(optimizer)}
        halves = (self._of_pass - {None}) | (of_weights & {"float16"})
        if SCALED in marks and "float16" not in halves:
            half = "bfloat16" if halves else "float32"
            self._tell(Told(Fact.HALF, place, here, (half, SCALED)))
        elif "float16" in halves and marks.isdisjoint({SCALED, MULTIPLIED, UNKNOWN}):
            self._tell(Told(Fact.HALF, place, here, ("float16", "plain")))

    def _divided(self) -> Stack:  # the place of the last division of a loss
        return [each for each in self._labels.values() if each.name == DIVIDED][-1].place

    def _has_lost(self, optimizer: Instance) -> bool:
        """Whether each gradient was set back after all passes, or all but one, of one place."""
        before, after = len(self._passes) - 1, self._emptied.get
        lost = [
            before <= max(after(id(each), 0), after(id(each.gradient.storage), 0))
            for each in map(holder_of, _parameters(optimizer))
            if each is not None and each.gradient is not None
        ]
        is_one = before > 0 and len({each[0] for each in self._passes}) == 1 and self._emptied
        return bool(is_one) and all(lost)

    def _drop_unused(self, steps: int) -> None:
        """Tells of forward passes whose graph so many steps have left alone."""
        for each in self._forwards:
            if self._done >= each.steps + steps:
                told = Told(Fact.UNUSED, each.place, self._training, numbers=each.events)
                self._tell(told)
        self._forwards = [each for each in self._forwards if self._done < each.steps + steps]

    def _changed(self, holder: int, steps: Steps) -> int:
        """Returns the moment when a gradient was set, taken, or filled with zeros; 0: never."""
        return max(self._put.get(holder, 0), self._zeroed.get(steps.storages[holder], 0))

    def _tell_kept(self) -> None:
        for each in self._steps.values():
            kept = [
                key
                for key, times in each.kept.items()
                if TWICE <= times == each.count - 1 and self._changed(key, each) <= each.last
            ]
            if kept:
                names = tuple(each.names[key] for key in kept[:NAMES])
                numbers = len(kept), len(each.kept)
                self._tell(Told(Fact.KEPT, each.place, words=names, numbers=numbers))

    # The story.

    def _here(self) -> Stack:
        where = self._machine.where()
        return () if where is None else tuple((each.path, each.number) for each in where.stack)

    def _tell(self, told: Told) -> None:
        self._told.setdefault((told.what, told.place[:1], told.words), told)

    def story(self, trees: Iterable[ast.Module], executed: set[int]) -> Story:
        """Returns all that was told. ``executed`` are the statements of these that were read."""
        if not any(id(node) not in executed for each in trees for node in _zeroing(each)):
            self._tell_kept()
        self._drop_unused(1)
        self._tell_narrow()
        self._tell_alike(trees)
        self._tell_saved(trees)
        for each in self.rates.told():
            self._tell(each)
        return Story((*self._told.values(), *self.grown.values()), self._is_whole)


def _parameters(optimizer: Instance) -> Iterator[Tensor]:
    """The parameters of an optimizer, if it has groups as torch's have."""
    groups = optimizer.attributes.get("param_groups")
    for group in groups if isinstance(groups, list) else ():
        params = group.get("params") if isinstance(group, dict) else None
        for each in params if isinstance(params, list) else ():
            if isinstance(each, Tensor):
                yield each


def _named(dtype: Dtype) -> str:
    return {FLOAT16: "float16", BFLOAT16: "bfloat16"}.get(dtype, "another type")


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float, Symbolic)) and not isinstance(value, bool)


def _label(name: str, arguments: tuple[Value, ...], options: dict[str, Value]) -> str:
    """Returns the effect of an operation on one number, or that the number is a mean."""
    if name in LOSSES:
        is_old = "reduce" in options or "size_average" in options
        return MEAN if options.get("reduction", MEAN) in MEANS and not is_old else UNKNOWN
    if name in MULTIPLY or name in DIVIDE:
        given = [each for each in arguments[:2] if not isinstance(each, Tensor)]
        if len(given) != 1 or not _is_number(given[0]) or given[0] == ANY or given[0] <= 0:
            return UNKNOWN
        if given[0] == 1:
            return AS_IT_IS
        return DIVIDED if (given[0] > 1) is (name in DIVIDE) else MULTIPLIED
    if name in ADD:
        return SUM
    if name in SAME:
        return AS_IT_IS
    return name if name in SOFTMAX or name == MEAN else UNKNOWN


def _asks(module: Instance) -> bool:
    """Whether a module does something else while it trains."""
    name, own = module.cls.name, module.attributes
    if own.get("training") is not False:
        return False
    if not module.cls.module.path:
        p = own.get("p" if "Dropout" in name else "dropout", 0.0)
        return "BatchNorm" in name or (_is_number(p) and p > 0)
    drops = (each for key, each in own.items() if "drop" in key.lower() and _is_number(each))
    methods = (each.node for each in module.cls.names.values() if isinstance(each, Function))
    return any(each > 0 for each in drops) and any(map(_asks_flag, methods))


@of_node
def _asks_flag(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "training" for each in nodes(node))


def _plainly(number: Value) -> int:
    """A number as a story keeps it: a reading with another one has a story of its own."""
    return int(number.known() if type(number) is Symbolic else number)


def _learns(value: Value) -> bool:
    """Whether gradients may be reached through a value."""
    if isinstance(value, (list, tuple)):
        return any(map(_learns, value[:NAMES]))
    if isinstance(value, Tensor):
        return value.requires_grad
    return isinstance(value, Instance) and "param_groups" in value.attributes


@of_node
def _zeroing(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """The statements that may set gradients back, and have no others in them."""
    return tuple(
        each
        for each in ast.walk(tree)
        if isinstance(each, (ast.Expr, ast.Assign)) and any(map(_sets_back, ast.walk(each)))
    )


def _sets_back(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in SETS_BACK or (node.attr == "grad" and isinstance(node.ctx, ast.Store))


@of_node
def _changes(node: ast.stmt) -> bool:
    return any(isinstance(e, ast.Attribute) and e.attr in CHANGES for e in ast.walk(node))
