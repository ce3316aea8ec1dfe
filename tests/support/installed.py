"""The product as shipped: a wheel in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.support.repository import ROOT

PROGRAMS = "Scripts" if os.name == "nt" else "bin"
# What installers write; with the second, every command has its work done by two other processes.
SCRIPT = """#!{python}
import sys
from nanolint.cli.main import entry_point
if __name__ == "__main__":
    sys.exit(entry_point())
"""
POOLED = """#!{python}
import sys
from nanolint.cli import processes
from nanolint.cli.main import entry_point
if __name__ == "__main__":
    processes.PARALLEL_AFTER_SECONDS = -1
    processes._processors = lambda: 2
    sys.exit(entry_point())
"""


def install(folder: Path) -> Path:
    """Build the wheel, and install it below ``folder``; returns the script.

    What nanolint builds on is taken from the environment of the tests.
    """
    built = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", built, str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    (site,) = (folder / "env").glob("**/site-packages")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    others = [each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    (site / "beside.pth").write_text("\n".join(others) + "\n")
    programs = folder / "env" / PROGRAMS
    for text, at in ((SCRIPT, programs), (POOLED, pooled(programs / "nanolint").parent)):
        at.mkdir(exist_ok=True)
        script = at / "nanolint"
        script.write_text(text.format(python=programs / "python"))
        script.chmod(0o755)
    return programs / "nanolint"


def pooled(program: Path) -> Path:
    """The script that has all work done by other processes."""
    return program.parent.parent / "pooled" / program.name
