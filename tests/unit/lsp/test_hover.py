"""Hover: meaning, value, origin, default, share of the peak, and the price of a step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.lsp.hover import hover
from nanolint.units import format_bytes
from nanolint.verdict.replay import replay
from tests.support.lsp_configs import SMALL, context_of, split
from tests.support.project_tree import SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path


def told(marked: str, **setup: object) -> str:
    text, offset = split(marked)
    found = hover(context_of(text, **setup), text, offset)  # type: ignore[arg-type]
    return found.markdown if found else ""


def test_a_key_is_told_with_meaning_value_origin_and_default() -> None:
    shown = told("block_size = 1024\nbatch|_size = 2 * 2\n")
    assert shown.startswith("**batch_size** = `4`\n\nmicro-batch: sequences per forward pass")
    assert "- from line 2\n" in shown
    assert "- nanoGPT's default: `12`\n" in shown


def test_a_step_costs_what_the_replay_of_that_run_says() -> None:
    context = context_of(SMALL)
    run, target = context.run, context.cases[0].needed_target
    assert run is not None
    here = replay(run, target.gpu).peak.allocated_bytes
    other = replace(run, batch_size=5)
    more = replay(other, target.gpu).peak.allocated_bytes - here
    found = hover(context, SMALL, 3)
    assert found is not None
    assert f"- `batch_size = 5`: {format_bytes(more)} more, fits" in found.markdown
    least = replay(replace(run, batch_size=1), target.gpu).peak.allocated_bytes
    share = f"{format_bytes(here - least)}, {100 * (here - least) / here:.0f} %"
    assert f"its share of the peak: {share} (freed by `batch_size = 1`)" in found.markdown


def test_a_step_of_a_script_whose_heads_are_not_known_has_its_price(tmp_path: Path) -> None:
    script = train_script(setup=SETUP.replace("'n_head': n_head", "'n_head': n_layer * 1"))
    write_project(tmp_path, {"train.py": script})
    small = "n_layer = 2\nn_embd = 64\nblock_size = 64\n"
    shown = told(f"{small}batch|_size = 4\n", path=tmp_path / "config" / "x.py")
    assert "- `batch_size = 5`: " in shown and "(freed by `batch_size = 1`)" in shown


def test_a_choice_is_told_with_the_other_choices() -> None:
    shown = told("dtype| = 'bfloat16'\nbatch_size = 4\n")
    assert "`dtype = 'float32'`: " in shown and "`dtype = 'float16'`: " in shown
    assert "- `compile = True`: " in told("compile| = False\nbatch_size = 4\n")


def test_a_key_that_takes_no_memory_says_so_and_costs_no_replay() -> None:
    shown = told("learning_rate| = 1e-3\nbatch_size = 4\n")
    assert shown.endswith("- nanoGPT's default: `0.0006`\n- does not change GPU memory")


def test_a_run_that_is_not_known_names_the_key_that_is_missing() -> None:
    shown = told("batch|_size = 4\nn_layer = int(open('layers').read())\n")
    assert r"memory is not checked: not known before the run: n\_layer (calls " in shown


def test_a_run_off_the_gpu_takes_nothing() -> None:
    assert "nothing is allocated on a GPU" in told("batch|_size = 4\ndevice = 'cpu'\n")


def test_the_command_line_is_named_where_it_wins() -> None:
    text = "batch_size = 4\nblock_size = 1024\n"
    found = hover(context_of(text, overrides={"batch_size": 2}), text, 1)
    assert found is not None
    assert "**batch_size** = `2`" in found.markdown and "from the command line" in found.markdown


def test_a_value_of_any_length_is_told() -> None:
    assert told("max_iters| = 10 ** 5000\nbatch_size = 4\n").startswith("**max_iters** = ")
    long = told(f"out_dir| = '{'x' * 500}'\nbatch_size = 4\n")
    assert long.startswith("**out_dir** = `'xxx") and "...`\n" in long[:80]


def test_a_half_typed_text_keeps_what_was_known_of_it() -> None:
    context = context_of(SMALL)
    text = "# größer 🦜\nbatch_size = 4\nblock_size = (\n"
    found = hover(context, text, text.index("batch_size") + 3)
    assert found is not None
    assert text[found.span.start : found.span.end] == "batch_size"
    assert found.markdown.startswith("**batch_size** = `4`")


def test_a_code_in_a_suppression_shows_its_page_with_links_to_the_web() -> None:
    shown = told("batch_size = 4  # nanolint: ignore[NL1|03] measured\nblock_size = 1024\n")
    assert shown.startswith("# thin-margin (NL103)")
    assert "](https://github.com/" in shown and "](predicted_oom.md)" not in shown
    assert "```python\n" in shown  # no attributes behind the language: editors do not know them


def test_a_suppression_says_what_it_covers() -> None:
    line = "batch_size = 4  # nano|lint: ignore[NL103]\nblock_size = 1024\n"
    assert told(line) == "suppresses NL103 of this statement"
    assert "every finding in this file" in told("# nano|lint: ignore-file\n" + SMALL)
    assert "no rule has this code" in told("batch_size = 4  # nanolint: ignore[NL9|99]\n")
    assert "suppresses nothing: the bracket is not closed" in told(
        "batch_size = 4  # nano|lint: ignore[NL103\n"
    )


def test_a_script_has_no_keys_to_tell_of(tmp_path: Path) -> None:
    script = write_project(tmp_path) / "sample.py"
    text = script.read_text()
    assert hover(context_of(text, path=script), text, text.index("device") + 2) is None
