"""Packages that models use: attention kernels by name, and published checkpoints of GPT-2.

Packages of attention kernels: ``kernels``, which loads them by name, and FlashAttention 3.

``transformers.GPT2LMHeadModel``: the checkpoint that a ``from_pretrained`` is compared with.

Attributes other than its state are unknown.

Names and shapes as transformers/models/gpt2/modeling_gpt2.py has them. Weights stay on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.torch.calling import native
from nanolint.interpreter.values import Class, Instance, Namespace, Native, Static
from nanolint.tensors.ops.attention_kernels import flash_attn_func
from nanolint.tensors.ops.creation import zeros

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.tensor import Tensor


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


NAME = "transformers"
CONTEXT, VOCABULARY = 1024, 50257
ORGANIZATION = "openai-community/"  # on the hub, where the models have been since 2024
HARMLESS = frozenset({"cache_dir", "local_files_only", "revision", "token", "use_safetensors"})


class Weights(dict):  # type: ignore[type-arg]
    """The state of a published checkpoint: what a program asserts of it, it asserts in the run."""

    def __missing__(self, name: Value) -> Value:
        raise certain(KeyError(name))


def library(machine: Machine, sizes: Mapping[str, tuple[int, int, int]]) -> Namespace:
    """The package, as far as it is known; ``sizes`` are layers, heads and width by name."""

    def from_pretrained(name: Value, *rest: Value, **named: Value) -> Value:
        known = sizes.get(name.removeprefix(ORGANIZATION)) if isinstance(name, str) else None
        if known is None or rest or not named.keys() <= HARMLESS:
            return machine.unknown(f"the checkpoint {name!r}")
        layers, _heads, width = known
        shapes = _shapes(layers, width)
        made = Instance(cls)
        weights = {key: _weight(machine, each) for key, each in shapes.items()}
        made.attributes["state"] = Weights(weights)
        made.opened = machine.unknown("another attribute of a GPT2LMHeadModel")
        return made

    cls = Class(
        "GPT2LMHeadModel",
        (),
        {
            "from_pretrained": Static(Native("from_pretrained", from_pretrained)),
            "state_dict": Native("state_dict", lambda made: made.attributes["state"], plain=False),
        },
        Namespace(NAME, {}),
    )
    return Namespace(NAME, {"GPT2LMHeadModel": cls})


def _weight(machine: Machine, shape: Shape) -> Tensor:
    return zeros(shape, device=machine.host)


def _shapes(layers: int, width: int) -> dict[str, Shape]:
    """The state: a linear layer is a ``Conv1D`` there, whose weight lies the other way round."""
    found: dict[str, Shape] = {
        "transformer.wte.weight": (VOCABULARY, width),
        "transformer.wpe.weight": (CONTEXT, width),
    }
    products = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, 4 * width),
        "mlp.c_proj": (4 * width, width),
    }
    for number in range(layers):
        block = f"transformer.h.{number}"
        for norm in ("ln_1", "ln_2"):
            found[f"{block}.{norm}.weight"] = found[f"{block}.{norm}.bias"] = (width,)
        for name, (rows, columns) in products.items():
            found[f"{block}.{name}.weight"] = (rows, columns)
            found[f"{block}.{name}.bias"] = (columns,)
    found["transformer.ln_f.weight"] = found["transformer.ln_f.bias"] = (width,)
    return found | {"lm_head.weight": (VOCABULARY, width)}
