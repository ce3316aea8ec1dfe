"""The screens in the docs: what the command prints today."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = ROOT / "scripts" / "build_screens.py"
spec = importlib.util.spec_from_file_location("build_screens", SCRIPT)
assert spec is not None and spec.loader is not None
build_screens = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build_screens)

pytestmark = pytest.mark.skipif(not build_screens.COMMAND.exists(), reason="is not installed")


@pytest.mark.parametrize("name", build_screens.SCREENS)
def test_a_picture_is_what_the_command_prints(name: str) -> None:
    drawn = (build_screens.PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    assert build_screens.picture(name, build_screens.SCREENS[name]) == drawn


@pytest.mark.parametrize("page", build_screens.PAGES, ids=lambda page: page.name)
def test_a_page_has_what_the_command_prints(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert build_screens.page(text) == text
