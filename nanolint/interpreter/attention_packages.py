"""Packages of attention kernels: ``kernels``, which loads them by name, and FlashAttention 3.

``Weights`` is the state of a published checkpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.torch.calling import native
from nanolint.interpreter.values import Namespace, Native
from nanolint.tensors.ops.attention_kernels import flash_attn_func

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def table(machine: Machine) -> dict[str, Value]:
    """The modules by their names."""
    functions = {"flash_attn_func": native(machine, "flash_attn_func", flash_attn_func)}
    three = Namespace("flash_attn_interface", functions)

    def get_kernel(name: Value = None, *_: Value, **__: Value) -> Value:
        if not _is_three(name):
            raise machine.unread(f"the kernel {name} is not known")
        if machine.trying:
            machine.assume("FlashAttention 3 is taken to be installed, by the package kernels")
        return Namespace("kernel", {**functions, "flash_attn_interface": three})

    return {
        "flash_attn_interface": three,
        "kernels": Namespace(
            "kernels",
            {
                "get_kernel": Native("get_kernel", get_kernel),
                "has_kernel": Native("has_kernel", lambda name, *_, **__: _is_three(name)),
            },
        ),
    }


def _is_three(name: Value) -> bool:
    text = str(name).lower().replace("-", "").replace("_", "")
    return text.endswith(("flashattn3", "flashattention3"))


class Weights(dict):  # type: ignore[type-arg]
    """The state of a published checkpoint: what a program asserts of it, it asserts in the run."""

    def __missing__(self, name: Value) -> Value:
        raise certain(KeyError(name))
