"""What an editor shows in model.py: bytes of lines and functions, for the config that would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.support.editor import Editor, editing
from tests.support.model_text import FUSED_ADAMW
from tests.support.project_tree import write_project
from validation.read_models import MODELS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS = (
    *("batch_size = 4", "block_size = 256", "n_layer = 3", "n_head = 4", "n_embd = 128"),
    *("vocab_size = 4096", "dtype = 'float32'", "gradient_accumulation_steps = 2"),
    *("compile = False", "dropout = 0.0"),
)
MODEL = (MODELS / "gpt.py").read_text(encoding="utf-8").replace("gelu(x)", "gelu(x) * x")
MODEL += FUSED_ADAMW
ROW = next(at for at, line in enumerate(MODEL.splitlines()) if "gelu(x) * x" in line)
DEFINED = max(at for at, line in enumerate(MODEL.splitlines()[:ROW]) if "def forward" in line)


def project(root: Path) -> Path:
    write_project(root, files={"model.py": MODEL})
    (root / "config").mkdir()
    (root / "config" / "run.py").write_text("\n".join(SETTINGS) + "\n")
    (root / "nanolint.toml").write_text("gpu = 'rtx-4070'\n")
    return root


def content(found: types.Hover | None) -> str:
    assert found is not None and isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def test_a_line_says_what_it_holds_and_for_which_config(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open("config/run.py")
    editor.open("model.py")
    found = await editor.hover("model.py", ROW, 12)
    text = content(found)
    assert "keeps **12.0 MiB** for the backward pass in 3 calls" in text
    assert "for run.py on RTX 4070" in text
    assert found is not None and found.range is not None and found.range.start.line == ROW
    assert await editor.hover("model.py", 0, 0) is None


async def test_functions_have_lenses_and_the_top_says_for_which_run(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open("model.py")
    top, *titles = await editor.lenses("model.py")
    assert "train.py (no config is open) on RTX 4070" in top
    assert any(title.startswith("keeps ") and "% of the peak" in title for title in titles)
    editor.open("config/run.py")
    top, *_ = await editor.lenses("model.py")
    assert "memory by line for run.py on RTX 4070" in top


async def test_an_edit_of_the_model_counts_and_a_half_typed_one_does_not_end_it(
    editor: Editor, tmp_path: Path
) -> None:
    project(tmp_path)
    editor.open("config/run.py")
    editor.open("model.py")
    before = content(await editor.hover("model.py", ROW, 12))
    editor.type("model.py", MODEL.replace("gelu(x) * x", "gelu(x) * x * x"))
    assert content(await editor.hover("model.py", ROW, 12)) != before
    editor.type("model.py", MODEL.replace("gelu(x) * x", "gelu(x) * ("))
    await editor.lenses("model.py")
    editor.type("model.py", MODEL)
    assert content(await editor.hover("model.py", ROW, 12)) == before


async def test_a_client_may_turn_them_off(tmp_path: Path) -> None:
    options = {"lines": False}
    async with editing(project(tmp_path), options=options) as editor:
        editor.open("config/run.py")
        editor.open("model.py")
        assert await editor.hover("model.py", ROW, 12) is None
        assert await editor.lenses("model.py") == []
