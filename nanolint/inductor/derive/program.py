"""``torch.compile``: a function whose graphs are derived, and how each traced call is played.

One traced call of a function that is compiled: its memory plans, and how they are played.

The first call with tensors of new shapes traces the function, and each call plays the memory plans
that follow. What is called may be a model, a block of one, or a step of an optimizer that writes
into its arguments.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from gc import collect
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nanolint.inductor.derive.formulas import FORMULAS
from nanolint.inductor.derive.joint import (
    DROPPED,
    FOUND,
    drops_weights,
    has_attention,
    simplify,
    timed,
)
from nanolint.inductor.derive.operations import INPUT, Operation, base_of
from nanolint.inductor.derive.passes import capture
from nanolint.inductor.derive.plans import planned
from nanolint.inductor.derive.writing import Kept, filled, flat, hollow, restore
from nanolint.inductor.inductor import Inductor
from nanolint.tape.tape import Component
from nanolint.tensors.autograd import Leaf, land, matched, numbers
from nanolint.tensors.device import LeftAsItIs, NotDerived, NotTraced, Storage
from nanolint.tensors.layout import is_contiguous
from nanolint.tensors.role import PlacedRole
from nanolint.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Sequence

    from nanolint.inductor.derive.capture import Capture
    from nanolint.tape.tape import Handle
    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape, Strides
    from nanolint.tensors.role import Role


# What a graph that no rule here was written for may end in.
BEYOND = (AssertionError, LookupError, ValueError, TypeError, StopIteration)

# A tensor that is handed in: by its place among the leaves of a call, or the same in every call.
Source: TypeAlias = "int | Tensor"


class _Learned(NamedTuple):
    """An input whose gradient the graph makes."""

    source: Source
    shape: Shape
    strides: Strides
    dtype: Dtype
    role: Role


class _Result(NamedTuple):
    """What the graph hands out, in a slot of its own, or a view of what it is ``given``; or takes
    in its backward pass."""

    shape: Shape
    strides: Strides
    dtype: Dtype
    role: Role
    slot: int | None = None
    given: Source | None = None


class Program:
    """The plans of one traced call of ``function``.

    ``leaves`` is all that it is called with, taken apart; ``host`` is the device of tensors that
    are numbers; ``held`` are the ids of the tensors of the modules that it reaches.
    """

    def __init__(
        self,
        device: Device,
        function: Callable[[], Any],
        leaves: Sequence[Any],
        inductor: Inductor,
        host: Device | None = None,
        held: Container[int] = (),
    ) -> None:
        self.device, self._held = device, held
        self._pattern: Any = None
        self._order: list[int] = []  # of the results, for the holes of the pattern
        self.settled = False
        self.kept = Kept((), [])

        def forward() -> list[Tensor]:
            found = function()
            self._pattern = hollow(found)
            tracer: Capture = device.tracer
            self.kept = tracer.attributes.kept(tracer.makes)
            results = [each for each in flat(found) if isinstance(each, Tensor)]
            results += self.kept.results
            once = list({id(each): each for each in (*results, *tracer.asked)}.values())
            tracer.ends()
            places = {id(each): place for place, each in enumerate(once)}
            self._order = [places[id(each)] for each in results]
            return once

        given = [each for each in leaves if isinstance(each, Tensor)]
        found = capture(device, forward, given, FORMULAS, host)
        before = found.attributes.before()
        try:
            self._plan(found, leaves, inductor)
        except NotTraced:
            restore(before)
            raise

    def _plan(self, found: Capture, leaves: Sequence[Any], inductor: Inductor) -> None:
        device = self.device
        if found.graph.tangents and found.graph.mutations and found.learns_written:
            raise NotTraced("writing into what is given, and a backward pass,")
        tangents = [] if not inductor.orders_tangents else found.graph.tangents
        if not all(is_contiguous(each.shape, each.strides) for each in tangents):
            raise NotTraced("the gradient of a result that does not lie in order")
        learning = [found.graph.outputs[place] for place in found.graph.learning]
        learning = [each for each in learning if base_of(each).kind != INPUT]
        # torch/_functorch/_aot_autograd/collect_metadata_analysis.py: what they are views of is
        # handed out for them, and its gradient is taken.
        if any(base_of(each).nbytes != each.nbytes for each in learning) or (
            len(set(map(base_of, learning))) < len(learning)
        ):
            raise NotTraced("results that share memory, or are a part of another tensor")
        replaced = set(map(id, found.attributes.replaced()))
        if any(id(tensor) in replaced for tensor, _ in found.inputs):
            raise NotTraced("an attribute that each call sets for the next")
        self.kept.let_go()
        if has_attention(found.graph.all, over_any=inductor.fuses_any_softmax):
            device.tape.doubt_above(FOUND)
        if inductor.fuses_any_softmax and drops_weights(found.graph.all):
            device.tape.doubt(DROPPED)
        simplify(found.graph, inductor, learns=bool(found.graph.tangents))
        for each in timed(found.graph.all):
            device.tape.assume(each)
        self._take(found, leaves, inductor)
        if found.living.count:
            collect()
        if found.living.count:  # in a list or a global: each call's would stay
            raise NotTraced("a tensor that is left where no result is")

    def _take(self, found: Capture, leaves: Sequence[Any], inductor: Inductor) -> None:
        places: dict[int, int] = {}
        for place, each in enumerate(leaves):
            if isinstance(each, Tensor):
                places.setdefault(id(each), place)
        weights, slots = set[Operation](), dict[Operation, int]()
        inputs: dict[Operation, Source] = {}
        for tensor, operation in found.inputs:
            source: Source = places.get(id(tensor), tensor)
            is_weight = isinstance(tensor.node, Leaf) and not isinstance(source, int)
            if (
                is_weight or id(tensor) in self._held
            ):  # _dynamo/variables/builder.py, is_static_input
                weights.add(operation)
            if isinstance(source, int) and tensor.storage is not None:
                slots[operation] = source
            elif tensor.node is not None and not is_weight:
                raise NotTraced("a tensor of another graph that is not passed")
            inputs[operation] = source
        self._learned = [
            _Learned(
                places.get(id(each), each), each.shape, each.strides, each.dtype, each.role
            )
            for each in found.learned
        ]  # fmt: skip
        self._places = [*slots.values()]
        graph = found.graph
        for learned, gradient in zip(self._learned, graph.gradients, strict=False):
            if gradient is not None:
                _name(base_of(gradient), learned.role)
        found.let_go()
        try:
            self.plans = planned(graph, slots, weights, self.device, inductor)
        except BEYOND as error:
            raise NotTraced("all its operations together") from error
        if any(base_of(graph.outputs[place]) in inputs for place in graph.learning):
            raise NotTraced("handing on what is given")
        tangents = set(graph.tangents)
        self._results = [
            _Result(
                each.shape, each.strides, each.dtype, each.role, slot,
                None if base_of(each) in tangents else inputs.get(base_of(each)),
            )
            for each, slot in zip(graph.outputs, self.plans.results, strict=True)
        ]  # fmt: skip
        self._learning = graph.learning
        self._tangents = [
            _Result(each.shape, each.strides, each.dtype, each.role) for each in graph.tangents
        ]
        graph.forget()
        gone = {~event for event in self.plans.forward.events if event < 0}
        self._saved = [slot for slot in self.plans.forward.slots if slot not in gone]

    def run(self, leaves: Sequence[Any]) -> Any:
        """One call."""
        device, plans = self.device, self.plans
        slots: list[Handle] = [0] * plans.slots
        for place in self._places:
            slots[place] = leaves[place].storage.handle
        device.tape.play(plans.forward, slots, multiply=self._multiply)
        storages: dict[int, Storage] = {}
        results = []
        for each in self._results:
            slot = each.slot
            if slot is None:
                assert each.given is not None
                given = _tensor(each.given, leaves)
                result = Tensor(
                    device, given.storage, each.shape, each.strides, each.dtype, each.role,
                    is_view=True,
                )  # fmt: skip
            else:
                if slot not in storages:
                    storages[slot] = Storage(slots[slot], device.tape.events)
                storage = storages[slot]
                result = Tensor(device, storage, each.shape, each.strides, each.dtype, each.role)
            results.append(result)
        if plans.backward is not None:
            self._record(leaves, results, slots, storages)
        left = iter([results[place] for place in self._order])
        del results
        found = filled(self._pattern, left)
        self.kept.put(left)
        return found

    def _multiply(self, biased: bool) -> None:
        """The first matrix product of a graph, or the first that adds a bias: threads take their
        workspaces for good."""
        if biased:
            self.device.add_bias()
        elif self.device.awaits_workspace:
            self.device.multiply()

    def _record(
        self,
        leaves: Sequence[Any],
        results: list[Tensor],
        slots: list[Handle],
        storages: dict[int, Storage],
    ) -> None:
        learned = [_tensor(each.source, leaves) for each in self._learned]
        edges = tuple(None if each.node is None else (each.node, each.index) for each in learned)
        results = [results[place] for place in self._learning]
        outputs = tuple((each.shape, each.dtype, each.role) for each in results)
        shared: dict[int, Any] = {
            place: leaves[place].storage for place in self._places if place in self.plans.shared
        }
        shared |= {slot: each for slot, each in storages.items() if slot in self.plans.shared}
        node = _GraphNode(edges, outputs, next(numbers))
        node.play = partial(self._play, slots, shared)
        node.saved = [slots[slot] for slot in self._saved if slot not in storages]
        node.events = self.device.tape.events
        for index, each in enumerate(results):
            each.node, each.index = node, index

    def _play(
        self, slots: list[Handle], shared: dict[int, Any], given: list[Tensor | None]
    ) -> list[Tensor | None]:
        device, plans = self.device, self.plans
        assert plans.backward is not None
        handles = slots + [0] * (plans.slots_backward - len(slots))
        handed: dict[int, Tensor] = {}
        for slot, tangent in zip(plans.tangents, self._tangents, strict=True):
            each = given.pop(0)
            if each is None:  # nobody differentiates it: zeros
                zeros = tangent.role.made(f"zeros for {tangent.role.label}")
                name = zeros.describe(tangent.shape, tangent.dtype)
                nbytes = tangent.dtype.itemsize * prod(tangent.shape)
                handles[slot] = device.tape.alloc(nbytes, name, zeros.component)
                shared[slot] = Storage(handles[slot], device.tape.events)
            else:
                assert each.storage is not None
                handles[slot] = each.storage.handle
                shared[slot] = each.storage
                if slot in plans.gradients:  # handed on itself, where it lies as it should
                    handed[slot] = each
                land(each)
            del each
        device.tape.play(plans.backward, handles, shared, self._multiply)
        made: dict[int, Storage] = {}
        found: list[Tensor | None] = []
        for made_in, strides, to in zip(
            plans.gradients, plans.gradient_strides, self._learned, strict=True
        ):
            if made_in is None or strides is None:
                found.append(None)
                continue
            slot = made_in
            storage = shared.get(slot) or made.get(slot)  # a tangent that is handed on, or new
            if storage is None:
                storage = made[slot] = Storage(handles[slot], device.tape.events)
            same = handed.get(slot)
            if same is not None and (same.shape, same.strides) == (to.shape, strides):
                found.append(same)  # its caller may hold it: then it is copied
                continue
            found.append(Tensor(device, storage, to.shape, strides, to.dtype, to.role.gradient))
        shared.clear()
        return found


class _GraphNode(Node):
    """A compiled graph in the backward pass; where that never comes, what it saved goes with it."""

    __slots__ = ("events", "play", "saved")
    # What was saved is overwritten: donated_buffer in torch/_functorch/config.py.
    runs_once = True
    play: Callable[[list[Tensor | None]], list[Tensor | None]]
    saved: list[Handle]
    events: list[int]

    def __del__(self) -> None:
        self.events += [~handle for handle in self.saved]

    def run(self) -> list[Tensor | None]:
        """The gradients of what learns."""
        given, self.gradients = self.gradients, [None] * len(self.gradients)
        if all(each is None for each in given):
            return [None] * len(self.edges)
        self.saved = []
        return matched(self, self.play(given))


def _name(gradient: Operation, of: Role) -> None:
    """A sum over rows, say, is what it is for: the gradient of a norm's weight."""
    to = of.gradient
    if to.component is Component.GRADIENTS and gradient.role.component is not to.component:
        role = gradient.role
        gradient.role = PlacedRole(to, role.where) if isinstance(role, PlacedRole) else to


