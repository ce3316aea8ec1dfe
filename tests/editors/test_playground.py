"""The page that runs nanolint in a browser, opened from a folder: no server, no network."""

from __future__ import annotations

import base64
import html
import importlib.util
import json
import re
import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from nanolint import fix_text
from tests.support.browser import find_browser, loaded
from tests.support.repository import ROOT
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

BUILD = ROOT / "scripts" / "build_playground.py"
JUDGE = ROOT / "docs" / "playground" / "judge.py"
CONFIG = "batch_size = 32\ngradient_accumulation_steps = 8\nblock_size = 1024\n" + MODEL

# Presses the button once the page has judged the text, and shows what stands there then.
PRESS = """<script>
new MutationObserver((_, watching) => {
  watching.disconnect();
  document.getElementById("fix").click();
  document.body.dataset.text = document.getElementById("text").value;
}).observe(document.getElementById("findings"), { childList: true });
</script>"""


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    find_browser()
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    out = tmp_path_factory.mktemp("playground")
    module(BUILD).build(out)
    return out


def address(page: Path, text: str, gpu: str) -> str:
    packed = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"{page.as_uri()}#{urlencode({'gpu': gpu, 'text': packed})}"


def findings(document: str) -> str:
    found = re.search(r'<div id="findings"[^>]*>(.*?)</div>', document, re.DOTALL)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", " ", found[1]))


def test_a_link_shows_the_verdict_on_its_text(folder: Path, tmp_path: Path) -> None:
    page = address(folder / "index.html", CONFIG, "RTX 3060 12GB")
    document = loaded(page, tmp_path, budget_ms=60_000)
    assert "RTX 3060 12GB" in findings(document)
    assert "NL101" in findings(document) or "NL102" in findings(document)
    assert "What would help" in html.unescape(document)


def test_the_button_writes_what_the_command_would(folder: Path, tmp_path: Path) -> None:
    page = folder / "pressed.html"
    text = (folder / "index.html").read_text(encoding="utf-8")
    page.write_text(text.replace("</html>", PRESS + "</html>"), encoding="utf-8")
    document = loaded(address(page, CONFIG, "RTX 3060 12GB"), tmp_path, budget_ms=60_000)
    pressed = re.search(r'data-text="([^"]*)"', document)
    assert pressed is not None
    assert html.unescape(pressed[1]) == fix_text(CONFIG, gpu="RTX 3060 12GB")


def test_a_card_that_nobody_makes_is_said_to_be_none() -> None:
    assert "RTX 4700" in json.loads(module(JUDGE).judge(CONFIG, "RTX 4700"))["error"]


def test_a_text_without_a_run_says_why() -> None:
    assert "why" in json.loads(module(JUDGE).judge("x = 1\n", "RTX 4070"))
