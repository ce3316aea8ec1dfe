"""The hint beside batch_size, and the line above the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nanolint.lsp.load import code_lenses, inlay_hints
from nanolint.units import GIB
from tests.support.lsp_configs import SMALL, context_of
from tests.support.project_tree import TWICE, train_script, write_project
from tests.support.sizes import MODEL

if TYPE_CHECKING:
    from pathlib import Path

REST = "gradient_accumulation_steps = 40\n" + MODEL
WHOLE = SMALL + REST  # nothing of it is nanoGPT's own
TOO_LARGE = "batch_size = 64  # ä\nblock_size = 1024\n" + REST


def test_the_hint_tells_what_the_process_takes_of_the_card() -> None:
    context = context_of(WHOLE)
    verdict = context.cases[0].verdict
    assert verdict is not None
    (hint,) = inlay_hints(context, WHOLE)
    assert hint.offset == len("batch_size = 4")
    total = verdict.target.gpu.total_bytes
    assert hint.label == f"{verdict.process_bytes / GIB:.1f} of {total / GIB:.1f} GiB"
    assert "to spare" in hint.tooltip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_hint_stands_behind_a_comment_and_moves_none(newline: str) -> None:
    line = "batch_size = 4      # aligned with others"
    text = f"{line}  {newline}block_size = 256{newline}"
    (hint,) = inlay_hints(context_of(text), text)
    assert hint.offset == len(line)


def test_the_hint_says_that_a_run_does_not_fit() -> None:
    (hint,) = inlay_hints(context_of(TOO_LARGE), TOO_LARGE)
    assert hint.label.endswith("GiB: out of memory")
    assert hint.tooltip.endswith("short")


def test_sizes_that_are_nanogpts_own_are_marked_where_no_script_is_near() -> None:
    context = context_of(SMALL)
    (hint,) = inlay_hints(context, SMALL)
    assert hint.label.startswith("~")
    own = "gradient_accumulation_steps, n_layer, n_head and n_embd are nanoGPT's own"
    assert f"\nnot certain: {own}: nanolint found no training script" in hint.tooltip
    (lens,) = code_lenses(context)
    assert " | peak ~" in lens and f" | not certain: {own}" in lens


def test_of_two_assignments_the_one_that_counts_has_the_hint() -> None:
    text = "batch_size = 8\nbatch_size = 4\n"
    (hint,) = inlay_hints(context_of(text), text)
    assert hint.offset == len(text) - 1


def test_a_half_typed_file_keeps_its_hint_beside_the_value() -> None:
    context = context_of(SMALL)
    label = inlay_hints(context, SMALL)[0].label
    text = "x = (\r\nbatch_size =   # how many?\r\nblock_size = 1024\r\n"
    (hint,) = inlay_hints(context, text)
    assert hint.label == label
    assert text[: hint.offset].endswith("batch_size =   # how many?")
    assert inlay_hints(context, "block_size = (") == ()


def test_there_is_no_hint_where_nothing_can_be_said() -> None:
    for text, gpu in (
        ("block_size = 64\nn_layer = 2\n", "rtx-4070"),
        (SMALL, ""),
        ("batch_size = 4\ndevice = 'cpu'\n", "rtx-4070"),
        ("batch_size = open('x')\nblock_size = 4\n", "rtx-4070"),
    ):
        assert inlay_hints(context_of(text, gpu=gpu), text) == ()


def test_the_lens_tells_card_peak_margin_effective_batch_and_tokens() -> None:
    text = "batch_size = 4\ngradient_accumulation_steps = 8\nblock_size = 256\n" + MODEL
    context = context_of(text)
    (lens,) = code_lenses(context)
    card, peak, margin, batch, tokens = lens.split(" | ")
    assert card == "RTX 4070"
    assert re.fullmatch(r"peak [\d.]+ of 11\.\d GiB", peak)
    assert re.fullmatch(r"[\d.]+ to spare", margin)
    assert (batch, tokens) == ("effective batch 32", "8,192 tokens per iteration")


def test_without_a_target_the_lens_asks_for_one_and_still_tells_the_batch() -> None:
    (lens,) = code_lenses(context_of(SMALL, gpu=""))
    assert lens.startswith("no target GPU: choose one | effective batch 160")


def test_a_lens_names_what_keeps_it_from_knowing() -> None:
    (lens,) = code_lenses(context_of("batch_size = open('x')\nblock_size = 4\n"))
    assert lens == "RTX 4070 | not known before the run: batch_size (calls open at run time)"
    (lens,) = code_lenses(context_of("batch_size = 4\ndevice = 'cpu'\n"))
    assert "device = 'cpu': no GPU memory" in lens


def test_a_run_that_only_evaluates_has_no_iterations_to_count() -> None:
    (lens,) = code_lenses(context_of(WHOLE + "eval_only = True\neval_iters = 50\n"))
    assert lens.endswith("200 sequences evaluated per split")


def test_a_script_has_neither(tmp_path: Path) -> None:
    script = write_project(tmp_path) / "sample.py"
    text = script.read_text()
    context = context_of(text, path=script)
    assert code_lenses(context) == () and inlay_hints(context, text) == ()


def test_a_lens_says_that_it_is_in_doubt(tmp_path: Path) -> None:
    path = write_project(tmp_path, {"train.py": train_script(loop=TWICE)}) / "x.py"
    (lens,) = code_lenses(context_of(SMALL, path=path))
    assert " | peak ~" in lens
    assert " | not certain: assuming " in lens
