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

READ = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]  # whoever has a minute
FOLDERS = (ROOT, ROOT / "examples", ROOT / "fuzz", ROOT / "validation")
PAGES = sorted({*READ, *(page for folder in FOLDERS for page in folder.glob("*.md"))})
MOST_WORDS, MOST_CHARACTERS = 120, 150  # of a paragraph and of a line that is not in a table


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", text):
        other = page.parent / target if target else page
        assert heading in anchors(other.read_text(encoding="utf-8")), (target, heading)


def anchors(text: str) -> set[str]:
    """The names that GitHub gives to the headings of a page, and those that the page gives."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_short_lines_and_paragraphs(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    prose = [each for each in lines if not each.startswith("|")]
    assert not [each for each in prose if len(each) > MOST_CHARACTERS]
    assert not [each for each in paragraphs(prose) if len(each.split()) > MOST_WORDS]


def paragraphs(lines: list[str]) -> list[str]:
    """The paragraphs and the items of lists, without code."""
    found, in_code = [""], False
    for line in lines:
        fence = line.lstrip().startswith("```")
        in_code ^= fence
        if in_code or fence or not line.strip():
            found.append("")
        elif re.match(r"\s*([-*]|\d+\.) ", line):
            found.append(line)
        else:
            found[-1] += f" {line}"
    return found


def test_ci_finds_the_readmes_test_command() -> None:
    block = re.search(
        r"<!-- test command -->\n```sh\n(.+)\n```", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert block is not None and "pytest" in block[1]


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


def test_the_page_on_ci_names_the_version_that_the_package_has() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?:rev: |nanolint@)v([\d.]+)", page)) == {__version__}


def test_the_citation_names_that_version_too() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
