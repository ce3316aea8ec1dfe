"""What the pages say is what the code does."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from nanolint import __version__
from nanolint.cli.main import main
from nanolint.run.trust import Trust
from tests.support.cli_configs import SMALL
from tests.support.project_tree import write_project
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_ci_finds_the_readmes_test_command() -> None:
    block = re.search(
        r"<!-- test command -->\n```sh\n(.+)\n```", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert block is not None and "pytest" in block[1]


def test_the_readme_shows_what_nanolint_prints() -> None:
    stream = io.StringIO()
    example = next((ROOT / "examples" / "backward_pass").glob("*.py"))
    main(["--quiet", str(example)], stdout=stream, stderr=io.StringIO())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = stream.getvalue().replace(str(example), example.name).strip()
    assert shown in readme


def test_the_page_on_trust_shows_what_json_full_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- json-full -->\n```json\n(.+?)\n```", page, re.DOTALL)
    assert block is not None
    config = write_project(tmp_path) / "config" / "small.py"
    config.parent.mkdir()
    config.write_text(SMALL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    stream = io.StringIO()
    arguments = ["--isolated", "--gpu=rtx-4070", "--output-format=json-full", "config/small.py"]
    main(arguments, stdout=stream, stderr=io.StringIO())
    assert json.loads(stream.getvalue()) == json.loads(block[1])


def test_the_page_on_trust_has_every_kind_of_it() -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert all(f"| {trust.value} |" in page for trust in Trust)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    for name in re.findall(
        r"`((?:nanolint|rules|scripts|tests)/[\w./-]*[./][\w-]*)`", page.read_text()
    ):
        made = page.parent.name == "adding" and "short" in name
        assert made or (ROOT / name).exists(), name


def test_the_readme_names_the_version_that_the_package_has() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:rev: |nanolint@)v([\d.]+)", readme)) == {__version__}


def test_the_citation_names_that_version_too() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
