"""Attention against what an H200 took: the kernel that PyTorch chose there, and what it asked for.

``validation/measure_attention.py`` measures it anew, on a card.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.tape.tape import Component, Tape, rounded
from nanolint.tape.torch import LARGE_WORKSPACE_BYTES
from nanolint.tensors.autograd import run_backward
from nanolint.tensors.device import Asked, Card, Device
from nanolint.tensors.dtypes import BOOL, DTYPES
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops.attention import scaled_dot_product_attention
from nanolint.tensors.ops.parts import split
from nanolint.tensors.ops.views import transpose, view
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import empty
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor

VALIDATION = ROOT / "validation"
TABLE = json.loads((VALIDATION / "recorded/gpu/h200-attention.json").read_text(encoding="utf-8"))
CALLS: list[dict[str, Any]] = TABLE["calls"]
WHATEVER = role("whatever", Component.ACTIVATIONS)
KERNELS = ("cudnn", "flash", "efficient", "math")
OF_ONE_QUERY = {"cudnn": 2}  # that take something else


def card(*, workspace_bytes: int) -> Device:
    """The card that was measured, with cuBLAS's workspace still to be taken, or long there."""
    major, minor = map(int, TABLE["card"]["torch"].split(".")[:2])
    generation = TABLE["card"]["compute_capability"][0]
    asked = Asked(Card(TABLE["card"]["sm_count"], 2048, generation=generation))
    return Device(Tape(), asked=asked, release=(major, minor), workspace_bytes=workspace_bytes)


def arguments(device: Device, call: dict[str, Any]) -> list[Tensor]:
    """q, k and v, laid out as those of the call."""
    batch, length, width = call["batch"], call["length"], call["width"]
    dtype = DTYPES[call["dtype"]]
    if call["layout"] == "packed" and call["heads"] == call["key_heads"]:
        whole = Parameter(device, "qkv", (batch, length, 3 * call["heads"] * width), dtype)
        whole.move()
        parts = split(whole, call["heads"] * width, 2)
        shape = (batch, length, call["heads"], width)
        return [transpose(view(each, shape), 1, 2) for each in parts]
    made = []
    for heads, rows in (
        (call["heads"], length),
        *((call["key_heads"], call["key_length"]),) * 2,
    ):
        inside = call["layout"] != "contiguous"
        shape = (batch, rows, heads, width) if inside else (batch, heads, rows, width)
        each = Parameter(device, "x", shape, dtype)
        each.move()
        made.append(transpose(each, 1, 2) if inside else each)
    return made


def taken(call: dict[str, Any], workspace_bytes: int) -> tuple[list[int], list[int]]:
    """The bytes of what is allocated in the forward and in the backward pass."""
    device = card(workspace_bytes=workspace_bytes)
    q, k, v = arguments(device, call)
    mask = None
    if call["mask"]:
        dtype = BOOL if call["mask"] == "bool" else q.dtype
        mask = empty(device, (call["length"], call["key_length"]), dtype, WHATEVER)
    start = len(device.tape.sizes)
    with ExitStack() as stack:
        if not call["backward"]:
            stack.enter_context(device.no_grad())
        out = scaled_dot_product_attention(
            *(q, k, v, mask, call["dropout"], call["causal"]),
            enable_gqa=call["heads"] != call["key_heads"],
        )
    forward = device.tape.sizes[start:]
    if not call["backward"]:
        return forward, []
    quiet = Device(Tape())
    gradient = empty(quiet, out.shape, out.dtype, WHATEVER, like_strides(out.shape, out.strides))
    gradient.device = device
    start = len(device.tape.sizes)
    run_backward(out, gradient)
    return forward, device.tape.sizes[start:]


def measured(events: list[int] | bool) -> list[int]:
    """The same of what was measured."""
    return [] if isinstance(events, bool) else [rounded(each) for each in events if each >= 0]


def differs(call: dict[str, Any]) -> bool:
    """Whether nanolint has the call take something else; what autograd makes of the gradients
    behind it was not measured. A process's first products take cuBLAS's workspace."""
    wanted = measured(call["forward"]), measured(call["backward"])
    for workspace_bytes in (0, LARGE_WORKSPACE_BYTES):
        forward, backward = taken(call, workspace_bytes)
        if (forward, backward[: len(wanted[1])]) == wanted:
            return False
    return True


@pytest.mark.parametrize("kernel", KERNELS)
def test_attention_takes_what_it_took_on_the_card(kernel: str) -> None:
    calls = [each for each in CALLS if each["kernel"] == kernel]
    assert calls
    wrong = [call for call in calls if differs(call)]
    assert [call for call in wrong if not is_of_one_query(call)] == []
    assert len(wrong) == OF_ONE_QUERY.get(kernel, 0)


def is_of_one_query(call: dict[str, Any]) -> bool:
    """As text is generated: cuDNN has another kernel for it, of which nanolint has no formula."""
    return bool(call["kernel"] == "cudnn" and call["length"] == 1)
