"""NL308 to NL311: what becomes of the learning rate, and of the last steps."""

from __future__ import annotations

import pytest

from tests.support.harness import Bench

FINETUNING = "max_iters = 20\nlearning_rate = 3e-5\ndecay_lr = False\neval_interval = 5\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_iters = 5000\n", "the run ends after 0.83 % of the decay"),
        ("max_iters = 3\n", "the run ends after less than 0.01 % of the decay"),
        ("max_iters = 5000\nlr_decay_iters = 2000\n", "the last 3,000 steps run at min_lr"),
        ("lr_decay_iters = 300000\n", "the last 300,000 steps run at min_lr"),
    ],
)
def test_schedule_mismatch(text: str, told: str) -> None:
    assert told in Bench("NL308").finding(text).message


@pytest.mark.parametrize(
    "text",
    [
        FINETUNING,
        "max_iters = 100\nlr_decay_iters = 95\n",
        "batch_size = 4\n",
        "max_iters = 600000\n",
    ],
)
def test_no_schedule_mismatch(text: str) -> None:
    assert Bench("NL308").findings(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_iters = 500\n", "the run ends at 25 % of learning_rate"),
        ("max_iters = 1999\n", "the run ends at 99 % of learning_rate"),
        ("max_iters = 2000\n", "the run ends together with the warm-up"),
        (
            "max_iters = 5\nwarmup_iters = 90000000\n",
            "the run ends at less than 0.01 % of learning_rate",
        ),
        ("max_iters = 9000\nlr_decay_iters = 2000\n", "step 2000 divides by zero"),
        ("max_iters = 9000\nlr_decay_iters = 1000\n", "drops to min_lr right after the warm-up"),
    ],
)
def test_endless_warmup(text: str, told: str) -> None:
    assert told in Bench("NL309").finding(text).message


@pytest.mark.parametrize(
    "text",
    [FINETUNING, "max_iters = 500\nlr_decay_iters = 500\nwarmup_iters = 9\n", "bias = 1\n"],
)
def test_no_endless_warmup(text: str) -> None:
    assert Bench("NL309").findings(text) == []


@pytest.mark.parametrize("text", ["learning_rate = 1e-5\n", "min_lr = 1\n"])
def test_rising_learning_rate(text: str) -> None:
    assert "the learning rate rises" in Bench("NL310").finding(text).message


@pytest.mark.parametrize(
    "text", [FINETUNING, "learning_rate = 1e-3\nmin_lr = 1e-4\n", "learning_rate = 6e-5\n"]
)
def test_no_rising_learning_rate(text: str) -> None:
    assert Bench("NL310").findings(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_iters = 11000\neval_interval = 2500\n", "nothing after step 10,000 is saved"),
        ("max_iters = 500\n", "no step of the run is saved"),
    ],
)
def test_unsaved_tail(text: str, told: str) -> None:
    assert told in Bench("NL311").finding(text).message


@pytest.mark.parametrize(
    "text", [FINETUNING, "eval_interval = 1000\n", "max_iters = 7\neval_only = True\n"]
)
def test_no_unsaved_tail(text: str) -> None:
    assert Bench("NL311").findings(text) == []
