"""``nanolint explain --format json``: a shape that does not change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nanolint.settings.torch_version import NEWEST
from tests.support.command import nanolint
from tests.support.project_tree import LOADER, SETUP, train_script, write_project

CONFIG = """\
batch_size = 16
block_size = 512
n_layer = 6
n_head = 6
n_embd = 384
dtype = 'float16'
gradient_accumulation_steps = 4
"""

SHAPE: dict[str, Any] = {
    "file": None,
    "gpu": ["name", "total_bytes", "usable_bytes", "sm_count", "compute_capability"],
    "run": [
        *["batch_size", "gradient_accumulation_steps", "world_size", "block_size", "n_layer"],
        *["n_head", "n_embd", "vocab_size", "dropout", "bias", "dtype", "compile", "init_from"],
        *["device", "attention", "effective_batch_size", "tokens_per_iter", "parameters"],
        "parameters_reported",
    ],
    "peak": [
        *["allocated_bytes", "reserved_bytes", "context_bytes", "process_bytes", "phase", "at"],
    ],
    "phases": None,
    "components": [
        *["parameters", "gradients", "optimizer", "weight_copies", "activations"],
        *["logits_and_loss", "inputs", "workspace"],
    ],
    "largest_allocation": ["name", "bytes"],
    "stop": None,
    "fits": None,
    "oom": None,
    "ways_out": None,
    "unresolved": None,
    "trust": None,
    "doubts": None,
    "left_open": None,
    "in_float16": None,
    "torch": None,
    "roles": [
        *["micro-batch", "accumulation", "context", "layers", "heads", "width", "vocabulary"],
        *["dtype", "compile"],
    ],
}


def explain(*arguments: str, config: str = CONFIG) -> dict[str, Any]:
    Path("a.py").write_text(config, encoding="utf-8")
    outcome = nanolint("explain", "a.py", "--format=json", *arguments)
    assert (outcome.status, outcome.err) == (0, "")
    told: dict[str, Any] = json.loads(outcome.out)
    assert list(told) == list(SHAPE)
    return told


def test_the_shape() -> None:
    told = explain("--gpu=rtx-4070")
    for key, keys in SHAPE.items():
        if keys is not None:
            assert list(told[key]) == keys
    assert told["phases"][0].keys() == {"name", "allocated_bytes"}
    assert [phase["name"] for phase in told["phases"]] == [
        *["eval", "forward", "backward", "optimizer", "eval_late"]
    ]


def test_the_numbers_agree_with_each_other() -> None:
    told = explain("--gpu=rtx-4070")
    peak = told["peak"]
    assert sum(told["components"].values()) == peak["allocated_bytes"]
    assert peak["process_bytes"] == peak["reserved_bytes"] + peak["context_bytes"]
    assert max(phase["allocated_bytes"] for phase in told["phases"]) == peak["allocated_bytes"]
    assert (told["fits"], told["oom"]) == (True, None)
    assert told["run"]["tokens_per_iter"] == 16 * 4 * 512
    assert told["gpu"]["compute_capability"] == [8, 9]


def test_what_would_help_comes_by_what_it_costs() -> None:
    ways = explain("--gpu=rtx-4070", "--set", "batch_size=256")["ways_out"]
    order = ["same result", "same result, slower", "other numerics"]
    order += ["another effective batch", "another model"]
    places = [order.index(way["cost"]) for way in ways]
    assert places == sorted(places)
    (kept,) = [way for way in ways if "gradient_accumulation_steps" in way["change"]]
    assert kept["fits"] is True
    assert explain("--gpu=rtx-4070")["ways_out"] == []


def test_without_a_gpu() -> None:
    told = explain()
    assert (told["gpu"], told["fits"], told["oom"]) == (None, None, None)
    assert told["peak"]["process_bytes"] is None
    assert told["peak"]["allocated_bytes"] > 0


def test_a_key_that_only_a_run_could_tell() -> None:
    told = explain("--gpu=rtx-4070", config=f"{CONFIG}batch_size = pick()\n")
    assert (told["run"], told["peak"], told["components"]) == (None, None, None)
    assert [unresolved["key"] for unresolved in told["unresolved"]] == ["batch_size"]


def test_a_launch_line() -> None:
    Path("a.py").write_text(CONFIG, encoding="utf-8")
    outcome = nanolint("explain", "--gpu=12GB", "--format=json", "--", "a.py", "--batch_size=2")
    assert json.loads(outcome.out)["run"]["batch_size"] == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"a = = 1", "a.py: "), (b"\0", "a.py: it contains NUL bytes"), (None, "a.py: no such file")],
)
def test_what_cannot_be_read(content: bytes | None, told: str) -> None:
    if content is not None:
        Path("a.py").write_bytes(content)
    outcome = nanolint("explain", "a.py", "--format=json")
    assert outcome.status == 2
    assert outcome.error.startswith(f"nanolint: {told}")


def test_of_several_gpus_each_has_its_object() -> None:
    Path("a.py").write_text(CONFIG, encoding="utf-8")
    outcome = nanolint("explain", "a.py", "--gpu=12GB", "--gpu=rtx-4070", "--format=json")
    told = json.loads(outcome.out)
    assert [each["gpu"]["name"] for each in told] == ["12 GB card", "RTX 4070"]
    assert [list(each) for each in told] == [list(SHAPE)] * 2


def test_pages_and_pictures_take_one_gpu() -> None:
    Path("a.py").write_text(CONFIG, encoding="utf-8")
    outcome = nanolint("explain", "a.py", "--gpu=12GB", "--gpu=rtx-4070", "--html=a.html")
    assert outcome.status == 2
    assert outcome.error == (
        "nanolint: explain takes one GPU, found 12 GB card, RTX 4070; choose one with --gpu"
    )


def test_a_run_off_the_gpu_takes_nothing_of_it() -> None:
    told = explain("--gpu=rtx-3060-12gb", "--set=device=cpu")
    sizes = [size for key, size in told["peak"].items() if key.endswith("_bytes")]
    assert sizes == [0, 0, 0, 0]
    assert 0 < told["gpu"]["usable_bytes"] < told["gpu"]["total_bytes"]
    assert told["fits"] is None


def test_roles_say_which_key_plays_which_part_and_where_it_is_set() -> None:
    roles = explain("--set", "n_layer=2")["roles"]
    place = {"origin": "file", "file": "a.py", "line": 1}
    assert roles["micro-batch"] == {"key": "batch_size", "value": 16, **place}
    assert (roles["layers"]["value"], roles["layers"]["origin"]) == (2, "command line")
    assert roles["vocabulary"]["key"] == "vocab_size"
    asked = CONFIG.replace("512", "choose()")
    unknown = explain(config=asked)["roles"]["context"]
    assert (unknown["key"], unknown["value"]) == ("block_size", None)


def test_the_torch_version_that_was_judged_for() -> None:
    assert explain("--torch-version=2.5")["torch"] == "2.5"
    assert explain()["torch"] == ".".join(map(str, NEWEST))


def test_a_role_that_another_key_plays(tmp_path: Path) -> None:
    loader = LOADER.replace("block_size", "n_ctx")
    setup = SETUP.replace("'block_size': block_size", "'block_size': n_ctx")
    script = train_script(extra_settings="n_ctx = 512\n", loader=loader, setup=setup)
    write_project(tmp_path, {"train.py": script})
    roles = explain(config="batch_size = 4\nblock_size = 64\n")["roles"]
    line = script.splitlines().index("n_ctx = 512") + 1
    assert roles["context"] == {
        "key": "n_ctx",
        "value": 512,
        "origin": "train script",
        "file": str(tmp_path / "train.py"),
        "line": line,
    }
    assert (roles["micro-batch"]["file"], roles["micro-batch"]["line"]) == ("a.py", 1)
    assert roles["layers"]["line"] == script.splitlines().index("n_layer = 12") + 1


def test_a_flag_of_a_launch_line_is_no_line_of_the_config(tmp_path: Path) -> None:
    write_project(tmp_path, {"run.sh": "set -e\npython train.py a.py --batch_size=3\n"})
    Path("a.py").write_text(CONFIG, encoding="utf-8")
    told = json.loads(nanolint("explain", "run.sh", "--format=json").out)
    assert told["roles"]["micro-batch"] == {
        "key": "batch_size",
        "value": 3,
        "origin": "command line",
        "file": None,
        "line": None,
    }


def test_what_evaluations_take_in_graphs_that_ddp_splits_is_not_known() -> None:
    """Traced, such an evaluation takes up to a quarter more than in one graph."""
    known = {
        words: [phase["allocated_bytes"] is not None for phase in explain(*words)["phases"]]
        for words in (("--gpu=2xA100-40GB",), ("--gpu=2xA100-40GB", "--set=compile=False"), ())
    }
    assert list(known.values()) == [[False, True, True, True, False], [True] * 5, [True] * 5]
    told = nanolint("explain", "a.py", "--gpu=2xA100-40GB").out
    assert "later estimate_loss not known: torch.compile splits its graph" in told


def test_a_step_of_several_processes_is_no_doubt() -> None:
    """Traced, it takes as much as in one graph: only evaluations do not."""
    found = explain("--gpu=2xA100-40GB")
    assert found["trust"] == "exact"
    assert found["doubts"] == []
