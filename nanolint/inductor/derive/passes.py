"""Trace a model's forward and backward pass into one graph, as AOTAutograd does.

The model's own statements run on tensors that hold operations instead of memory. The pretend
autograd runs its backward pass on them as well, so that the joint graph has PyTorch's own order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.alike import Layered
from nanolint.inductor.derive.attributes import restore
from nanolint.tensors.autograd import numbers, run_graph
from nanolint.tensors.gradients import take_off
from nanolint.tensors.layout import like_strides
from nanolint.tensors.tensor import Node, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.device import Device


class _Root(Node):
    """Hands the gradients of all outputs to a backward pass."""

    def __init__(self, outputs: list[Tensor], tangents: list[Tensor]) -> None:
        edges = tuple((each.node, each.index) for each in outputs if each.node is not None)
        super().__init__(edges, (), next(numbers))
        self._tangents: list[Tensor] = tangents

    def run(self) -> list[Tensor | None]:
        """The gradients, once."""
        made: list[Tensor | None] = [*self._tangents]
        self._tangents = []
        for each in made:
            if each is not None:
                take_off(each)
        return made


def capture(
    device: Device,
    forward: Callable[[], Sequence[Tensor]],
    given: Sequence[Tensor],
    formulas: Formulas,
    host: Device | None = None,
) -> Capture:
    """The graph of ``forward``, and of its backward pass where something learns.

    ``given`` are the tensors that it is called with; numbers on the ``host`` are part of it.
    Raises NotTraced where an operation is not known.
    """
    tracer = Layered(device, formulas, given)
    casts, device.casts = device.casts, {}
    both = [each for each in (device, host) if each is not None]
    for each in both:
        each.tracer = tracer
    try:
        outputs = list(forward())
        tracer.graph.outputs = [tracer.result(each) for each in outputs]
        tracer.write_back()
        differentiable = [each for each in outputs if each.node is not None]
        if device.grad_enabled and tracer.learned and differentiable:
            tangents = [
                Tensor(device, None, each.shape, like_strides(each.shape, each.strides),
                       each.dtype, each.role.gradient)
                for each in differentiable
            ]  # fmt: skip
            tracer.graph.tangents = [tracer.of(each) for each in tangents]
            tracer.graph.learning = [
                place for place, each in enumerate(outputs) if each.node is not None
            ]
            run_graph(_Root(differentiable, [*tangents]), device)
            tracer.graph.gradients = [tracer.gradient_of(each) for each in tracer.learned]
    except BaseException:
        restore(tracer.attributes.before())
        raise
    finally:
        for each in both:
            each.tracer = None
        device.casts = casts
        tracer.restore()
    return tracer
