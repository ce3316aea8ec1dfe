"""Scripts that run a file of settings where they stand: ``exec(open("small.py").read())``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
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
    assert explained(tmp_path, text)["run"]["device"] == "cpu"


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


NOT_KNOWN = [
    "exec(input())",
    "import urllib.request\nexec(urllib.request.urlopen('https://example.org').read())",
    "exec(open(os.environ.get('SETTINGS')).read())",
    "def load():\n    exec(input(), globals())\nload()",
    "globals()[input()] = int(input())",
    "for line in open('settings.txt'):\n    key, value = line.split()\n    globals()[key] = value",
    "import sys\nsetattr(sys.modules[__name__], input(), 4)",
    "for name in os.listdir('.'):\n    globals()['V' + name] = 1",
]


@pytest.mark.parametrize("runs", NOT_KNOWN)
def test_a_name_or_a_text_that_only_the_run_has_may_set_anything(tmp_path: Path, runs: str) -> None:
    assert ran(tmp_path, runs)["trust"] == "unknown"


def test_it_is_said_in_which_line(tmp_path: Path) -> None:
    for runs, what in (("exec(input())", "exec "), (NOT_KNOWN[4], "by a name that")):
        text = BASE.replace(SIZES, f"{SIZES}\n{runs}")
        line = text.splitlines().index(runs) + 1
        reasons = [each["reason"] for each in explained(tmp_path, text)["unresolved"]]
        assert any(what in each and f"(train.py:{line})" in each for each in reasons)


@pytest.mark.parametrize(
    "runs",
    [
        "for name in os.listdir('.'):\n    globals()[f'part_{name}'] = 1",
        "def later(name):\n    globals()[name] = 1",
        "import sys\nfor word in sys.argv[1:]:\n    key, value = word.split('=')\n"
        "    globals()[key] = int(value)",
    ],
)
def test_a_name_that_is_none_of_the_scripts_changes_nothing(tmp_path: Path, runs: str) -> None:
    found = explained(tmp_path, BASE.replace(SIZES, f"{SIZES}\n{runs}"))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, BASE)["peak"]


def test_behind_the_loop_nothing_matters(tmp_path: Path) -> None:
    found = explained(tmp_path, f"{BASE}\nglobals()[input()] = 1\n")
    assert found["peak"] == explained(tmp_path, BASE)["peak"]


def test_words_that_the_script_itself_takes_apart_are_read(tmp_path: Path) -> None:
    runs = "import sys\nfor word in sys.argv[1:]:\n    key, value = word.split('=')\n"
    text = BASE.replace(SIZES, f"{SIZES}\n{runs}    globals()[key] = int(value)")
    for word, size in (("B=4", 4), ("--B=4", None)):
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        script = str(tmp_path / "train.py")
        asked = ("explain", "--isolated", "--gpu", "a100-40gb", "--format", "json")
        done = nanolint(*asked, "--", "python", script, word)
        sizes = SIZES if size is None else f"{SIZES}\nB = {size}"
        there = explained(tmp_path, BASE.replace(SIZES, sizes))
        assert json.loads(done.out)["peak"] == there["peak"]


def test_a_text_of_the_scripts_own_is_never_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = BASE.replace(SIZES, f"{SIZES}\nexec('B = 4096')")
    path.write_text(text, encoding="utf-8")
    done = nanolint("check", str(path), "--gpu", "4GB", "--fix", "--unsafe-fixes")
    assert path.read_text("utf-8") == text
    assert "fixed" not in done.out
    shown = nanolint("explain", str(path), "--gpu", "a100-40gb").out
    assert "micro-batch               4,096" in shown
    assert "the memory: a value has no place of its own in the files" in shown
