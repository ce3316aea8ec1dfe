"""Runs changed scripts of one trainer, each in a copy of a process that has imported torch.

``one_line.py`` starts it by the interpreter that has PyTorch, on the card that ``nanolint trace``
pretends to, with a file that says what to run.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
START = HERE.parent / "nanolint" / "trace" / "child" / "start.py"
STEPS, SECONDS = 3, 40
LOADED_LATE = ("numpy", "torch._dynamo")  # else each copy of the process loads them by itself
STAND_IN = HERE / "stand_ins" / "forks.py"
BEFORE = """
import importlib.machinery
for name, each in list(sys.modules.items()):
    if isinstance(each, Silent):
        each.__spec__ = importlib.machinery.ModuleSpec(name, None)
for name in ("tensorboard", "torch.utils.tensorboard", "sentencepiece", "psutil", "mlflow"):
    sys.modules.setdefault(name, Silent(name))
torch.compile = lambda f=None, **k: f if f is not None else lambda g: g
torch.nn.Module.compile = lambda self, *a, **k: None
"""


def serve(order: str) -> None:
    """Run by PYTHON on the pretended card: says a line for each mutant on the pipe ``answer``."""
    request = json.loads(order)
    name = "nanolint_trace_child"
    spec = importlib.util.spec_from_file_location(
        name, START.parent / "__init__.py", submodule_search_locations=[str(START.parent)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    main, report = (importlib.import_module(f"{name}.{each}") for each in ("main", "report"))
    report.open_pipe(request["answer"])
    main._find_torch([])
    for each in ("torch", *LOADED_LATE):
        importlib.import_module(each)
    os.chdir(request["folder"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for number, (file, text) in enumerate(request["mutants"]):
        path = Path(file)
        before = path.read_text("utf-8")
        path.write_text(text, "utf-8")
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            signal.alarm(request["seconds"])
            try:
                answer = _run(main, name, request)
            except BaseException as error:
                answer = {"why": f"{type(error).__name__}: {error}"}
            os.write(writes, json.dumps(answer).encode())
            os._exit(0)
        os.close(writes)
        with os.fdopen(reads, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        path.write_text(before, "utf-8")
        report.line(number=number, truth=json.loads(said) if said else {"why": "no answer in time"})
    os._exit(0)


def _run(main: Any, name: str, request: dict[str, Any]) -> dict[str, Any]:
    refusal = main._choose_kernels(sys.modules["torch"])
    later, phases, stand_ins = (
        importlib.import_module(f"{name}.{each}") for each in ("later", "phases", "stand_ins")
    )
    watched = phases.Phases(STEPS, later.Later(SECONDS))
    stand_ins.StandIns(protected=True).install()
    watched.watch()
    exec(STAND_IN.read_text("utf-8") + BEFORE, {"__name__": "before"})
    error = main._run({"argv": request["argv"], "module": False, "path": [], "before": None})
    ended = error is None or (error["type"] == "SystemExit" and error["message"] == "0")
    return {
        "error": None if ended else error, "steps": watched.done, "refusal": refusal,
        "phase": watched.marks[-1][1], "files": main._modules(),
    }  # fmt: skip


if __name__ == "__main__":
    serve(Path(sys.argv[1]).read_text("utf-8"))
