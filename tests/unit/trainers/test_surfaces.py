"""Where scripts let values be set: each is found with its place, and can be written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Surface
from nanolint.trainers.script.core import Around, Word
from tests.unit.trainers.written_scripts import inside_main, read, script

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.described import Described

TOTAL = "passes = total // (B * T)\n"

SURFACES = {
    "constants": (f"total = 2**15\nB = 8  # rows\nT = 512\n{TOTAL}", Surface.CONSTANT, "8"),
    "a row of constants": (f"total = 2**15\nB, T = 4*2, 512\n{TOTAL}", Surface.CONSTANT, "4*2"),
    "class attributes": (
        f"""
        class Args:
            total = 2**15
            B: int = 8
            T = 512
        args = Args()
        B, T, total = args.B, args.T, args.total
        {TOTAL}""",
        Surface.FIELD,
        "8",
    ),
    "a dataclass": (
        f"""
        @dataclass
        class Args:
            total: int = 2**15
            B: int = 8
            T: int = 512
        args = Args()
        B, T, total = args.B, args.T, args.total
        {TOTAL}""",
        Surface.FIELD,
        "8",
    ),
    "argparse": (
        f"""
        import argparse
        parser = argparse.ArgumentParser()
        group = parser.add_argument_group("sizes")
        group.add_argument("-b", "--batch-size", type=int, default=8)
        parser.add_argument("--T", type=int, default=512)
        args = parser.parse_args()
        B, T, total = args.batch_size, args.T, 2**15
        {TOTAL}""",
        Surface.ARGUMENT,
        "8",
    ),
    "the environment": (
        f"""
        B = int(os.environ.get("ROWS", 8))
        T, total = 512, 2**15
        {TOTAL}""",
        Surface.ENVIRONMENT,
        "8",
    ),
    "nested dictionaries": (
        f"""
        config = {{"train": {{"rows": 8, "total": 2**15}}, "model": dict(T=512)}}
        B, T, total = config["train"]["rows"], config["model"]["T"], config["train"]["total"]
        {TOTAL}""",
        Surface.ENTRY,
        "8",
    ),
    "a configurator": (
        f"""
        B, T, total = 8, 512, 2**15
        exec(open("configurator.py").read())
        {TOTAL}""",
        Surface.GLOBAL,
        "8",
    ),
}


@pytest.mark.parametrize("name", SURFACES)
def test_a_micro_batch_is_found_where_it_is_written(name: str) -> None:
    settings, surface, written = SURFACES[name]
    text = script(settings)
    equation = read(text).equation
    assert equation is not None
    assert equation.tokens_per_step() == 2**15
    factor = equation.factor
    assert factor is not None
    assert factor.value == 8
    assert factor.surface is surface
    span = factor.place.span
    assert span is not None
    assert text[span.start : span.end] == written
    assert text[: span.start].count("\n") + 1 == factor.place.line


def test_constants_are_found_behind_an_import(tmp_path: Path) -> None:
    (tmp_path / "prepare.py").write_text("T = 512  # context\n", encoding="utf-8")
    found = read(script(f"from prepare import T\nB = 8\ntotal = 2**15\n{TOTAL}"), folder=tmp_path)
    context = found.roles[Role.CONTEXT]
    assert not isinstance(context, NotKnown)
    assert context.value == 512
    assert context.place.path == tmp_path / "prepare.py"  # type: ignore[union-attr]
    assert found.equation is not None
    assert found.equation.legal(16) == (1, 2, 4, 8, 16)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ((Word("--batch-size", "4"),), 4),
        ((Word("--bat", "4"),), 4),  # argparse allows a beginning
        ((Word("-b", "4"), Word("-b", "2")), 2),  # the last one counts
        ((Word("--nothing", "4"),), 8),
    ],
)
def test_a_flag_of_the_launch_line_counts_more_than_its_default(
    words: tuple[Word, ...], value: int
) -> None:
    settings, _, _ = SURFACES["argparse"]
    found = read(script(settings), Around(words=words))
    assert found.value(Role.MICRO_BATCH) == value


def test_a_flag_that_is_no_number_is_not_known() -> None:
    settings, _, _ = SURFACES["argparse"]
    found = read(script(settings), Around(words=(Word("--batch-size", "many"),)))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)
    assert found.equation is None


def test_the_configurator_takes_what_the_launch_line_says() -> None:
    settings, _, _ = SURFACES["a configurator"]
    found = read(script(settings), Around(words=(Word("--B", "2"),)))
    assert found.value(Role.MICRO_BATCH) == 2


def test_the_environment_of_the_launch_line_counts_more_than_a_default() -> None:
    settings, _, _ = SURFACES["the environment"]
    found = read(script(settings), Around(variables=(Word("ROWS", "2"),)))
    assert found.value(Role.MICRO_BATCH) == 2


def test_a_loop_inside_a_function_is_followed() -> None:
    found = read(inside_main(f"B, T, total = 8, 512, 2**15\n{TOTAL}"))
    assert found.equation is not None
    assert found.equation.legal(8) == (1, 2, 4, 8)


BY_MEMORY = """
import argparse, os
T, total = 512, 2**15
try:
    import pynvml
    pynvml.nvmlInit()
    held = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).total
