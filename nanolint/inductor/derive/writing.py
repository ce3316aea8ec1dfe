"""All that leaves a traced function: tensors returned, writes into others, attributes that it sets.

A returned tensor holds an operation instead of memory, and is taken out of what the call returned.

A write into a tensor is a new result for all that look at the memory, as torch/csrc/functorch and
FunctionalTensorWrapper.cpp have it: a write into a view goes back through its steps, and other
views are made anew when they are asked for.

The values on objects that were there before are handed out by the graph, after its results, and
set again at the end of each call (torch/_dynamo/side_effects.py, ``codegen_update_mutated``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.operations import PARTS, TAKEN_APART, VIEW, Operation
from nanolint.tensors.device import NotTraced
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.tensor import Tensor, autograd_follows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.inductor.derive.operations import Operations
    from nanolint.tensors.device import Device
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


class Writing:
    """The part of a capture that knows what tensors hold by now."""

    device: Device
    graph: Operations
    _given: set[int]
    _inputs: dict[int, tuple[Tensor, Operation]]
    _written: dict[int, Operation]
    learns_written = False  # whether a gradient flows into what is written

    def of(self, x: Tensor) -> Operation:
        """Returns the operation that makes a tensor."""
        raise NotImplementedError

    def input(self, x: Tensor) -> Operation:
        """The input that hands a tensor in."""
        raise NotImplementedError

    def make(self, *what: Any, **how: Any) -> Traced:
        """A new operation, and its result."""
        raise NotImplementedError

    def added(self, made: Operation) -> Operation:
        """Add an operation to the graph."""
        raise NotImplementedError

    def current(self, x: Traced) -> Operation:
        """The operation that makes what a tensor holds by now."""
        root = x.root
        if x.source is not None and x.seen != root.version:
            source = self.current(x.source)
            if x.step:
                op, *settings = x.step
                place = x.shape, x.strides, x.dtype, x.role
                made = Operation(op, (source,), *place, tuple(settings))
                source = self.added(made)
            x.made, x.seen = source, root.version
        return x.made

    def write(self, x: Tensor, inputs: Sequence[Tensor]) -> None:
        """Makes a new result of a write into ``x``, which ``x`` holds from now on."""
        (first, *others) = inputs
        same = first is not x and not others and first.shape == x.shape and first.dtype is x.dtype
        made = self.of(first)
        if not same:
            made = self.make(ops.WRITTEN, inputs, x.shape, x.dtype, x.role, strides=x.strides).made
        is_kept = not isinstance(x, Traced) and not x.is_view  # a buffer, for one
        if id(x) in self._given or is_kept:
            self.input(x)
            self._written[id(x)] = made
            self.learns_written |= autograd_follows(self.device, inputs) or x.requires_grad
        elif isinstance(x, Traced) and not (x.root.is_view and x.root.made.kind == VIEW):
            self._put(x, made)
        else:
            raise NotTraced("writing into a part of what is given")

    def _put(self, x: Traced, made: Operation) -> None:
        """Let ``x``, and what it is a view of, hold what ``made`` makes."""
        while x.source is not None:
            made = self._into(x.source, x.step, made)
            x = x.source
        x.version += 1
        x.made, x.seen = made, x.version

    def _into(self, source: Traced, step: tuple[Any, ...], made: Operation) -> Operation:
        """``source`` with another content of the part that ``step`` leads to."""
        if not step or step[0] in TAKEN_APART:
            return made
        shape, strides, dtype, role = source.shape, source.strides, source.dtype, source.role
        op, *settings = step
        if op is ops.VIEW:
            return self.added(Operation(op, (made,), shape, strides, dtype, role))
        if op is ops.PERMUTE:
            back = tuple(settings.index(dim) for dim in range(len(settings)))
            return self.added(Operation(op, (made,), shape, strides, dtype, role, back))
        if op not in PARTS:
            raise NotTraced(f"writing into a tensor by {op.aten}")
        whole = self.current(source)
        return self.added(
            Operation(ops.SCATTER_PART, (made, whole), shape, strides, dtype, role, step)
        )

    def root(self, x: Tensor) -> Tensor | None:
        """Returns the tensor that ``x`` is a view of; None if it is not a view."""
        return x.root if isinstance(x, Traced) and x.source is not None and x.is_view else None

    def seen_anew(self, x: Tensor) -> Tensor:
        """``x`` as what saves it asks for it later: a view that is made once more
        (FunctionalTensorWrapper.cpp, ``commit_update`` and ``sync_``)."""
        assert isinstance(x, Traced)
        found = Traced(x.device, x.made, x.role, x.source, x.step)
        found.seen = -1
        return found

    def seen_as(self, x: Tensor, whole: Tensor) -> Tensor:
        """The part of ``whole`` that ``x`` is of its root."""
        found: Any = whole
        for each in _path(x):
            if each.step:
                found = self.view(found, each.step, each.shape, each.strides, each.role)  # type: ignore[attr-defined]
        return found  # type: ignore[no-any-return]

    def put_back(self, x: Tensor, whole: Tensor, part: Tensor | None) -> Tensor:
        """``whole`` with ``part``, or zeros, in the place that ``x`` has in its root."""
        if part is None:
            shape = x.shape
            part = self.make(ops.FULL, (), shape, whole.dtype, whole.role)
        seen = self.of(part)
        steps = _path(x)
        wholes = [Traced(whole.device, self.of(whole))]
        for each in steps[:-1]:
            found = self.seen_as(each, whole)
            assert isinstance(found, Traced)
            wholes.append(found)
        for each, source in zip(reversed(steps), reversed(wholes), strict=True):
            seen = self._into(source, each.step, seen)
        return Traced(whole.device, seen, whole.role)

    def result(self, x: Tensor) -> Operation:
        """Returns the operation to hand out; a given tensor itself, whatever was written into
        it."""
        return self.input(x) if id(x) in self._written else self.of(x)

    def write_back(self) -> None:
        """Copy into the given tensors what was written into them."""
        for key, made in list(self._written.items()):
            _, given = self._inputs[key]
            copied = Operation(ops.COPY, (made, given), given.shape, given.strides,
                               given.dtype, given.role)  # fmt: skip
            self.graph.mutations.append(self.added(copied))


def _path(x: Tensor) -> list[Traced]:
    """The views from the root, which is not among them, to ``x``."""
    found: list[Traced] = []
    while isinstance(x, Traced) and x.source is not None:
        found.insert(0, x)
        x = x.source
    return found


_MISSING = object()


class Attributes:
    """Attributes that are set while a function is traced, in the order of the first time."""

    def __init__(self) -> None:
        self._bound: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}
        self._created: dict[int, dict[str, Any]] = {}

    def create(self, names: dict[str, Any]) -> None:
        """The attributes of an object that the function makes: nobody else sees them."""
        self._created[id(names)] = names

    def creates(self, names: dict[str, Any]) -> bool:
        """Whether they are those of an object that the function makes."""
        return id(names) in self._created

    def bind(self, names: dict[str, Any], name: str) -> None:
        """An attribute is about to be set."""
        if not self.creates(names):
            self._bound.setdefault((id(names), name), (names, names.get(name, _MISSING)))

    def clear(self) -> None:
        """Hold no value any more."""
        self._bound.clear()
        self._created.clear()

    def kept(self, is_made: Callable[[Tensor], bool]) -> Kept:
        """Returns the values on them. Raises NotTraced if one is not a result of the graph."""
        patterns, results = [], list[Tensor]()
        for (_, name), (names, _) in self._bound.items():
            if name not in names:
                continue
            tensors = [each for each in flat(names[name]) if isinstance(each, Tensor)]
            if not all(map(is_made, tensors)):
                raise NotTraced(f"a tensor that is not its own on the attribute {name}")
            patterns.append((names, name, hollow(names[name])))
            results += tensors
        return Kept(tuple(patterns), results)

    def before(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Returns the names and old values that ``restore`` sets again."""
        return [(names, name, old) for (_, name), (names, old) in self._bound.items()]

    def replaced(self) -> Iterable[Tensor]:
        """Returns the values that were on them before."""
        for _, old in self._bound.values():
            yield from (each for each in flat(old) if isinstance(each, Tensor))


