"""``torch.LongTensor`` and its like: types that make a tensor of the host's when they are called.

As legacy_tensor_ctor in torch/csrc/utils/tensor_new.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import TENSOR, TensorClass, Unknown
from nanolint.tensors.dtypes import DTYPES, FLOAT32
from nanolint.tensors.refusing import NAMES

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

_OF_ONE_TYPE = {f"{named}Tensor": DTYPES[dtype] for dtype, named in NAMES.items()}


def classes() -> dict[str, TensorClass]:
    """The types by their names; ``torch.Tensor`` is of any."""
    of_one = {name: TensorClass(name, dtype) for name, dtype in _OF_ONE_TYPE.items()}
    return {"Tensor": TENSOR, **of_one}


def construct(
    machine: Machine, kind: TensorClass, given: list[Value], named: dict[str, Value]
) -> Value:
    """``torch.LongTensor(rows, columns)``, which is empty, or of the numbers that are passed."""
    if named:
        raise machine.unread(f"a torch.{kind.name} of {', '.join(named)} is not known")
    sizes = all(type(each) is int for each in given)
    if not sizes and len(given) == 1 and isinstance(given[0], Unknown):
        return given[0]
    torch = machine.load("torch").names
    return machine.call(
        torch["empty" if sizes else "tensor"], list(given), {"dtype": kind.dtype or FLOAT32}
    )
