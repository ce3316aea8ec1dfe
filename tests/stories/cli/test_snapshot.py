"""``explain --snapshot``: a memory snapshot as PyTorch writes it, of a run that nobody has run."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import nanolint
from tests.support.sizes import MODEL

CONFIG = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL

# The opcodes that the viewer of pytorch.org/memory_viz reads (torch/utils/viz/MemoryViz.js).
VIEWER_READS = {
    *("PROTO", "FRAME", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "MARK", "APPEND", "APPENDS"),
    *("SETITEM", "SETITEMS", "MEMOIZE", "BINGET", "LONG_BINGET", "BININT", "BININT1", "BININT2"),
    *("LONG1", "SHORT_BINUNICODE", "BINUNICODE", "NEWTRUE", "NEWFALSE", "NONE", "BINFLOAT"),
    *("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "STOP"),
}


def snapshot(gpu: str, *options: str) -> dict[str, Any]:
    Path("config.py").write_text(CONFIG, encoding="utf-8")
    outcome = nanolint("explain", "config.py", f"--gpu={gpu}", "--snapshot=run.pickle", *options)
    assert (outcome.status, outcome.out) == (0, "")
    with Path("run.pickle").open("rb") as file:
        loaded: dict[str, Any] = WithoutClasses(file).load()
    return loaded


class WithoutClasses(pickle.Unpickler):
    """Reads what has no class in it, as a Python without nanolint has none."""

    def find_class(self, module: str, name: str) -> Any:
        raise AssertionError(f"{module}.{name}")


def explained(gpu: str, *options: str) -> dict[str, Any]:
    outcome = nanolint("explain", "config.py", f"--gpu={gpu}", "--format=json", *options)
    answer: dict[str, Any] = json.loads(outcome.out)
    return answer


def followed(trace: list[dict[str, Any]]) -> tuple[int, int]:
    """The most that is allocated and reserved at once, with no two tensors at one place."""
    live: dict[int, int] = {}
    segments: dict[int, int] = {}
    allocated = reserved = 0
    for entry in trace:
        address, size = entry["addr"], entry["size"]
        match entry["action"]:
            case "alloc":
                assert address not in live
                assert any(a <= address and address + size <= a + n for a, n in segments.items())
                live[address] = size
            case "free_completed":
                assert live.pop(address) == size
            case "segment_alloc":
                segments[address] = size
            case "segment_free":
                assert segments.pop(address) == size
        allocated = max(allocated, sum(live.values()))
        reserved = max(reserved, sum(segments.values()))
    return allocated, reserved


def test_it_holds_the_peaks_that_explain_tells() -> None:
    found = snapshot("a100-40gb")
    allocated, reserved = followed(found["device_traces"][0])
    peak = explained("a100-40gb")["peak"]
    assert (allocated, reserved) == (peak["allocated_bytes"], peak["reserved_bytes"])


def test_the_segments_are_full_of_blocks() -> None:
    found = snapshot("a100-40gb")
    live = {entry["addr"] for entry in found["device_traces"][0] if entry["action"] == "alloc"}
    for segment in found["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at
            assert block["state"] == "inactive" or at in live
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]


def test_a_run_that_fails_ends_with_pytorchs_error() -> None:
    found = snapshot("rtx-3060-12gb")
    last = found["device_traces"][0][-1]
    oom = explained("rtx-3060-12gb")["oom"]
    assert last["action"] == "oom"
    assert (last["size"], last["device_free"]) == (oom["requested_bytes"], oom["free_bytes"])
    assert last["frames"][0]["name"] == oom["at"]


def test_tensors_are_told_in_place_of_the_stack() -> None:
    trace = snapshot("a100-40gb")["device_traces"][0]
    stacks = {tuple(frame["name"] for frame in entry["frames"]) for entry in trace}
    assert ("logits (B*T, V) bfloat16", "logits and loss", "forward") in stacks


def test_expandable_segments_are_said_to_be_so() -> None:
    found = snapshot("a100-40gb", "--allocator=expandable")
    assert all(segment["is_expandable"] for segment in found["segments"])


@pytest.mark.cuda_torch
def test_pytorchs_own_tools_take_it() -> None:
    python = os.environ.get("NANOLINT_CUDA_PYTHON")
    if not python:
        pytest.skip("NANOLINT_CUDA_PYTHON names no interpreter")
    snapshot("a100-40gb")
    # The file alone: torch itself does not start where NVIDIA's libraries are missing.
    script = (
        "import pickle\n"
        "from importlib.util import find_spec, module_from_spec, spec_from_file_location\n"
        "(folder,) = find_spec('torch').submodule_search_locations\n"
        "spec = spec_from_file_location('viz', folder + '/cuda/_memory_viz.py')\n"
        "viz = module_from_spec(spec)\n"
        "spec.loader.exec_module(viz)\n"
        "found = pickle.load(open('run.pickle', 'rb'))\n"
        "print(viz.segsum(found)); print(viz.trace(found))\n"
        "assert 'snapshot.pickle' in viz.trace_plot(found)\n"
        "assert 'snapshot.pickle' in viz.segment_plot(found)\n"
    )
    run = subprocess.run(
        [python, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