def restore(before: Iterable[tuple[dict[str, Any], str, Any]]) -> None:
    """Set attributes to what they were before a function was traced: it runs as it is."""
    for names, name, old in before:
        if old is _MISSING:
            names.pop(name, None)
        else:
            names[name] = old


class Kept(NamedTuple):
    """Attributes with patterns of their values, and the tensors in these, while it is traced."""

    patterns: tuple[tuple[dict[str, Any], str, Any], ...]
    results: list[Tensor]

    @property
    def names(self) -> frozenset[tuple[int, str]]:
        """Which attributes they are."""
        return frozenset((id(names), name) for names, name, _ in self.patterns)

    def let_go(self) -> None:
        """Hold no tensor any more, until the results of a call are put there."""
        self.results.clear()
        for names, name, pattern in self.patterns:
            names[name] = pattern

    def put(self, results: Iterator[Tensor]) -> None:
        """Set the attributes, to the results of a call."""
        for names, name, pattern in self.patterns:
            names[name] = filled(pattern, results)


class Living:
    """How many tensors of a graph there are."""

    count = 0


class Traced(Tensor):
    """A tensor that holds the operation that makes it.

    A view knows its ``source`` and what ``step`` leads there, so that writing into one is seen by
    all; ``version`` counts what was written, and is what a view has ``seen``. It is counted with
    those of its graph: one that outlives that was left somewhere.
    """

    __slots__ = ("_living", "made", "seen", "source", "step", "version")

    def __init__(
        self,
        device: Device,
        made: Operation,
        role: Role | None = None,
        source: Traced | None = None,
        step: tuple[Any, ...] = (),
    ) -> None:
        self._living: Living = Living() if device.tracer is None else device.tracer.living
        self._living.count += 1
        super().__init__(
            device,
            None,
            made.shape,
            made.strides,
            made.dtype,
            role or made.role,
            source is not None,
        )
        self.made = made
        self.source, self.step = source, step
        self.version = 0
        self.seen = 0 if source is None else source.root.version

    def __del__(self) -> None:
        self._living.count -= 1

    @property
    def root(self) -> Traced:
        """The tensor that it is a view of, through all views; itself if it is not a view."""
        found = self
        while found.source is not None:
            found = found.source
        return found

    def view(self, shape: Shape, strides: Strides, role: Role) -> Tensor:
        """While it is traced none but those that a tracer is told of. Raises NotTraced."""
        if self.device.tracer is not None:
            raise NotTraced("a view that has no name")
        return super().view(shape, strides, role)

    def detach(self) -> Traced:
        """The same tensor, without what made it differentiable."""
        found = Traced(self.device, self.made, self.role, self)
        found.is_view = self.is_view
        return found


def flat(found: Any) -> list[Any]:
    """All that it holds, in order."""
    if isinstance(found, (list, tuple)):
        return [each for part in found for each in flat(part)]
    if isinstance(found, dict):
        return [each for part in found.values() for each in flat(part)]
    return [found]


class _Hole:
    """Where a tensor was returned."""


def hollow(found: Any) -> Any:
    """Returns the result of the function with holes in the place of tensors."""
    if isinstance(found, Tensor):
        return _Hole()
    if isinstance(found, (list, tuple)):
        return type(found)(map(hollow, found))
    if isinstance(found, dict):
        return {key: hollow(part) for key, part in found.items()}
    return found


def filled(pattern: Any, results: Any) -> Any:
    """Returns the results in the places of the tensors that the model returned."""
    if isinstance(pattern, _Hole):
        return next(results)
    if isinstance(pattern, (list, tuple)):
        return type(pattern)(filled(part, results) for part in pattern)
    if isinstance(pattern, dict):
        return {key: filled(part, results) for key, part in pattern.items()}
    return pattern
