"""What a script passes to its model, its batch and its loop decides, not what a key is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.trust import Subject, Trust
from nanolint.source.values import Known
from tests.support.project_tree import (
    LOADER,
    LOOP,
    SETTINGS,
    SETUP,
    WORLD,
    train_script,
)
from tests.unit.run.settling import reasons, settle

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Resolution

Files = dict[str, str | bytes]


def renamed(old: str, new: str, **parts: str) -> Files:
    """A train.py whose settings call ``old`` by ``new``, and the rest of it too."""
    whole = {"settings": SETTINGS, "setup": SETUP, "loader": LOADER, **parts}
    return {
        "train.py": train_script(**{key: each.replace(old, new) for key, each in whole.items()})
    }


def sizes(found: Resolution) -> tuple[int, int]:
    assert found.run is not None
    return found.run.batch_size, found.run.block_size


def passing(old: str, new: str) -> str:
    """SETUP with another field of the model's configuration."""
    assert old in SETUP
    return SETUP.replace(old, new)


CONTEXT = "'block_size': block_size"


def test_a_context_by_another_name(tmp_path: Path) -> None:
    files = renamed(
        "block_size = 1024", "seq_len = 512", setup=passing(CONTEXT, "'block_size': seq_len")
    )
    files = {
        "train.py": str(files["train.py"])
        .replace("- block_size", "- seq_len")
        .replace("+ block_size", "+ seq_len")
    }
    found = settle(tmp_path, files=files)
    assert sizes(found) == (12, 512)
    assert found.trust is Trust.EXACT
    assert found.deciding["block_size"] == "seq_len"
    assert sizes(settle(tmp_path, "seq_len = 128\n", files=files)) == (12, 128)
    assert sizes(settle(tmp_path, "block_size = 64\n", files=files)) == (12, 512)


def test_a_key_that_is_something_else_here(tmp_path: Path) -> None:
    loader = LOADER.replace("block_size", "n_ctx")
    files: Files = {
        "train.py": train_script(
            settings=SETTINGS.replace("block_size = 1024", "block_size = 128  # a kernel's tile"),
            extra_settings="n_ctx = 1024\n",
            setup=passing(CONTEXT, "'block_size': n_ctx"),
            loader=loader,
        )
    }
    assert sizes(settle(tmp_path, files=files)) == (12, 1024)


def test_a_computed_size_is_computed(tmp_path: Path) -> None:
    files: Files = {
        "train.py": train_script(
            settings=SETTINGS.replace("n_embd = 768", "head = 64"),
            setup="width = head * n_head\n" + passing("'n_embd': n_embd", "'n_embd': width"),
        )
    }
    found = settle(tmp_path, "n_head = 8\n", files=files)
    assert found.run is not None
    assert found.run.sizes.n_embd == 512
    assert found.deciding["n_embd"] is None


def test_a_size_that_is_nowhere_set_is_unknown_and_not_nanogpts(tmp_path: Path) -> None:
    files: Files = {
        "train.py": train_script(
            settings=SETTINGS.replace("batch_size = 12\n", ""),
            loader=LOADER.replace("batch_size", "data['train']['batch_size']"),
            extra_settings="data = {'train': {'batch_size': 30}}\n",
        )
    }
    found = settle(tmp_path, files=files)
    assert found.run is None or found.run.batch_size == 30
    loader = LOADER.replace("batch_size", "sizes_of_batches()")
    files = {
        "train.py": train_script(settings=SETTINGS.replace("batch_size = 12\n", ""), loader=loader)
    }
    found = settle(tmp_path, files=files)
    assert reasons(found)["batch_size"] == "no key of this project's train.py"
    assert found.trust is Trust.UNKNOWN


def test_a_size_from_a_call_is_unknown_with_its_line(tmp_path: Path) -> None:
    text = train_script(setup=passing("'n_layer': n_layer", "'n_layer': choose(n_layer)"))
    found = settle(tmp_path, files={"train.py": text})
    line = 1 + text[: text.index("model_args = {")].count("\n")
    assert f"(train.py:{line})" in reasons(found)["n_layer"]


def test_characters_counted_at_run_time_are_unknown(tmp_path: Path) -> None:
    counting = "letters = sorted(list(set(open('input.txt').read())))\nvocab_size = len(letters)\n"
    setup = counting + "sizes = {'n_layer': n_layer, 'n_head': n_head, 'n_embd': n_embd}\n"
    setup += "model = GPT(GPTConfig(vocab_size=vocab_size, block_size=block_size, **sizes))\n"
    setup += "optimizer = model.configure_optimizers(weight_decay)\n"
    found = settle(tmp_path, files={"train.py": train_script(setup=setup)})
    assert "vocab_size" in reasons(found)


