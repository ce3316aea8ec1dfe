"""``torch.compile``: a function whose graphs are derived from its own operations.

The first call with tensors of new shapes traces the function, and each call plays the memory plans
that follow. What is called may be a model, a block of one, or a step of an optimizer that writes
into its arguments.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.program import Program
from nanolint.inductor.derive.results import flat
from nanolint.inductor.inductor import Inductor
from nanolint.tensors.device import LeftAsItIs, NotDerived, NotTraced
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from nanolint.tensors.device import Device

NEWEST = Inductor()
# torch/_dynamo/config.py, recompile_limit: what is called in yet another way runs as it is.
MOST_GRAPHS = 8


class CompiledFunction:
    """``torch.compile(function)``, to be called as ``function`` is, with pretend tensors.

    ``state`` is what else its graphs depend on, such as whether a module is in training.
    ``host`` is where tensors lie that are numbers (a learning rate, for one); ``name`` is what a
    doubt calls it. ``dynamic`` is as ``torch.compile``'s: unless it is False, a graph of symbolic
    sizes follows where sizes change, which is doubted and judged as one for each. ``most`` is how
    many graphs PyTorch makes of it; ``held`` are the tensors of the modules that a call reaches,
    by what it is called with.

    Where the function has an operation that is not known, it is replayed as it is, eagerly, which
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