except Exception:
    held = 8 << 30
rows = 16 if held > 10 << 30 else 8
{given}
passes = total // (B * T)
def evaluate(model, rows):
    with torch.no_grad():
        x, y = get_batch(rows, T)
        return model(x, y)
def sample(model):
    with torch.no_grad():
        return model(torch.zeros((1, 8), dtype=torch.long), None)
"""


@pytest.mark.parametrize(
    ("given", "gives"),
    [
        ('B = int(os.environ.get("ROWS", str(rows)))', "if ROWS is not set"),
        (
            "parser = argparse.ArgumentParser()\n"
            'parser.add_argument("--rows", type=int, default=rows)\n'
            "B = parser.parse_args().rows",
            "if --rows is not given",
        ),
    ],
)
def test_what_would_give_a_value_that_the_machine_decides_is_named(given: str, gives: str) -> None:
    """Forks of autoresearch ask NVML for the card's memory, where pynvml is installed."""
    text = script(BY_MEMORY.format(given=given)) + "evaluate(model, B)\nsample(model)\n"
    roles = read(text).roles
    said = roles[Role.MICRO_BATCH]
    assert isinstance(said, NotKnown)
    assert said.reason == f"set under `try`, {gives}"
    assert roles[Role.EVALUATION] == said


CLICK = """
import click
@click.command()
@click.option("--rows", "-r", "B", default=8, help="sequences")
@click.option("--passes", type=int, default=4)
@click.option("--half", is_flag=True)
def main(B, passes, half):
    T = 512
"""


def clicked(*words: Word) -> Described:
    body = script("", B="B", T="T", passes="passes")
    head, _, loop = body.partition("\nmodel = Net")
    inner = "\n".join(f"    {line}" for line in f"model = Net{loop}".splitlines())
    return read(
        f"{head}{CLICK}{inner}\nif __name__ == '__main__':\n    main()\n", Around(words=words)
    )


def test_the_options_of_a_click_command_are_flags() -> None:
    found = clicked()
    rows = found.roles[Role.MICRO_BATCH]
    assert isinstance(rows, Given)
    assert (rows.key, rows.value, rows.surface) == ("--rows", 8, Surface.ARGUMENT)
    assert rows.place.span is not None
    assert found.value(Role.ACCUMULATION) == 4


@pytest.mark.parametrize("flag", ["--rows", "-r"])
def test_the_launch_line_gives_them(flag: str) -> None:
    assert clicked(Word(flag, "16")).value(Role.MICRO_BATCH) == 16
    assert clicked(Word("--passes", "2")).value(Role.ACCUMULATION) == 2
