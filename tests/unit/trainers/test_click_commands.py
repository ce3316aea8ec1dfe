"""Scripts whose training is a click command: its options decide what is allocated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.unit.trainers.test_own_data import HEAD, LOOP, NET

if TYPE_CHECKING:
    from pathlib import Path

BODY = "".join(f"    {line}\n" for line in LOOP.replace("Net()", "Net(width)").splitlines())
GET = """
def get_batch():
    x = torch.zeros((rows, T), dtype=torch.long)
    return x, x
"""
INNER = "".join(f"    {line}\n" for line in GET.splitlines())
PLAIN = f"{HEAD}\nvocab_size = 5000\n{NET}\ndef main(rows, width, wide=False):\n{INNER}{BODY}\n"
OPTIONS = """
@click.option("--rows", "-r", default=8, help="sequences")
@click.option("--hidden", "width", type=int, default=64)
@click.option("--wide/--no-wide", default=False)
def main("""


def peak(folder: Path, text: str, line: str) -> Any:
    (folder / "train.py").write_text(text, encoding="utf-8")
    (folder / "run.sh").write_text(f"python train.py {line}\n", encoding="utf-8")
    done = nanolint("explain", str(folder / "run.sh"), "--gpu", "a100-40gb", "--format", "json")
    found = json.loads(done.out)
    assert (found["trust"], found["doubts"]) == ("read", [])
    return found["peak"]["allocated_bytes"]


@pytest.mark.parametrize("above", ["@click.command()", "@click.command", '@click.command("train")'])
@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("", "main(8, 64)"),
        ("--rows=16 --wide", "main(16, 64, True)"),
        ("-r 4 --hidden 128 --no-wide", "main(4, 128)"),
    ],
)
def test_a_command_takes_what_its_call_would(
    tmp_path: Path, above: str, line: str, called: str
) -> None:
    text = f"import click\n{PLAIN}".replace("\ndef main(", f"\n{above}{OPTIONS}")
    assert peak(tmp_path, f"{text}\nmain()\n", line) == peak(tmp_path, f"{PLAIN}\n{called}\n", "")


def test_an_option_may_stand_above_the_command(tmp_path: Path) -> None:
    text = f"import click\n{PLAIN}".replace(
        "\ndef main(",
        '\n@click.option("--rows", default=8)\n@click.command()\n'
        '@click.option("--width", default=64)\ndef main(',
    )
    assert peak(tmp_path, f"{text}\nmain()\n", "") == peak(tmp_path, f"{PLAIN}\nmain(8, 64)\n", "")
