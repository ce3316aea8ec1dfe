"""Hover: meaning, value, origin, default, share of the peak, and the price of a step.

These take seconds each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.lsp.hover import hover
from nanolint.lsp.markdown import plain
from nanolint.verdict.verdict import judge
from tests.support.lsp_configs import SMALL, context_of
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.lsp.test_hover import told


def test_a_step_that_does_not_fit_says_so() -> None:
    batch = 1
    context = context_of(SMALL)
    run, target = context.run, context.cases[0].needed_target
    assert run is not None
    while judge(replace(run, batch_size=batch + 1), target).fits:
        batch += 1
    shown = told(f"batch|_size = {batch}\nblock_size = 1024\n")
    above, below = re.findall(r"- `batch_size = \d+`: .*", shown)
    assert "more, out of memory" in above or "more, fragmented" in above
    assert "less" in below and "out of memory" not in below


@pytest.mark.parametrize(
    ("key", "value", "above", "below"),
    [
        ("block_size", "1000", "`block_size = 1024`", "`block_size = 960`"),
        ("n_layer", "12", "`n_layer = 13`", "`n_layer = 11`"),
        ("n_embd", "768", "`n_embd = 832` and `n_head = 13`", "`n_embd = 704` and `n_head = 11`"),
        ("n_head", "12", "`n_head = 16`", "`n_head = 8`"),
        ("gradient_accumulation_steps", "40", "`gradient_accumulation_steps = 48`", "= 32`"),
    ],
)
def test_a_step_leads_to_the_next_value_that_train_py_would_take(
    key: str, value: str, above: str, below: str
) -> None:
    other = "batch_size = 2\n" if key == "block_size" else "block_size = 256\n"
    shown = told(f"{key}| = {value}\n{other}", gpu="8xA100-80GB")
    assert above in shown and below in shown


def test_what_a_checkpoint_forces_has_no_price() -> None:
    shown = told("init_from = 'gpt2'\nn_layer| = 3\nbatch_size = 1\n")
    assert "**n_layer** = `12`" in shown
    assert "from the checkpoint" in shown
    assert "n_layer = 13" not in shown


def test_block_size_never_steps_beyond_what_a_checkpoint_was_trained_with() -> None:
    shown = told("init_from = 'gpt2'\nblock_size| = 1024\nbatch_size = 1\n")
    assert "`block_size = 960`" in shown and "`block_size = 1088`" not in shown


def test_steps_are_judged_on_the_card_with_the_least_room() -> None:
    shown = told("batch|_size = 4\nblock_size = 1024\n", gpu="a100-80gb,rtx-3060")
    assert "- A100 80GB: " in shown and "- RTX 3060 12GB: " in shown
    assert re.search(r"`batch_size = 5`: .* on RTX 3060 12GB", shown)


def test_without_a_target_bytes_are_told_and_no_verdict() -> None:
    shown = told("batch|_size = 4\nblock_size = 1024\n", gpu="")
    assert re.search(r"^- [\d.]+ GiB allocated at the peak, in the", shown, re.MULTILINE)
    assert re.search(r"`batch_size = 5`: [\d.]+ MiB more$", shown, re.MULTILINE)
    assert "fits" not in shown


def test_a_key_of_the_projects_own_is_told_with_its_comment_and_default(tmp_path: Path) -> None:
    extra = "rotary_base = 10000  # of the rotary embedding\n"
    write_project(tmp_path, {"train.py": train_script(extra_settings=extra)})
    shown = told("rotary|_base = 5\nbatch_size = 4\n", path=tmp_path / "config" / "x.py")
    assert "of the rotary embedding" in shown
    assert "train.py's default: `10000`" in shown


def test_what_a_project_says_is_never_markup(tmp_path: Path) -> None:
    extra = "logo = 'a`b'  # ![x](https://example.com/x.png) <b>\n"
    write_project(tmp_path, {"train.py": train_script(extra_settings=extra)})
    shown = told("lo|go = '![y](https://example.com)`'\nbatch_size = 4\n", path=tmp_path / "x.py")
    assert shown.startswith("**logo** = `` '![y](https://example.com)`' ``\n")
    assert r"\!\[x\](https://example.com/x.png) \<b\>" in shown
    assert plain(shown).startswith("logo = '![y](https://example.com)`'\n\n![x](https:")


def test_a_key_that_train_py_lacks_is_told_so(tmp_path: Path) -> None:
    write_project(tmp_path)
    shown = told("batch_siez| = 5\nbatch_size = 4\n", path=tmp_path / "config" / "x.py")
    assert "train.py has no such key" in shown


@pytest.mark.parametrize("marked", ["batch_size = 4  # bat|ch_size", "x = 'bat|ch_size'", "4|2"])
def test_comments_strings_and_numbers_say_nothing(marked: str) -> None:
    assert told(f"{marked}\nbatch_size = 4\nblock_size = 64\n") == ""


def test_train_py_itself_is_told_above_its_configurator_line_only(tmp_path: Path) -> None:
    script = write_project(tmp_path) / "train.py"
    text = script.read_text()
    context = context_of(text, path=script)
    above = hover(context, text, text.index("batch_size") + 2)
    assert above is not None and "nanoGPT's default: `12`" in above.markdown
    assert hover(context, text, text.index("(batch_size,)") + 2) is None


def test_far_from_the_edge_the_largest_that_fits_is_named() -> None:
    text = "batch_size = 64\ngradient_accumulation_steps = 8\n"
    shown = hover(context_of(text), text, 1)
    assert shown is not None
    assert "- the largest that fits: `batch_size = " in shown.markdown
    small = "batch_size = 1\ngradient_accumulation_steps = 8\n"
    fits = hover(context_of(small), small, 1)
    assert fits is not None
    assert "the largest that fits" not in fits.markdown
