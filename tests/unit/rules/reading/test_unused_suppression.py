from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL002")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("n_head = 6  # nanolint: ignore[NL303]\n", "n_head = 6\n"),
        ("n_head = 6\t\t#nanolint:ignore[NL303]", "n_head = 6"),
        ("bias = 1\r\n# nanolint: ignore[NL303]\r\nb = 2\r\n", "bias = 1\r\nb = 2\r\n"),
        ("bias = 1\n# nanolint: ignore[NL303]", "bias = 1"),
        ("bias = 1\r\n# nanolint: ignore[NL303]", "bias = 1"),
        ("# nanolint: ignore-file[NL303, NL305]\n\nbias = 1\n", "\nbias = 1\n"),
        (
            "n_head = (  # nanolint: ignore[NL303]\n    6\n)\n",
            "n_head = (\n    6\n)\n",
        ),
        (
            "dtype = 'x'  # nanolint: ignore[ NL305,NL314 , NL303 ] because\n",
            "dtype = 'x'  # nanolint: ignore[ NL314 ] because\n",
        ),
        (
            "dtype = 'x'  # nanolint: ignore[duplicate-assignment, Invalid-Choice]\n",
            "dtype = 'x'  # nanolint: ignore[Invalid-Choice]\n",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    ("text", "gpu"),
    [
        ("n_head = 6  # nanolint: ignore[NL303] the loader pads it\n", ""),
        ("n_head = 6  # nanolint: ignore[NL303]  # type: ignore\n", ""),
        ("batch_size = 16  # nanolint: ignore[NL103] 11.2 GiB on the lab card\n", "rtx-4090"),
        ("batch_size = 1  # nanolint: ignore[NL102]\n", "rtx-4090"),
        ("batch_size = 1  # nanolint: ignore[oversized-logits, NL303]\n", "rtx-4090"),
        ("gradient_accumulation_steps = 7  # nanolint: ignore[NL304]\n", ""),
    ],
)
def test_what_somebody_may_need_is_not_removed_without_asking(text: str, gpu: str) -> None:
    bench = Bench("NL002", gpu=gpu)
    assert bench.findings(text)
    assert bench.fixed_by_all(text) == text
    assert bench.fixed(text, unsafe=True) == text.partition("  #")[0] + "\n"


def test_it_says_why_it_asks() -> None:
    def notes(text: str) -> tuple[str, ...]:
        return Bench("NL002", gpu="rtx-4090").finding(text).notes

    reason = "n_head = 6  # nanolint: ignore[NL303] the loader pads it\n"
    assert notes(reason) == ("unsafe: it also removes the reason in the comment",)
    machine = "batch_size = 1  # nanolint: ignore[NL102]\n"
    assert notes(machine) == ("unsafe: the comment may suppress a finding on another machine",)


def test_every_code_is_told() -> None:
    text = "n_head = 6  # nanolint: ignore[NL303, NL305]\n"
    assert BENCH.marked(text) == ["NL303", "NL305"]


def test_a_comment_without_codes() -> None:
    text = "n_head = 6  # nanolint: ignore\n"
    assert BENCH.findings(text) == [], "a memory rule might have found something on a GPU"
    assert Bench("NL002", gpu="a100-80gb").fixed(text) == text, "found no train.py"


@pytest.mark.parametrize(
    "text",
    [
        "n_head = 5  # nanolint: ignore[NL303]\n",
        "batch_size = 999  # nanolint: ignore[NL101]\n",
        "batch_size = 9\n# nanolint: ignoring[NL303]\n",
        "out_dir = '# nanolint: ignore[NL303]'\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_one_code_of_a_family_stands_for_all() -> None:
    bench = Bench("NL002", gpu="rtx-3060")
    assert bench.findings("batch_size = 64  # nanolint: ignore[NL101]\nblock_size = 1024\n") == []
