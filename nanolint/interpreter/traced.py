"""Layers that are alike, in a graph that is traced: two are, and all others are copied.

The first call of a layer may hand in what all of them look at; so it is the second one that others
are copied from, if it does nothing but compute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.values import READ
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from nanolint.interpreter.forms import Form
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.steady import Constant
    from nanolint.interpreter.values import Value
    from nanolint.tensors.tracing import Layer


class _Known(NamedTuple):
    """What is known of a kind of call: what has to stand, and the one that others are copied from,
    with the number of calls of functions before it, and in it."""

    constants: list[Constant]
    layer: Layer | None = None
    before: int = 0
    calls: int = 0


class Given(NamedTuple):
    """The arguments of a layer: their ``form``, and the tensors that others are called with."""

    form: Hashable
    shared: list[Tensor]

    @classmethod
    def of(cls, x: Tensor, more: Iterable[Value], form: Form) -> Given:
        """Raises Unlike."""
        shared: list[Tensor] = []
        like = x.shape, x.strides, x.dtype, x.role.unplaced, x.is_view, x.requires_grad
        return cls((like, *[_taken_apart(each, shared, form) for each in more]), shared)


def _taken_apart(value: Value, shared: list[Tensor], form: Form) -> Hashable:
    """What of ``value`` is alike; its tensors are ``shared``. No function within another: one that
    calls itself would hold them for good."""
    if isinstance(value, Tensor):
        shared.append(value)
        return id(value)
    if type(value) is tuple:
        return tuple([_taken_apart(each, shared, form) for each in value])
    return form.of(value)


def call(
    machine: Machine,
    key: object,
    x: Tensor,
    tensors: list[Tensor],
    shared: list[Tensor],
    read: Callable[[], Value],
    watched: Callable[[Callable[[], Value]], tuple[Value, list[Constant] | None]],
) -> Value:
    """Returns the result of a layer that holds these ``tensors``: by ``read`` if others cannot
    tell, else READ.

    Others of its ``key`` are called with ``shared``, too. ``watched`` tells what a reading asks of
    its modules that may change.
    """
    tracer = machine.card.tracer
    known: dict[object, _Known | None] = tracer.layers
    if key not in known:
        known[key] = None
        out, constants = watched(read)
        known[key] = None if constants is None else _Known(constants)
        return out
    of = known[key]
    if of is None or not all(each.stands for each in of.constants):
        return READ
    if of.layer is None:
        known[key] = None
        layer: Layer = tracer.layer(x, tensors, shared)
        before = machine.calls
        out = read()
        if layer.ends(out):
            known[key] = _Known(of.constants, layer, before, machine.calls - before)
        return out
    copied = of.layer.copy(x, tensors, machine.calls - of.before)
    if copied is None:
        return READ
    machine.calls += of.calls
    return copied
