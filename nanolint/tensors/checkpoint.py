"""Activation checkpointing: what a function saves is dropped, and made again when it is asked for.

As torch/utils/checkpoint.py. Without reentry the function's operations stay in the graph, each with
a place for what it saved; the first that runs backward has the whole function run again, up to the
last tensor that was saved. With reentry the function is one node, whose backward pass runs the
function and a backward pass of its own. The state of random numbers is kept on the host.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import ref

from nanolint.tape.torch import CHECKPOINTS_COMPILED_SINCE
from nanolint.tensors.autograd import Leaf, record_all, run_backward_from
from nanolint.tensors.device import NotTraced
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.tensors.device import Device


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    device: Device,
    use_reentrant: bool = True,
    **options: Any,
) -> Any:
    """``torch.utils.checkpoint.checkpoint``: what ``function`` returns for these arguments.

    ``device`` is the card whose autograd it is. Exceptions of ``function`` go through; code that it
    runs must let ``Stop`` go through as well.
    """
    options.pop("preserve_rng_state", None)
    options.pop("determinism_check", None)
    options.pop("debug", None)
    if not device.grad_enabled:
        return function(*args, **options)
    if device.tracer is not None:  # its graph's partition decides what is made again
        if device.release < CHECKPOINTS_COMPILED_SINCE:
            raise NotTraced("activation checkpointing")
        with device.tracer.region():
            return function(*args, **options)
    if use_reentrant:
        return _reentrant(function, args, device)
    frame = _Frame(lambda: function(*args, **options), device)
    with device.saving(_Dropping(frame)):
        return function(*args, **options)


def checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int,
    x: Any,
    *,
    device: Device,
    use_reentrant: bool = True,
    **options: Any,
) -> Any:
    """``torch.utils.checkpoint.checkpoint_sequential``: the last segment is not checkpointed."""
    if device.tracer is not None:
        raise NotTraced("checkpoint_sequential")
    size = len(functions) // segments
    for number in range(segments - 1):
        part = functions[number * size : (number + 1) * size]
        x = checkpoint(_in_turn(part), x, device=device, use_reentrant=use_reentrant, **options)
    return _in_turn(functions[(segments - 1) * size :])(x)


def _in_turn(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return run


class Stop(BaseException):
    """All that was saved is there again: the rest of the function need not run."""


class _Frame:
    """A call that was checkpointed: the places of the tensors that it saved, which go with their
    operations, and those tensors that were made again."""

    def __init__(self, call: Callable[[], Any], device: Device) -> None:
        self.call = call
        self.device = device
        self.half = device.half
        self.places: list[ref[_Places]] = []
        self.again: dict[int, Tensor] | None = None

    def take(self, number: int) -> Tensor:
        """A saved tensor, which the caller alone holds from now on."""
        if self.again is None:
            self.again = {}
            self._run_again()
        return self.again.pop(number)

    def _run_again(self) -> None:
        device = self.device
        before, device.grad_enabled = device.grad_enabled, True
        try:
            with device.saving(_Keeping(self)), device.autocast(self.half):
                self.call()
        except Stop:
            pass
        finally:
            device.grad_enabled = before


class _Places:
    """What stands in an operation for the tensors that it saved."""

    def __init__(self, frame: _Frame, numbers: tuple[int | None, ...]) -> None:
        self._frame = frame
        self._numbers = numbers

    def unpack(self) -> tuple[Tensor | None, ...]:
        """The tensors, made again."""
        frame = self._frame
        return tuple(None if each is None else frame.take(each) for each in self._numbers)


class _Dropping:
    """Takes what operations save, and keeps only how many there were."""

    def __init__(self, frame: _Frame) -> None:
        self._frame = frame

    def save(
        self, saved: tuple[Tensor | None, ...], _outs: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...] | _Places:
        """A place for each tensor."""
        if not any(each is not None for each in saved):
            return saved
        known = self._frame.places
        numbers = count(len(known))
        made = _Places(
            self._frame, tuple(None if each is None else next(numbers) for each in saved)
        )
        known += [ref(made) for each in saved if each is not None]
        return made


class _Keeping:
    """Takes what operations save when they run again. Raises Stop at the last."""

    def __init__(self, frame: _Frame) -> None:
        self._frame = frame
        self._count = 0

    def save(
        self, saved: tuple[Tensor | None, ...], outs: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...]:
        """The tensors, which the graph holds, too, until the function is stopped; those whose
        operations nobody has any more are not kept."""
        frame = self._frame
        assert frame.again is not None
        for each in saved:
            if each is not None:
                if frame.places[self._count]() is not None:
                    frame.again[self._count] = each.detach()
                self._count += 1
        if self._count == len(frame.places):
            if not any(_is_made(each, outs) for each in saved):
                _unmake(outs)
            raise Stop
        return saved


def _is_made(saved: Tensor | None, outs: Sequence[Tensor]) -> bool:
    """Whether an operation made what it saves: then it has run before it is stopped."""
    if saved is None or saved.storage is None:
        return False
    made = outs[0].storage
    return made is not None and saved.storage.handle >= made.handle


def _unmake(outs: Sequence[Tensor]) -> None:
    """An operation that saves its inputs alone saves them before it runs: it never did."""
    first = outs[0]
    if first.storage is not None and not first.is_view:
        first.device.unmake([each.storage for each in outs if each.storage is not None])


def _reentrant(function: Callable[..., Any], args: tuple[Any, ...], device: Device) -> Any:
    half = device.half
    with device.no_grad():
        found = function(*args)
    outs = found if isinstance(found, (tuple, list)) else (found,)
    tensors = [each for each in args if isinstance(each, Tensor)]
    learns = [each.requires_grad for each in tensors]
    places = [isinstance(each, Tensor) for each in args]
    others = [each for each in args if not isinstance(each, Tensor)]
    results = len(outs)

    def backward(*values: Any) -> list[Tensor | None]:
        gradients, saved = values[:results], values[results:]
        rest, tensors = (
            iter(others),
            iter([_leaf(*each) for each in zip(saved, learns, strict=True)]),
        )
        arguments = [next(tensors if each else rest) for each in places]
        before, device.grad_enabled = device.grad_enabled, True
        try:
            with device.autocast(half):
                again = function(*arguments)
        finally:
            device.grad_enabled = before
        remade = again if isinstance(again, (tuple, list)) else (again,)
        run_backward_from(remade, gradients)
        return [
            each.node.gradient if isinstance(each.node, Leaf) else None
            for each in arguments
            if isinstance(each, Tensor)
        ]

    record_all([each for each in outs if isinstance(each, Tensor)], tensors, backward, *tensors)
    return found


def _leaf(saved: Tensor, learns: bool) -> Tensor:
    """``detach_variable``: the argument again, as a tensor whose gradient is kept."""
    found = saved.detach()
    if learns:
        found.node = Leaf(found)
    return found
