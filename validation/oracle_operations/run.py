"""What PyTorch allocates for each case: read from standard input, written to standard output.

With "compiled" as its argument each case is compiled first, for itself. Runs in a CUDA build of
PyTorch on nanolint's card that only counts; see record_operations.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # the root of the repository

import torch
import torch.nn.functional as F  # noqa: N812 - as models write it
import torch.utils.checkpoint

from nanolint.trace.child import compiling
from validation.operations import function_of

COMPILED = "compiled" in sys.argv[1:]


def main() -> None:
    """One JSON list in, one out."""
    cases = json.load(sys.stdin)
    if COMPILED:
        compiling.without_kernels()
    _warm_up()
    json.dump([case for case in cases if _is_recorded(case)], sys.stdout)
    sys.stdout.flush()
    os._exit(0)


def _is_recorded(case: dict[str, Any]) -> bool:
    """Put the events into ``case``; what torch refuses is no case, and is told."""
    try:
        case["events"] = _record(case)
    except Exception as error:
        print(case["name"], case["mode"], case["inputs"], repr(error)[:200], file=sys.stderr)
        return False
    return True


def _warm_up() -> None:
    """Each thread's first matrix product takes cuBLAS's workspaces."""
    for _ in range(2):
        x = torch.empty(64, 64, device="cuda", requires_grad=True)
        bias = torch.empty(64, device="cuda", requires_grad=True)
        F.linear(F.linear(x, x, bias), x).sum().backward()


def _inputs(case: dict[str, Any]) -> dict[str, torch.Tensor]:
    found = {}
    for name, (shape, order, dtype, learns) in case["inputs"].items():
        whole = torch.empty(shape, dtype=getattr(torch, dtype), device="cuda", requires_grad=learns)
        found[name] = whole.permute(order) if order != sorted(order) else whole
    return found


@contextlib.contextmanager
def _mode(mode: str) -> Any:
    with contextlib.ExitStack() as stack:
        if "no_grad" in mode:
            stack.enter_context(torch.no_grad())
        if "autocast" in mode:
            stack.enter_context(torch.autocast("cuda", torch.bfloat16))
        yield


def _record(case: dict[str, Any]) -> list[list[Any]]:
    """Forward, then backward from the gradient of the result, which goes behind it."""
    inputs = _inputs(case)
    function = function_of(case, {"torch": torch, "F": F})
    if COMPILED:
        torch._dynamo.reset()
        function = torch.compile(function, dynamic=False)
    with _mode(case["mode"]):
        out = function(**inputs)
    gradient = torch.empty_like(out) if out.requires_grad else None
    if COMPILED and gradient is not None:
        out.backward(gradient)
        for each in inputs.values():
            each.grad = None
        inputs = _inputs(case)
    out = None
    torch.cuda.memory._record_memory_history(enabled="all", context=None, clear_history=True)
    with _mode(case["mode"]):
        out = function(**inputs)
    if gradient is not None:
        out.backward(gradient)
    out = None
    entries = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    count, live, events = 0, {}, []
    for entry in entries:
        address = entry["addr"]
        if entry["action"] == "alloc":
            live[address] = count
            events.append([count, entry["size"]])
            count += 1
        elif entry["action"] == "free_requested" and address in live:
            events.append([live.pop(address)])
    return events


if __name__ == "__main__":
    main()
