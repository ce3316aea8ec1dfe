"""Scripts that run a file of settings where they stand: ``exec(open("small.py").read())``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "B, T, V, C = 8, 256, 1000, 128"
OWN = """B = 8
T = 256
V = 1000
C = 128
{runs}"""
BASE = TEXTS["settings: base"]
SMALL = "B = 2  # sequences\nT = 64\nnote = 'small'\n"


def ran(folder: Path, runs: str, settings: str | None = SMALL) -> dict[str, Any]:
    (folder / "config").mkdir(exist_ok=True)
    if settings is not None:
        (folder / "config" / "small.py").write_text(settings, encoding="utf-8")
    return explained(folder, BASE.replace(SIZES, OWN.format(runs=runs)))


RUNS = "exec(open('config/small.py').read())"


WAYS = [
    RUNS,
    "exec(compile(open('./config/small.py').read(), 'config/small.py', 'exec'))",
    "with open('config/small.py') as f:\n    exec(f.read())",
    "small = 'config/small.py'\ncode = open(small).read()\nexec(code, globals())",
    "exec(open(os.path.join('config', 'small.py')).read())",
    "from pathlib import Path\nexec((Path('config') / 'small.py').read_text())",
    "found = {}\nexec(open('config/small.py').read(), found)\nB, T = found['B'], found['T']",
]


@pytest.mark.parametrize("runs", WAYS)
def test_what_a_script_runs_sets_its_values(tmp_path: Path, runs: str) -> None:
    found = ran(tmp_path, runs)
    at_once = explained(tmp_path, BASE.replace(SIZES, "B, T, V, C = 2, 64, 1000, 128"))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == at_once["peak"]["allocated_bytes"]


@pytest.mark.parametrize(
    "runs", [f"def load():\n    {RUNS}\nload()", "for path in []:\n    exec(open(path).read())"]
)
def test_what_sets_nothing_of_the_scripts_changes_nothing(tmp_path: Path, runs: str) -> None:
    found = ran(tmp_path, runs)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == explained(tmp_path, BASE)["peak"]["allocated_bytes"]


def test_a_device_that_it_sets_is_the_scripts(tmp_path: Path) -> None:
    own = OWN.format(runs=f"device = 'cuda'\n{RUNS}")
    text = BASE.replace(SIZES, own).replace("\ndevice = 'cuda'\nmodel", "\nmodel")
    ran(tmp_path, "", f"{SMALL}device = 'cpu'\n")
    assert explained(tmp_path, text)["trust"] == "unknown"


@pytest.mark.parametrize(
    "runs",
    [
        "import runpy\nglobals().update(runpy.run_path('config/small.py'))",
        "import theirs\nglobals().update(theirs.settings())",
    ],
)
def test_what_nobody_knows_may_set_anything(tmp_path: Path, runs: str) -> None:
    assert ran(tmp_path, runs)["trust"] == "unknown"


def test_one_that_is_not_here_may_set_anything(tmp_path: Path) -> None:
    assert ran(tmp_path, RUNS, None)["trust"] == "unknown"
