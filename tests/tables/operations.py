"""What validation/operations.py asks torch, asked of the pretend tensors: the same expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from nanolint.inductor.derive.program import CompiledFunction
from nanolint.inductor.inductor import Inductor
from nanolint.tape.tape import Component, Tape, rounded
from nanolint.tape.torch import (
    DEFAULT_SM_COUNT,
    keeps_workspace,
    passing_bias_workspace_bytes,
    workspace_bytes,
)
from nanolint.tensors.autograd import run_backward
from nanolint.tensors.checkpoint import checkpoint, checkpoint_sequential
from nanolint.tensors.device import Asked, Card, Device
from nanolint.tensors.dtypes import BFLOAT16, DTYPES
from nanolint.tensors.layout import like_strides
from nanolint.tensors.names import ATTRIBUTES, FUNCTIONAL, FUNCTIONS, LINALG, METHODS, call
from nanolint.tensors.ops import views
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from validation.operations import function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.operations import Case

RECORDED_WITH = (2, 13)
WHATEVER = role("whatever", Component.ACTIVATIONS)


class Value:
    """A pretend tensor with the methods and operators that PyTorch's have."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __getattr__(self, name: str) -> Any:
        if name in ATTRIBUTES:
            return wrapped(ATTRIBUTES[name](self.tensor))
        method = METHODS[name]
        return lambda *args, **options: called(method, self.tensor.device, (self, *args), options)


def _operator(name: str) -> Callable[..., Any]:
    method = METHODS[name]
    return lambda *args: called(method, args[0].tensor.device, args, {})


for _name in METHODS:
    if _name.startswith("__"):
        setattr(Value, _name, _operator(_name))


class Namespace:
    """``torch`` or ``torch.nn.functional``."""

    def __init__(self, functions: dict[str, Any], device: Device) -> None:
        self._functions = functions
        self._device = device

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return DTYPES[name]
        if name == "linalg":
            return Namespace(LINALG, self._device)
        if name == "utils":
            checkpointing = SimpleNamespace(
                checkpoint=self._checkpoint, checkpoint_sequential=self._sequential
            )
            return SimpleNamespace(checkpoint=checkpointing)
        if name == "no_grad":
            return self._device.no_grad
        function = self._functions[name]
        return lambda *args, **options: called(function, self._device, args, options)

    def _sequential(
        self, functions: list[Callable[..., Any]], segments: int, x: Any, **options: Any
    ) -> Any:
        def called(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda x: bare(function(wrapped(x)))

        parts = [called(each) for each in functions]
        return wrapped(
            checkpoint_sequential(parts, segments, bare(x), device=self._device, **options)
        )

    def _checkpoint(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        def run(*args: Any) -> Any:
            return bare(function(*map(wrapped, args)))

        return wrapped(checkpoint(run, *map(bare, args), device=self._device, **options))


def called(
    function: Callable[..., Any], device: Device, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    return wrapped(
        call(function, bare(args), {key: bare(each) for key, each in options.items()}, device)
    )


def bare(value: Any) -> Any:
    if isinstance(value, Value):
        return value.tensor
    if isinstance(value, (tuple, list)):
        return type(value)(bare(each) for each in value)
    return value


def wrapped(value: Any) -> Any:
    if isinstance(value, Tensor):
        return Value(value)
    if isinstance(value, (tuple, list)) and any(isinstance(each, Tensor) for each in value):
        if hasattr(value, "_fields"):
            return type(value)(*map(Value, value))
        return type(value)(Value(each) for each in value)
    if isinstance(value, Iterator):
        return map(Value, value)
    return value


def entries(case: Case) -> list[Any]:
    """Allocations in order, and between two the releases."""
    return _entries(case, Device(Tape()))


def entries_of(case: Case, release: tuple[int, int]) -> list[Any]:
    """The same by the facts of a release, where each thread has multiplied before."""
    return _entries(case, device_of(release))


def device_of(release: tuple[int, int]) -> Device:
    """The card that the cases are recorded on, by a release."""
    keeps = keeps_workspace(release)
    return Device(
        Tape(),
        asked=Asked(Card(DEFAULT_SM_COUNT, 2048)),
        release=release,
        workspace_bytes=0 if keeps else workspace_bytes(release, None),
        keeps_workspace=keeps,
        passing_bias_bytes=passing_bias_workspace_bytes(release),
    )


def derived(case: Case, release: tuple[int, int] = RECORDED_WITH) -> tuple[list[Any], list[str]]:
    """The same of the compiled operation, and what is doubted of it."""
    device = device_of(release)
    found = _entries(case, device, compiles=Inductor.of(release, device.capability))
    return found, device.tape.doubts


def _entries(case: Case, device: Device, *, compiles: Inductor | None = None) -> list[Any]:
    inputs = {name: Value(_input(device, *each)) for name, each in case["inputs"].items()}
    start = device.tape.mark()
    names = {"torch": Namespace(FUNCTIONS, device), "F": Namespace(FUNCTIONAL, device)}
    function = function_of(case, names)
    if compiles is not None:
        function = _compiled(function, device, compiles)
    with ExitStack() as stack:
        if "no_grad" in case["mode"]:
            stack.enter_context(device.no_grad())
        if "autocast" in case["mode"]:
            stack.enter_context(device.autocast(BFLOAT16))
        out = bare(function(**inputs))
    if out.requires_grad:
        quiet = Device(Tape())
        gradient = empty(
            quiet, out.shape, out.dtype, WHATEVER, like_strides(out.shape, out.strides)
        )
        gradient.device = device
        run_backward(out, gradient)
    del out
    events = device.tape.events[start.events :]
    sizes = device.tape.sizes
    return grouped(
        [
            (each - start.allocations, sizes[each]) if each >= 0 else (~each - start.allocations,)
            for each in events
        ]
    )


def _compiled(
    function: Callable[..., Any], device: Device, inductor: Inductor
) -> Callable[..., Any]:
    def bared(tensors: dict[str, Tensor]) -> Any:
        return bare(function(**{name: Value(each) for name, each in tensors.items()}))

    compiled = CompiledFunction(bared, device, inductor)
    return lambda **given: compiled({name: each.tensor for name, each in given.items()})


def _input(device: Device, shape: list[int], order: list[int], dtype: str, learns: bool) -> Tensor:
    whole = tuple(shape)
    if learns:
        parameter = Parameter(device, "x", whole, DTYPES[dtype])
        parameter.move()
        made: Tensor = parameter
    else:
        made = empty(device, whole, DTYPES[dtype], WHATEVER)
    return views.permute(made, order) if order != sorted(order) else made


def recorded_entries(case: Case) -> list[Any]:
    """The same of what was recorded."""
    return grouped([(each[0], *map(rounded, each[1:])) for each in case["events"]])


def grouped(events: list[tuple[int, ...]]) -> list[Any]:
    found: list[Any] = []
    released: list[int] = []
    for event in events:
        if len(event) == 1:
            released.append(event[0])
            continue
        if released:
            found.append(sorted(released))
            released = []
        found.append(event)
    return [*found, sorted(released)]
