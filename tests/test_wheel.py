"""The product as shipped: a wheel in an environment of its own, started as the script."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.project_tree import write_project

ROOT = Path(__file__).parent.parent
PROGRAMS = "Scripts" if os.name == "nt" else "bin"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed script. What nanolint builds on is taken from the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    built = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", built, str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    (site,) = (folder / "env").glob("**/site-packages")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    script = folder / "env" / PROGRAMS / "nanolint"
    python = folder / "env" / PROGRAMS / "python"
    script.write_text(
        f"#!{python}\nimport sys\nfrom nanolint.cli.main import entry_point\n"
        "sys.exit(entry_point())\n"
    )
    script.chmod(0o755)
    return script


@pytest.mark.skipif(os.name == "nt", reason="the script is one for Unix")
def test_the_installed_script_judges_and_fixes(program: Path, tmp_path: Path) -> None:
    config = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n"
    project = write_project(tmp_path, {"config/a.py": config})

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [program, *arguments], cwd=project, capture_output=True, text=True, env=environment
        )

    first = run("config", "--gpu=rtx-3060-12gb", "--output-format=concise")
    assert first.returncode == 1, first
    assert "config/a.py:1:1: NL10" in first.stdout
    assert run("config", "--gpu=rtx-3060-12gb", "--output-format=concise").stdout == first.stdout
    assert run("--fix", "config/a.py", "--gpu=rtx-3060-12gb").returncode == 0
    assert "batch_size = 8" in (project / "config" / "a.py").read_text()
    assert "NL101" in run("rule", "NL101").stdout, "the pages are in the wheel"


@pytest.mark.skipif(os.name == "nt", reason="the script is one for Unix")
def test_the_next_command_says_the_same_of_what_was_kept(program: Path, tmp_path: Path) -> None:
    config = "batch_size = 16\ngradient_accumulation_steps = 32\nblock_size = 1024\n"
    project = write_project(tmp_path / "project", {"config/a.py": config})
    cache = tmp_path / "cache"

    def run(*arguments: str, kept: str = str(cache)) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment["NANOLINT_CACHE"] = kept
        words = (*arguments, "config/a.py", "--gpu=rtx-3060-12gb")
        return subprocess.run(
            [program, *words], cwd=project, capture_output=True, text=True, env=environment
        ).stdout

    def readings() -> set[Path]:
        return {each for each in cache.rglob("*") if each.is_file()}

    alone = [run(kept=""), run("explain", kept="")]
    assert not readings()
    assert [run(), run("explain")] == alone
    kept = readings()
    assert kept
    assert [run(), run("explain")] == alone and readings() == kept
    (project / "config" / "a.py").write_text(config.replace("16", "4"))
    changed = run()
    assert changed == run(kept="") != alone[0] and readings() > kept
    for each in readings():
        each.write_bytes(each.read_bytes()[:-7])
    assert run() == changed
