"""A session in a real Neovim, with the recipe that the documentation gives."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.neovim import Neovim, find_neovim
from tests.support.sitting import BATCH_LINE, EDITORS_PAGE, FIXED, TOO_LARGE, environment
from tests.support.sitting import project as write_project

SESSION = Path(__file__).with_name("neovim_session.lua")
REQUIRED = "NANOLINT_REQUIRE_NVIM"  # CI sets it: without Neovim the tests fail there
SECONDS = 180


@pytest.fixture(scope="module")
def neovim() -> Neovim:
    found = find_neovim()
    if found is None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"Neovim is not installed, and {REQUIRED} is set")
        pytest.skip("Neovim is not installed")
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def seen(neovim: Neovim, project: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the person at the keyboard saw, step by step."""
    home = tmp_path_factory.mktemp("home")
    neovim.configure(home)
    told = home / "seen.json"
    run = subprocess.run(
        [neovim.program, "--headless", "-i", "NONE", "-n", "config.py", "-c", f"luafile {SESSION}"],
        cwd=project,
        env={**environment(home), "SESSION_OUT": str(told)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert told.exists(), run.stderr
    seen: dict[str, Any] = json.loads(told.read_text(encoding="utf-8"))
    log = "".join(path.read_text(encoding="utf-8") for path in home.rglob("lsp.log"))
    assert "failure" not in seen, f"{json.dumps(seen, indent=2)}\n{log}"
    return seen


def test_a_batch_that_is_too_large_is_an_error_on_its_line_as_soon_as_it_is_typed(
    seen: dict[str, Any],
) -> None:
    assert seen["typed"]["text"] == TOO_LARGE.rstrip("\n")
    assert seen["typed"]["code"] == "NL102"
    assert seen["typed"]["line"] == BATCH_LINE
    assert (
        "does not fit RTX 3060 12GB: needs 12.3 of 11.6 GiB (0.7 short)" in seen["typed"]["message"]
    )


def test_a_hover_tells_about_the_key(seen: dict[str, Any]) -> None:
    assert "batch_size" in seen["hover"]


def test_accepting_the_fix_keeps_the_effective_batch_and_the_comments(seen: dict[str, Any]) -> None:
    assert seen["fixed"]["text"] == FIXED.rstrip("\n")
    assert "batch_size = 8" in seen["fixed"]["offered"][0]


def test_one_undo_takes_the_whole_fix_back(seen: dict[str, Any]) -> None:
    assert seen["undone"]["text"] == TOO_LARGE.rstrip("\n")


def test_an_unsaved_train_script_in_another_window_changes_the_verdict(
    seen: dict[str, Any],
) -> None:
    assert "A100" in seen["train_script"]["message"]
    assert "n_embd = 768" in seen["train_script"]["saved"]


def test_the_file_on_disk_is_the_fixed_one(seen: dict[str, Any], project: Path) -> None:
    assert seen["closed"] == 0
    assert (project / "config.py").read_text(encoding="utf-8") == FIXED


def test_the_page_shows_what_neovim_shows(seen: dict[str, Any]) -> None:
    page = EDITORS_PAGE.read_text(encoding="utf-8")
    unwrapped = "".join(page.split())
    assert "".join(seen["typed"]["message"].split()) in unwrapped, "scripts/capture_neovim.py"
