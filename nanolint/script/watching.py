"""Profilers, ranges and events of a stream, which take nothing from the allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native, silent
from nanolint.script.training import read_text

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    untold = Native("untold", machine.unknown, plain=False)
    text = read_text(machine, "watching.py", "watching", {"untold": untold}).names
    watch, quiet = text["Watch"], silent("watch")
    machine.library("torch.cuda").names["Event"] = watch
    of_profiler: dict[str, Value] = {
        **dict.fromkeys(("profile", "record_function", "emit_nvtx"), watch),
        **dict.fromkeys(("schedule", "tensorboard_trace_handler"), quiet),
        "ProfilerActivity": text["Activity"],
    }
    of_nvtx = {**dict.fromkeys(("range_push", "range_pop", "mark"), quiet), "range": watch}
    modules = {
        "torch.profiler": of_profiler,
        "torch.autograd.profiler": of_profiler,
        "torch.cuda.nvtx": of_nvtx,
        "torch.cuda.profiler": dict.fromkeys(("start", "stop"), quiet),
    }
    return {name: Namespace(name, dict(names)) for name, names in modules.items()}
