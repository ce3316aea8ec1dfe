"""Nothing that lies around is ever executed, imported or unpickled: canaries stay alive."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import guard, project_tree
from tests.support.planting import Bomb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")

# Leaves a mark wherever it is run: at the top, in a class, a default, a decorator, an annotation.
CANARY = """\
import os
mark = open('exploded', 'a').write('x')
os.system('touch exploded')
exec("open('exploded', 'a').write('x')")
class Trap:
    mark = open('exploded', 'a').write('x')
def trap(mark=open('exploded', 'a').write('x')) -> open('exploded', 'a').write('x'):
    pass
text = f"{open('exploded', 'a').write('x')}"
[open('exploded', 'a').write('x') for _ in range(1)]
"""
CONFIG = "batch_size = 512\ngradient_accumulation_steps = 4\nn_layer = 1\ndataset = 'trap'\n"
IMPORTING = "from config.base import *\nfrom trap import *\nimport trap\n"
# Names that Python, its tools or a config would import by themselves.
NAMES = [
    *("model", "configurator", "sample", "bench", "trap", "conftest", "sitecustomize"),
    *(
        "usercustomize",
        "torch",
        "numpy",
        "libcst",
        "nanolint_rules",
        "encodings",
        "config/__init__",
    ),
    *("selectors", "struct", "socket", "random", "tempfile", "signal", "queue"),
    *(
        "config/base",
        "config/conftest",
        "data/trap/prepare",
        "data/trap/__init__",
        "setup",
        "tomllib",
    ),
]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files: dict[str, str | bytes] = {f"{name}.py": CANARY for name in NAMES}
    files["train.py"] = CANARY + project_tree.train_script()
    files["config/base.py"] = CANARY + "n_layer = 1\n"
    files["config/run.py"] = IMPORTING + CANARY + CONFIG
    files["config/plain.py"] = CONFIG
    files["data/trap/meta.pkl"] = pickle.dumps({"vocab_size": Bomb(), "x": Bomb()})
    files["ckpt.pt"] = files["out/ckpt.pt"] = pickle.dumps(Bomb())
    files["nanolint.toml"] = 'exclude = ["$(touch exploded)", "`touch exploded`"]\n'
    files[".envrc"] = files["requirements.txt"] = "$(touch exploded)\n"
    files["run.sh"] = "touch exploded\npython train.py config/plain.py $(touch exploded)\n"
    files["oom.txt"] = "CUDA out of memory. $(touch exploded)\n"
    return project_tree.write_project(tmp_path_factory.mktemp("planted"), files)


def test_the_canaries_would_be_heard(planted: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(planted, place)
    for code in (
        "exec(open('train.py').read())",
        "import pickle; pickle.load(open('ckpt.pt', 'rb'))",
    ):
        subprocess.run([sys.executable, "-I", "-c", code], cwd=place, stderr=subprocess.DEVNULL)
        assert (place / "exploded").exists()
        (place / "exploded").unlink()


@pytest.mark.parametrize(
    "arguments",
    [
        (".",),
        ("--diff", "--unsafe-fixes", "."),
        ("--fix", "--unsafe-fixes", "config/run.py", "config/plain.py"),
        ("--add-ignore", "config/plain.py"),
        ("run.sh",),
        (
            "--train-script=train.py",
            "--set",
            "dtype=__import__('os').system('touch exploded')",
            ".",
        ),
        ("explain", "config/run.py"),
        ("explain", "config/plain.py", "--oom", "oom.txt"),
        ("fit", "config/plain.py"),
        ("launch", "--", "python", "train.py", "config/run.py", "--n_layer=open('exploded','w')"),
        ("settings", "config/run.py"),
    ],
    ids=" ".join,
)
def test_no_canary_is_heard(arguments: tuple[str, ...], planted: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(planted, place)
    card = () if arguments[0] == "settings" else ("--gpu=12GB",)
    at = 1 if arguments[0] in ("explain", "fit", "launch") else 0
    ended = guard.run(place, *arguments[:at], *card, *arguments[at:])
    assert ended.status in (0, 1, 2)
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err
    assert list(place.rglob("exploded")) == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no PYTHONSAFEPATH")
def test_no_canary_is_heard_in_worker_processes(planted: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(planted, place)
    for number in range(120):
        (place / "config" / f"more_{number}.py").write_text(CANARY + CONFIG)
    ended = guard.run(place, "--fix", "--gpu=12GB", "config")
    assert ended.status in (0, 1)
    assert list(place.rglob("exploded")) == []
