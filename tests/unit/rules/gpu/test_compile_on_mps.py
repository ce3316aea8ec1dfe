from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL205")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("device = 'mps'\ncompile = True\n", "device = 'mps'\ncompile = False\n"),
        ("device = 'mps'  # Äpfel", "device = 'mps'  # Äpfel\ncompile = False"),
        ("device = 'mps:0'\r\n", "device = 'mps:0'\r\ncompile = False\r\n"),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


def test_the_command_line_counts() -> None:
    bench = Bench("NL205", overrides={"device": "mps"})
    assert bench.fixed("batch_size = 4\n", unsafe=True) == "batch_size = 4\ncompile = False\n"


@pytest.mark.parametrize("device", ["cpu", "cuda", "xpu"])
def test_other_devices(device: str) -> None:
    assert BENCH.findings(f"device = '{device}'\ncompile = True\n") == []


def test_not_compiled() -> None:
    assert BENCH.findings("device = 'mps'\ncompile = False\n") == []
