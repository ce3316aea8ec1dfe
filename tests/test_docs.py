"""What the pages say is what the code does."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from statistics import median

import pytest

from nanolint.cli.main import main
from validation import accuracy

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")]


def test_the_accuracy_table_is_the_models_own() -> None:
    text = accuracy.PAGE.read_text(encoding="utf-8")
    assert accuracy.page_with(text, accuracy.table()) == text


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
    example = ROOT / "examples" / "backward_pass" / "train_gpt2_125m.py"
    main(["--output-format", "json", str(example)], stdout=stream, stderr=io.StringIO())
    (message,) = [f["message"] for f in json.loads(stream.getvalue()) if f["severity"] == "error"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert message in " ".join(readme.split())


@pytest.mark.parametrize(
    ("oracle", "error", "reserved_error"), [("eager", 0.0, 0.0), ("compiled", 0.001, 0.018)]
)
def test_the_readme_tells_the_errors_that_were_found(
    oracle: str, error: float, reserved_error: float
) -> None:
    allocated, reserved = accuracy.errors(oracle)
    assert max(map(abs, allocated)) <= error
    assert max(map(abs, reserved)) <= reserved_error
    assert median(map(abs, reserved)) == 0
    assert f"{oracle}, {len(allocated)} runs" in (ROOT / "README.md").read_text(encoding="utf-8")