def _tensor(source: Source, leaves: Sequence[Any]) -> Tensor:
    found = source if isinstance(source, Tensor) else leaves[source]
    assert isinstance(found, Tensor)
    return found


NEWEST = Inductor()
# torch/_dynamo/config.py, recompile_limit: what is called in yet another way runs as it is.
MOST_GRAPHS = 8


class CompiledFunction:
    """``torch.compile(function)``, to be called as ``function`` is, with pretend tensors.

    ``state`` is what else its graphs depend on, such as whether a module is in training. ``host``
    is the device of tensors that are numbers (a learning rate, for one); ``name`` is what a doubt
    calls it. ``dynamic`` is as ``torch.compile``'s: unless it is False, a graph of symbolic sizes
    follows if sizes change, which is doubted and judged as one for each. ``most`` is how many
    graphs PyTorch makes of it; ``held`` are the tensors of the modules that a call reaches, by what
    it is called with.

    If the function has an operation that is not known, it is replayed as it is, eagerly, which
    hardly ever takes less, and the tape says so among its doubts.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        device: Device,
        inductor: Inductor = NEWEST,
        *,
        host: Device | None = None,
        state: Callable[[], Hashable] = lambda: None,
        name: str = "this model",
        dynamic: bool | None = False,
        most: Callable[[], int] = lambda: MOST_GRAPHS,
        held: Callable[[Sequence[Any]], Iterable[Tensor]] = lambda _: (),
    ) -> None:
        self._function = function
        self._device = device
        self._host = host
        self._inductor = inductor
        self._state = state
        self._name = name
        self._programs: dict[object, Program] = {}
        self._is_eager = False
        self._dynamic = dynamic
        self._most = most
        self._held = held
        self._ranks: Counter[object] = Counter()  # calls as they are without their sizes

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the function returns."""
        device = self._device
        if self._is_eager or device.tracer is not None:  # or inside of another compiled function
            return self._function(*arguments, **named)
        leaves = flat([arguments, named])
        key = (
            self._state(), device.grad_enabled, device.half, tuple(named),
            tuple(map(_key, leaves)),
        )  # fmt: skip
        known = self._programs.get(key)
        program = known
        if program is None or not program.settled:

            def call() -> Any:
                return self._function(*arguments, **named)

            try:
                held = set(map(id, self._held(leaves)))
                program = Program(device, call, leaves, self._inductor, self._host, held)
            except LeftAsItIs:
                self._is_eager = True
                return call()
            except NotTraced as error:
                self._is_eager = True
                is_above = isinstance(error, NotDerived)
                note = device.tape.doubt_above if is_above else device.tape.doubt
                note(
                    f"torch.compile of {error} in {self._name} is not {error.lacks}; "
                    f"nanolint counts it uncompiled{', which takes more' if is_above else ''}"
                )
                return call()
            self._programs[key] = program
            # What it sets may be what it asks for first: then the next call has another graph.
            before = known.kept.names if known is not None else frozenset()
            program.settled = program.kept.names == before
            if known is None:
                self._doubt_sizes((*key[:-1], tuple(map(_rank, leaves))))
                self._doubt_graphs()
        return program.run(leaves)

    def _doubt_graphs(self) -> None:
        """Calls of other sizes alone share a graph from the second on, unless it is forbidden."""
        most = self._most()
        of_sizes = {None: 2, True: 1}.get(self._dynamic, most + 1)
        if sum(min(calls, of_sizes) for calls in self._ranks.values()) > most:
            self._device.tape.doubt(
                f"{self._name} is called in more than {most} ways: PyTorch compiles no more"
            )

    def _doubt_sizes(self, rank: object) -> None:
        if self._dynamic is True or (self._dynamic is None and rank in self._ranks):
            # About as much as a graph for each.
            self._device.tape.assume(
                f"{self._name} is compiled for changing sizes, which nanolint does not model",
                apart=True,
            )
        self._ranks[rank] += 1


def _rank(leaf: Any) -> object:
    """What a graph of symbolic sizes is specialized for: texts and truths too, not numbers."""
    if isinstance(leaf, Tensor):
        return len(leaf.shape), leaf.dtype
    return type(leaf) if isinstance(leaf, (int, float)) and type(leaf) is not bool else _key(leaf)


def _key(leaf: Any) -> Hashable:
    """What a graph is specialized for."""
    if isinstance(leaf, Tensor):
        return leaf.shape, leaf.strides, leaf.dtype, leaf.requires_grad, id(leaf.device)
    try:
        hash(leaf)
    except TypeError:
        return id(leaf)
    return type(leaf), leaf