def test_what_the_model_is_not_given_has_its_own_default(tmp_path: Path) -> None:
    setup = SETUP.replace("'n_layer': n_layer, ", "")
    config = "class GPTConfig:\n    n_layer: int = 3\n    n_head: int = 1\n"
    files: Files = {"train.py": train_script(setup=setup)}
    found = settle(tmp_path, files=files)
    assert found.settings["n_layer"].value == Known(12)
    found = settle(tmp_path, files={**files, "model.py": config + "class GPT: pass\n"})
    assert found.settings["n_layer"].value == Known(3)


@pytest.mark.parametrize(
    ("world", "loop", "passes"),
    [
        (WORLD, LOOP, 5),
        ("gradient_accumulation_steps = 480 // (batch_size * 8)\n", LOOP, 5),
        (
            "import os\nranks = int(os.environ.get('WORLD_SIZE', '1'))\n"
            "steps = 2 ** 19 // (batch_size * block_size * ranks)\n",
            LOOP.replace("range(gradient_accumulation_steps)", "range(steps)"),
            5,
        ),
    ],
)
def test_the_loop_runs_as_often_as_its_range_says(
    tmp_path: Path, world: str, loop: str, passes: int
) -> None:
    files: Files = {"train.py": train_script(world=world, loop=loop)}
    found = settle(tmp_path, files=files, world_size=8)
    assert found.run is not None
    assert found.run.micro_steps == passes
    assert (found.deciding.get("gradient_accumulation_steps", "it") is None) is (world != WORLD)


def test_passes_that_only_a_run_tells_are_a_doubt_about_sizes(tmp_path: Path) -> None:
    world = "gradient_accumulation_steps = choose()\n"
    found = settle(tmp_path, files={"train.py": train_script(world=world)})
    assert [doubt.subject for doubt in found.doubts] == [Subject.SIZES]


def test_a_loader_of_its_own_is_a_doubt_about_sizes(tmp_path: Path) -> None:
    loader = LOADER.replace("size=(batch_size,)", "size=shape").replace("def ", "shape = 3\n\ndef ")
    found = settle(tmp_path, files={"train.py": train_script(loader=loader)})
    assert found.trust is Trust.DOUBTED
    assert found.doubts[0].subject is Subject.SIZES
    assert "assuming batch_size" in found.doubts[0].text


def test_a_batch_shorter_than_the_model_is_a_doubt(tmp_path: Path) -> None:
    loader = LOADER.replace("block_size", "length").replace(
        "def ", "length = block_size // 2\n\ndef "
    )
    found = settle(tmp_path, files={"train.py": train_script(loader=loader)})
    assert sizes(found) == (12, 512)
    assert found.doubts[0].text == "the model is built for 1024 tokens, but a batch has 512"


SLICE = "corpus[start : start + block_size + 1]"


@pytest.mark.parametrize(
    ("slices", "tokens"),
    [
        ("corpus[start + 3 : start + 3 + block_size]", 1024),
        ("corpus[start : block_size + 1 + start]", 1024),
        ("corpus[start : start + block_size - 1]", 1023),
        ("corpus[start + 1 : start + block_size]", 1023),
        ("corpus[start - 2 : start + block_size]", 1026),
    ],
)
def test_a_batch_has_as_many_tokens_as_its_slices(tmp_path: Path, slices: str, tokens: int) -> None:
    loader = LOADER.replace(SLICE, slices)
    found = settle(tmp_path, files={"train.py": train_script(loader=loader)})
    assert sizes(found) == (12, tokens)
    assert (found.trust is Trust.EXACT) is (tokens == 1024)


def test_a_script_that_trains_in_a_function_is_followed_into_it(tmp_path: Path) -> None:
    text = train_script()
    head, configurator, tail = text.partition("exec(open('configurator.py').read())\n")
    body = "".join(f"    {line}\n" if line else "\n" for line in tail.splitlines())
    files: Files = {"train.py": f"{head}{configurator}def main():\n{body}\nmain()\n"}
    found = settle(tmp_path, "n_layer = 3\n", files=files)
    assert found.run is not None
    assert found.run.sizes.n_layer == 3


def test_an_evaluation_that_this_run_never_makes_is_a_doubt(tmp_path: Path) -> None:
    loop = LOOP.replace("% eval_interval == 0", "% eval_interval == 0 and not quick")
    script = train_script(extra_settings="quick = False\n", loop=loop)
    assert settle(tmp_path, files={"train.py": script}).doubts == ()
    found = settle(tmp_path, "quick = True\n", files={"train.py": script})
    (doubt,) = found.doubts
    assert doubt.subject is Subject.PIECE
    assert doubt.text == "the number includes an evaluation that this run never makes"
    assert doubt.line is not None
    assert script.splitlines()[doubt.line - 1].endswith("and not quick:")


def test_an_evaluation_that_comes_later_is_no_doubt(tmp_path: Path) -> None:
    loop = LOOP.replace("if step % eval", "if step > 0 and step % eval")
    assert settle(tmp_path, files={"train.py": train_script(loop=loop)}).doubts == ()
