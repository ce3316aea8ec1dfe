"""Scripts of nanoGPT's kind are read whole: what they do counts, not whether they look like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import nanolint
from tests.support.project_tree import CONTEXT, SETUP, train_script, write_project

SMALL = (
    "batch_size = 4\nblock_size = 64\ngradient_accumulation_steps = 8\nn_layer = 2\nn_head = 2\n"
    "n_embd = 64\ndataset = 'openwebtext'\n"
)
PARAMETERS = 4 * (50304 * 64 + 64 * 64 + 2 * (12 * 64 * 64 + 2 * 64) + 64)  # bytes
RESUME = """
if init_from == 'resume':
    checkpoint = torch.load('out/ckpt.pt', map_location=device)
    for k in ['n_layer', 'n_head', 'n_embd', 'block_size', 'bias', 'vocab_size']:
        model_args[k] = checkpoint['model_args'][k]
    gptconf = GPTConfig(**model_args)
"""


def explained(script: str, text: str = SMALL, gpu: str = "rtx-4090") -> dict[str, Any]:
    write_project(Path(), {"train.py": script, "config/a.py": text})
    found: dict[str, Any] = json.loads(
        nanolint("explain", "config/a.py", f"--gpu={gpu}", "--isolated", "--format=json").out
    )
    return found


def allocated(script: str, text: str = f"{SMALL}compile = False\n") -> int:
    found = explained(script, text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    nbytes: int = found["peak"]["allocated_bytes"]
    return nbytes


def test_a_copy_of_the_parameters_that_is_kept_is_counted() -> None:
    keeps = SETUP.replace(
        "optimizer =", "copies = [p.clone() for p in model.parameters()]\noptimizer ="
    )
    more = allocated(train_script(setup=keeps)) - allocated(train_script())
    assert 0 <= more - PARAMETERS < PARAMETERS // 100


def test_a_script_without_autocast_is_read_in_float32() -> None:
    plain = CONTEXT[: CONTEXT.index("ctx =")] + "ctx = nullcontext()\n"
    assert allocated(train_script(context=plain)) > allocated(train_script())


def test_a_run_that_resumes_has_a_checkpoint_as_its_settings_leave_it() -> None:
    before, after = SETUP.split("gptconf = GPTConfig(**model_args)\n")
    loads = f"{RESUME}    start = checkpoint['iter_num']\n"
    takes = "if init_from == 'resume':\n    model.load_state_dict(checkpoint['model'])\n"
    after = after.replace("scaler =", f"{takes}scaler =")
    script = train_script(setup=f"{before}gptconf = GPTConfig(**model_args)\n{loads}{after}")
    fresh = explained(script, f"{SMALL}compile = False\n")
    found = explained(script, f"{SMALL}compile = False\ninit_from = 'resume'\n")
    assert found["trust"] == "doubted"
    resumed, loaded = found["doubts"]
    assert "the checkpoint it resumes from" in resumed
    assert "weights are loaded to the card here" in loaded
    more = found["peak"]["allocated_bytes"] - fresh["peak"]["allocated_bytes"]
    assert 0 <= more - PARAMETERS < PARAMETERS // 100
    untold = SMALL.replace("n_layer = 2\n", "") + "init_from = 'resume'\n"
    assert [each["key"] for each in explained(script, untold)["unresolved"]] == ["n_layer"]
    own = script.replace(
        RESUME, "\nif init_from == 'resume':\n    checkpoint = torch.load('a.pt')\n"
    )
    assert explained(own, untold)["peak"] is not None


def test_a_card_without_bfloat16_has_the_compiled_run_in_float16() -> None:
    old, new = (explained(train_script(), gpu=gpu) for gpu in ("v100", "rtx-4090"))
    assert (old["trust"], old["in_float16"], old["doubts"]) == ("read", True, [])
    assert old["peak"]["allocated_bytes"] == pytest.approx(new["peak"]["allocated_bytes"], rel=0.01)


def test_what_a_model_asserts_of_its_sizes_makes_no_run() -> None:
    found = explained(train_script(), SMALL.replace("n_head = 2", "n_head = 5"))
    assert found["trust"] == "unknown"
    assert "n_embd % config.n_head == 0" in json.dumps(found["unresolved"])


def test_a_size_that_the_script_computes_is_not_known_of_the_run() -> None:
    script = train_script(setup=SETUP.replace("'n_head': n_head", "'n_head': n_layer * 1"))
    run = explained(script)["run"]
    assert (run["n_layer"], run["n_head"], run["n_embd"], run["bias"]) == (2, None, 64, False)
    computed = train_script(setup=SETUP.replace("= bias, dropout", "= n_layer == 2, dropout"))
    run = explained(computed)["run"]
    assert (run["bias"], run["parameters"], run["parameters_reported"]) == (None, None, None)


def test_a_vocabulary_that_only_its_reading_tells_is_not_known_of_the_run() -> None:
    counted = SETUP.replace("50304 if letters is None else letters", "sum(1 for _ in range(512))")
    found = explained(train_script(setup=counted))
    assert found["trust"] == "read"
    run, role = found["run"], found["roles"]["vocabulary"]
    assert (run["vocab_size"], run["parameters"], role["value"]) == (None, None, None)


def test_a_script_whose_model_is_not_there_has_no_number() -> None:
    write_project(Path(), {"config/a.py": SMALL})
    Path("model.py").unlink()
    found = json.loads(
        nanolint("explain", "config/a.py", "--gpu=t4", "--isolated", "--format=json").out
    )
    assert found["trust"] == "unknown"
