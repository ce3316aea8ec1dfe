from __future__ import annotations

import pytest

from tests.support.harness import Bench

KEY = "gradient_accumulation_steps"


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (f"{KEY} = 5 * 8\n", f"{KEY} = 42\n"),
        (f"{KEY} = 7\r\nbatch_size = 4", f"{KEY} = 6\r\nbatch_size = 4"),
        (f"{KEY}   =  ( 20 )    # größer\n", f"{KEY}   =  ( 18 )    # größer\n"),
        (f"{KEY} = (\n    4  # a\n    * 2  # b\n)\n", f"{KEY} = (\n    3  # a\n    * 2  # b\n)\n"),
        ("batch_size = 8", f"batch_size = 8\n{KEY} = 42"),
        (f"{KEY} = 1\n", f"{KEY} = 6\n"),
    ],
)
def test_six_gpus(text: str, fixed: str) -> None:
    bench = Bench("NL304", world_size=6)
    assert bench.fixed(text) == text, "the fix is unsafe"
    assert bench.fixed(text, unsafe=True) == fixed


def test_it_says_what_becomes_of_the_effective_batch() -> None:
    found = Bench("NL304", gpu="8xA100-40GB").finding(f"batch_size = 12\n{KEY} = 5\n")
    assert found.remedy == f"{KEY} = 8 divides evenly, with effective batch 96 instead of 60"


def test_several_targets_share_a_multiple() -> None:
    bench = Bench("NL304", gpu="4xA100-40GB,6xA100-80GB")
    assert (
        bench.fixed(f"batch_size = 1\n{KEY} = 20\n", unsafe=True) == f"batch_size = 1\n{KEY} = 24\n"
    )


def test_a_value_from_the_command_line_is_not_fixed_in_the_file() -> None:
    found = Bench("NL304", world_size=4, overrides={KEY: 10}).finding(
        f"{KEY} = 8\nbatch_size = 1\n"
    )
    assert found.fix is None
    assert found.notes == (f"pass --{KEY}=12 instead",)


@pytest.mark.parametrize("text", [f"max_iters = 100 * {KEY}\n", f"{KEY} = iters = 7\n"])
def test_a_value_that_others_depend_on_is_not_fixed(text: str) -> None:
    found = Bench("NL304", world_size=6).finding(f"{KEY} = 7\nbatch_size = 2\n{text}")
    assert found.fix is None
    assert found.notes[0].startswith("not fixed: ")


@pytest.mark.parametrize(
    ("text", "world_size"),
    [(f"{KEY} = 5 * 8\n", 8), (f"{KEY} = 5\n", 1), (f"{KEY} = 5\n", None), (f"{KEY} = 'x'\n", 8)],
)
def test_not_reported(text: str, world_size: int | None) -> None:
    assert Bench("NL304", world_size=world_size).findings(text) == []
