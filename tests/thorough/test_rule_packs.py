"""Rule packs of other people: installed, run, and kept from doing harm."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "rule-packs.md").read_text(encoding="utf-8")
CONFIG = "wandb_log = True\nwandb_run_name = 'gpt2'  # later\nbatch_size = 12\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's pack installed."""
    source = tmp_path_factory.mktemp("pack")
    for name, body in re.findall(r"`([\w/.]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL):
        path = source / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(body, encoding="utf-8")
    target = tmp_path_factory.mktemp("site")
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(source)]
    subprocess.run([sys.executable, *install], check=True, capture_output=True)
    return target


def nanolint(folder: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    command = [sys.executable, "-m", "nanolint", "--output-format", "concise", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_pages_pack_finds_and_fixes(tmp_path: Path, site: Path) -> None:
    config = tmp_path / "long_run.py"
    config.write_text(CONFIG)
    done = nanolint(tmp_path, site, "long_run.py")
    assert "long_run.py:2:1: HR001[warning] the run is logged as 'gpt2', like every" in done.stdout
    assert done.returncode == 1
    assert nanolint(tmp_path, site, "--fix", "long_run.py").returncode == 0
    assert config.read_text() == CONFIG.replace("'gpt2'", "'long_run'")


def test_its_rules_are_selected_like_any_other(tmp_path: Path, site: Path) -> None:
    (tmp_path / "a.py").write_text(CONFIG)
    assert "HR001" not in nanolint(tmp_path, site, "--ignore", "unnamed-run", "a.py").stdout
    assert "HR001" in nanolint(tmp_path, site, "--select", "HR", "a.py").stdout


def broken_pack(folder: Path, body: str) -> Path:
    (folder / "broken.py").write_text(body)
    info = folder / "broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nanolint.rules]\nbroken = broken:RULES\n")
    return folder


RAISING = """
from nanolint.rule import Need, Severity, rule

@rule("BR001", "broken-rule", Severity.ERROR, needs=[Need.CONFIG])
def broken_rule(context):
    raise ValueError("two\\nlines")
    yield

RULES = (broken_rule,)
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("1 / 0", "rule pack 'broken' could not be loaded: ZeroDivisionError"),
        ("exit('bye')", "rule pack 'broken' could not be loaded: SystemExit: bye"),
        (RAISING.replace("raise ValueError", "exit(3)  #"), "rule BR001 (broken) left out: System"),
        ("RULES = 3", "rule pack 'broken' could not be loaded: TypeError"),
        (RAISING, "rule BR001 (broken) left out: ValueError: two lines"),
        (RAISING.replace("BR001", "NL101"), "rule pack 'broken' left out: NL101 exists already"),
    ],
)
def test_a_broken_pack_is_told_once_and_the_rest_goes_on(
    tmp_path: Path, body: str, told: str
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    broken_pack(site, body)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("batch_size = 12\nbatch_size = 12\nblock_size = 8\n")
    done = nanolint(tmp_path, site, "a.py", "b.py")
    assert done.stderr.count(told) == 1
    assert "Traceback" not in done.stderr
    assert done.stdout.count("NL305") == 2


HALVING = """
from nanolint.rule import Edit, Finding, Fix, FixAvailability, Need, Safety, Severity, rule

@rule("BR002", "halving", Severity.WARNING, needs=[Need.CONFIG], fix=FixAvailability.ALWAYS)
def halving(context):
    found = context.assignment("batch_size")
    if found is not None and found.value.value > 6:
        span = found.value_span
        edit = Edit(span.start, span.end, "6")
        yield Finding("too many", span, Fix("Halve it", Safety.SAFE, (edit,)))

RULES = (halving,)
"""


def test_a_fix_that_its_own_check_refuses_is_offered_nowhere(tmp_path: Path) -> None:
    site = broken_pack(tmp_path, HALVING)
    (tmp_path / "a.py").write_text(CONFIG)
    told = ("--select", "BR002", "a.py")
    (found,) = json.loads(nanolint(tmp_path, site, "--output-format", "json", *told).stdout)
    assert (found["code"], found["fix"]) == ("BR002", None)
    full = nanolint(tmp_path, site, "--output-format", "full", *told).stdout
    assert "fixable" not in full and "Halve it" not in full
    assert "not fixed: the fix would change the effective batch from 480 to 240" in full
    nanolint(tmp_path, site, "--fix", *told)
    assert (tmp_path / "a.py").read_text() == CONFIG
