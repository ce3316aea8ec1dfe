"""Run the script until its optimizers have stepped, then tell what the allocator did."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import gc
import importlib.util
import json
import linecache
import os
import pickle
import resource
import runpy
import site
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from . import report

LONGEST_LINE = 100
ENDED = {"type": "SystemExit", "message": "0", "place": None}
COMPILED = "torch.compile's code"
WRITTEN_BY_TORCH = "_remote_module_non_scriptable.py"  # up to 2.9, into a folder of its own


def main(text: str) -> None:
    """``text`` is JSON: see ``nanolint.trace.process.Tracer``. Leaves by ``os._exit``."""
    request: dict[str, Any] = json.loads(text)
    report.open_pipe(request["answer"])
    _find_torch(request["path"])
    if request.get("find"):
        report.line(torch=getattr(importlib.util.find_spec("torch"), "origin", None))
        os._exit(0)
    try:
        import torch
    except ImportError as error:
        report.line(failed=f"import torch: {error}")
        os._exit(1)
    start = time.perf_counter()
    os.chdir(request["folder"])
    if not torch.cuda.is_available():
        report.line(failed=f"torch {torch.__version__} does not accept the pretended card")
        os._exit(1)
    refusal = _choose_kernels(torch)
    if refusal is not None:
        report.line(failed=refusal)
        os._exit(1)
    answer = _trace(request)
    answer["seconds"] = round(time.perf_counter() - start, 2)
    answer["cpu_seconds"] = round(time.process_time(), 2)
    answer["host_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    report.line(traced=answer)
    with contextlib.suppress(OSError, ValueError):  # closed by the script
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)  # without the teardown of a CUDA that was never there


def _find_torch(path: list[str]) -> None:
    """Have ``import torch`` find what it finds without ``-I``, which leaves out the user's own
    packages and PYTHONPATH; no module of the project hides one of torch's or the library's."""
    if sys.base_prefix in site.PREFIXES:  # no environment of its own
        site.addsitedir(site.getusersitepackages())
    if importlib.util.find_spec("torch") is None:
        sys.path += path


def _choose_kernels(torch: Any) -> str | None:
    """Tell the card for which of torch's kernels it is; returns why there are none, if so."""
    major, minor = torch.cuda.get_device_capability()
    capability = 10 * major + minor
    flags = (torch._C._cuda_getArchFlags() or "").split()
    compiled = {int(flag.partition("_")[2].rstrip("af")) for flag in flags}
    usable = [each for each in compiled if each <= capability]
    if compiled and not usable:
        oldest = min(compiled)
        return (
            f"torch {torch.__version__} has no kernels for compute capability {major}.{minor}: its "
            f"oldest are for {oldest // 10}.{oldest % 10}"
        )
    os.environ["NANOLINT_CARD_KERNELS"] = str(max(usable, default=capability))
    return None


def _trace(request: dict[str, Any]) -> dict[str, Any]:
    import torch

    from . import compiling, history, opened, silent
    from .later import Later
    from .phases import Phases
    from .stand_ins import StandIns

    later = Later(request["seconds"])
    phases = Phases(request["steps"], later)
    stand_ins = StandIns(protected=request["protected"])
    files = opened.watch()
    stand_ins.install()
    unpadded = compiling.without_kernels()
    history.start()
    phases.watch()
    error = _run(request)
    if request["steps"] is None and phases.done and error == ENDED:
        error = None  # the whole run was traced
    if error and later.jumped:  # it may not stand what was done to it
        error = None
        later.doubts.append(later.jumped[-1].doubt)
    gc.collect()  # what the script dropped is gone before, not while, the rest is looked at
    gc.disable()
    allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    before_clearing = history.allocations()
    state, parameters = phases.state(), phases.parameters()
    if request["snapshot"]:
        taken = pickle.dumps(torch.cuda.memory._snapshot())
        report.line(snapshot=base64.b64encode(taken).decode())
    live = set(history.History().live_after(before_clearing).values())
    torch._C._cuda_clearCublasWorkspaces()
    found = history.History(frozenset(each.file for each in later.unsure))
    later.saw(found.lines)
    at_end = found.live_after(before_clearing + 1)
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "capability": torch.cuda.get_device_capability(),
        "error": error,
        "allocated": allocated,
        "reserved": reserved,
        "events": found.events,
        "nbytes": found.nbytes,
        **_places(found.places),
        "phases": phases.named(),
        "components": {
            "parameters": _handles(parameters, at_end),
            "optimizer": _handles(state, at_end),
            "workspace": sorted(live - set(at_end.values())),
            "gradients": sorted(
                {
                    handle
                    for at, addresses in phases.gradients
                    for handle in _handles(addresses, found.live_after(at))
                }
            ),
        },
        "modules": _modules(),
        "opened": opened.small(files),
        "skipped": list(stand_ins.skipped),
        "invented": [
            *stand_ins.invented,
            *silent.asked(),
            *(
                f"{name} = {value:,}, to come to what is later"
                for jump in later.jumped
                for name, value in jump.values.items()
            ),
        ],
        "indices": list(stand_ins.indices),
        "unpadded": unpadded,
        "doubts": [*later.doubts, *_doubts()],
    }


def _run(request: dict[str, Any]) -> dict[str, Any] | None:
    """The script; returns what ended it before its optimizers had stepped, if anything did."""
    from .phases import Stop

    sys.argv = list(request["argv"])
    folder = Path.cwd() if request["module"] else Path(sys.argv[0]).resolve().parent
    sys.path[:0] = [str(folder), *request["path"]]
    try:
        if request["before"]:
            before = request["before"]
            exec(compile(Path(before).read_text(), before, "exec"), {"__file__": before})
        if request["module"]:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except Stop:
        return None
    except SystemExit as leaving:
        return {"type": "SystemExit", "message": str(leaving.code or 0), "place": None}
    except BaseException as error:
        traceback.print_exc()
        return {"type": type(error).__name__, "message": str(error)[:2000], "place": _raised(error)}
    return ENDED


def _raised(error: BaseException) -> tuple[str, int] | None:
    """The innermost line of the user's own that the error came through."""
    from .history import is_own

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename)]
    return (own[-1].filename, own[-1].lineno or 0) if own else None


def _doubts() -> list[str]:
    """Returns doubts: where the tape may differ from a card."""
    if ctypes.CDLL(None).nanolint_graphs():
        return [
            "CUDA graphs have memory of their own, which the figures for a card count otherwise"
        ]
    return []


def _handles(addresses: list[int], live: dict[int, int]) -> list[int]:
    return sorted({live[address] for address in addresses if address in live})


def _places(places: list[tuple[str, int, str] | None]) -> dict[str, Any]:
    """Each place once, with its code, and its number for every allocation, -1 for none."""
    numbers = {place: number for number, place in enumerate(dict.fromkeys(filter(None, places)))}
    return {
        "places": [
            [_short(file), line, function, linecache.getline(file, line).strip()[:LONGEST_LINE]]
            for file, line, function in numbers
        ],
        "place_of": [-1 if place is None else numbers[place] for place in places],
    }


def _short(file: str) -> str:
    """As seen from the folder that the script runs in."""
    from .history import is_compiled

    if is_compiled(file):
        return COMPILED
    path = Path(file).resolve()
    return str(path.relative_to(Path.cwd())) if Path.cwd() in path.parents else str(path)


def _modules() -> list[str]:
    """The files of the project that were imported."""
    from .history import is_own

    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    own = {Path(file).resolve() for file in files if file and is_own(file)}
    return sorted(str(path) for path in own if path.is_file() and path.name != WRITTEN_BY_TORCH)
