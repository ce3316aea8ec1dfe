"""Functions that a script has called when the gradient of a parameter comes.

torch/csrc/autograd: ``call_tensor_pre_hooks`` of engine.cpp, functions/accumulate_grad.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, Unknown
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def before(machine: Machine, x: Tensor, hook: Value) -> Value:
    """``x.register_hook``: called with the gradient, it may return another one."""
    if not isinstance(x.node, Leaf):
        raise machine.unread("nanolint does not model a hook of a tensor that is not a parameter")

    def run(gradient: Tensor) -> Tensor | None:
        made = machine.call(hook, [gradient])
        if isinstance(made, Unknown):
            raise made.unread()
        return made if isinstance(made, Tensor) else None

    return _handle(x.node.before, run)


def after(machine: Machine, x: Tensor, hook: Value) -> Value:
    """``x.register_post_accumulate_grad_hook``: called with the parameter."""
    if not isinstance(x.node, Leaf):
        raise machine.unread(
            "nanolint does not model a hook after the gradient of a tensor that is not a parameter"
        )
    return _handle(x.node.after, lambda: machine.call(hook, [x]))


def _handle(hooks: list[Any], hook: Callable[..., Any]) -> Namespace:
    hooks.append(hook)

    def remove() -> None:
        if hook in hooks:
            hooks.remove(hook)

    return Namespace("hook", {"remove": Native("remove", remove, plain=False)})
