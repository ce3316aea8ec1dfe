from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL003")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("n_head = 5    # nanolint: ignore[NL999]", "n_head = 5"),
        ("# nanolint: ignore[E501]\r\nn_head = 5\r\n", "n_head = 5\r\n"),
        (
            "n_head = 5  # nanolint: ignore[X1,NL303]  why\n",
            "n_head = 5  # nanolint: ignore[NL303]  why\n",
        ),
        ("n_head = [5,  # nanolint: ignore[X1, X2]\n]\n", "n_head = [5,\n]\n"),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


def test_a_reason_does_not_go_without_asking() -> None:
    text = "# nanolint: ignore[E501] größer\r\nn_head = 5\r\n"
    assert BENCH.fixed(text) == text
    assert BENCH.finding(text).notes == ("unsafe: it also removes the reason in the comment",)
    assert BENCH.fixed(text, unsafe=True) == "n_head = 5\r\n"


def test_did_you_mean() -> None:
    text = "n_head = 5  # nanolint: ignore[indivisable-heads]\n"
    assert BENCH.finding(text).message.endswith("did you mean indivisible-heads?")


@pytest.mark.parametrize(
    "comment",
    [
        "# nanolint: ignroe[NL303]",
        "# nanolint: ignore[NL303",
        "# nanolint: ignore[]",
        "# nanolint: off",
    ],
)
def test_not_written_as_a_suppression(comment: str) -> None:
    text = f"n_head = 5  {comment}\n"
    assert BENCH.marked(text) == [comment]
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "comment",
    [
        "# nanolint: ignore[NL303]",
        "# nanolint: ignore",
        "# noqa: F401",
        "# see nanolint: ignore[X]",
    ],
)
def test_not_reported(comment: str) -> None:
    assert BENCH.findings(f"n_head = 5  {comment}\n") == []
