"""What each thing that was done for speed buys: a check of one config with it, and without.

    python benchmarks/tricks.py

nanolint is installed from a wheel of this checkout into an environment of its own, as run.py does.
Each undoing runs before anything else is imported; commands take turns, and what counts is the
processor time of a new process: the median over the rounds of the difference to the check with
everything. The table in docs/performance.md is written anew. Not on Windows.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from run import (
    CONFIG,
    FILES,
    ROOT,
    SMALL_CARD,
    environment,
    install,
    write_project,
    write_table,
)

from tests.unit.trainers.written_scripts import script  # behind run, which knows where

ROUNDS = 15
CHECK = "config/a.py", SMALL_CARD
EAGER = "config/eager.py", SMALL_CARD
OWN_EAGER = "own/config/eager.py", SMALL_CARD
SCRIPT = "script/train.py", SMALL_CARD
HELP = ("--help",)
VALUES = "B = 8\nT = 512\nTOTAL = 65536\npasses = TOTAL // (B * T)\n"


class Trick(NamedTuple):
    """What was done, and the statements that undo it in a new process."""

    name: str
    undo: str
    command: tuple[str, ...] = CHECK


TRICKS = (
    Trick(
        "a plain file is read with `ast` (`source/from_ast.py`), not with libcst",
        "import nanolint.source.from_ast as m; m.lower = lambda text: None",
    ),
    Trick(
        "frozen classes are made by `frozen.py`",
        "import dataclasses, nanolint.frozen as m; m.dataclass = dataclasses.dataclass",
    ),
    Trick(
        "their first dozen objects are filled field by field",
        "import nanolint.frozen as m; m.FEW = 0",
    ),
    Trick(
        "`importlib.metadata` is asked only where there may be packs (`linting/registry.py`)",
        "import nanolint.linting.registry as m; m.may_be_installed = lambda group: True",
    ),
    Trick(
        "the readers of launch scripts are imported for launch scripts",
        "from nanolint.launches import dockerfile, makefile, notebook, script, sweep;"
        "from nanolint.cli import launch_files; from nanolint.run.takers import launches",
    ),
    Trick(
        "`train.py` is parsed once, and its nodes are listed once (`nanogpt/reading.py`)",
        "import nanolint.source.python as p; p.nodes = p.nodes.__wrapped__;"
        "import nanolint.trainers.nanogpt.reading as m; m.syntax_tree = m.syntax_tree.__wrapped__",
    ),
    Trick(
        "a card is looked for among those with its digits in their names (`gpus/lookup.py`)",
        "import nanolint.gpus.lookup as m; m._digits = lambda text: ''",
    ),
    Trick(
        "frames lie in one piece of memory (`frames.py`)",
        "import nanolint.frames as m; m.in_one_piece = lambda called: called",
    ),
    Trick(
        "garbage is looked for once in 200,000 objects",
        "import gc; gc.set_threshold = lambda *_: None",
    ),
    Trick(
        "the process ends without a last look for garbage, nor letting go of each object",
        "import os; os._exit = lambda status: None",
    ),
    Trick(
        "layers of a model that is read are copied (`model/reading/alike.py`), not compiled",
        "import nanolint.interpreter.alike as m;m.Layers.look_at = lambda self, model: None",
        OWN_EAGER,
    ),
    Trick(
        "what would not fit by two readings is not read (`growth_estimate.py`), not compiled",
        "import nanolint.verdict.growth_estimate as m; m.Growth.guess = lambda *_: None",
        EAGER,
    ),
    Trick(
        "a script is parsed once for all who ask (`source/python.py`)",
        "import nanolint.source.python as m; m.python_tree = m.python_tree.__wrapped__",
        SCRIPT,
    ),
    Trick(
        "its nodes are listed once, and not by `ast.walk`",
        "import ast, nanolint.source.python as m; m.nodes = lambda tree: tuple(ast.walk(tree))",
        SCRIPT,
    ),
    Trick(
        "its comments are found by a pattern (`source/comments.py`), not by `tokenize`",
        "import nanolint.source.comments as m; m.comments_of = m._by_tokens",
        SCRIPT,
    ),
    Trick("`--help` does not import `typing`", "import typing", HELP),
)


def main() -> None:
    """Measure, and write the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = str(install(folder / "own", str(ROOT)) / "python")
        text = CONFIG.read_text("utf-8")
        configs = {"config/a.py": text, "config/eager.py": f"{text}\ncompile = False\n"}
        project = write_project(folder / "project", configs)
        write_project(project / "own", {**configs, **FILES})
        write_project(project / "script", {"train.py": f"{FILES['model.py']}\n{script(VALUES)}"})
        plain = [Trick("", "pass", command) for command in {each.command for each in TRICKS}]
        times: dict[Trick, list[float]] = {trick: [] for trick in (*plain, *TRICKS)}
        for number in range(ROUNDS + 1):
            for trick, taken in times.items():
                seconds = processor_seconds(python, trick, project)
                taken += [seconds] if number else []
    rows = ["| what is done | ms of processor time with it | more without it |", "|---|---|---|"]
    for trick in TRICKS:
        whole = times[Trick("", "pass", trick.command)]
        pairs = zip(times[trick], whole, strict=True)
        more = 1000 * statistics.median(without - with_it for without, with_it in pairs)
        rows.append(f"| {trick.name} | {1000 * statistics.median(whole):.0f} | {more:+.1f} |")
    write_table("tricks", rows)


def processor_seconds(python: str, trick: Trick, folder: Path) -> float:
    """What a new process takes, in all its threads and in the system."""
    code = f"{trick.undo}\nfrom nanolint.cli.main import entry_point; entry_point()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        (python, "-c", code, *trick.command),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{trick.undo} failed: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
