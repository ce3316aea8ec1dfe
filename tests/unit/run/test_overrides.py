"""Overrides are read exactly as nanoGPT's configurator reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolint.launches.commands import Argument
from nanolint.run.overrides import override_faults, parse_override, read_arguments
from nanolint.run.settled import Override
from nanolint.source.values import Known, Plain, Unknown
from nanolint.trainers.nanogpt.project import NANOGPT


@pytest.mark.parametrize(
    ("argument", "key", "value"),
    [
        ("batch_size=32", "batch_size", 32),
        ("--batch_size=32", "batch_size", 32),
        ("--compile=False", "compile", False),
        ("--learning_rate=6e-4", "learning_rate", 6e-4),
        ("--weight_decay=-1", "weight_decay", -1),
        ("--init_from=gpt2-xl", "init_from", "gpt2-xl"),
        ("--init_from='gpt2'", "init_from", "gpt2"),
        ("--out_dir=", "out_dir", ""),
        ("--gradient_accumulation_steps=5 * 8", "gradient_accumulation_steps", "5 * 8"),
        ("--betas=(0.9, 0.95)", "betas", (0.9, 0.95)),
        ("--start=\\d", "start", "\\d"),
    ],
)
def test_a_literal_is_its_value_and_anything_else_a_string(
    argument: str, key: str, value: Plain
) -> None:
    found_key, found = parse_override(argument)
    assert (found_key, found) == (key, Known(value))
    assert isinstance(found, Known) and type(found.value) is type(value)  # True is not 1


@pytest.mark.parametrize("text", ["{1, 2}", "b'x'", "1j", "...", "{[]: 1}"])
def test_what_no_key_can_hold_is_unknown(text: str) -> None:
    assert isinstance(parse_override(f"x={text}")[1], Unknown)


@pytest.mark.parametrize(
    "argument",
    ["batch_size", "--batch_size", "", "=3", "--=3", "a b=3", "x=a=b", "x=" + "1" * 5000],
)
def test_what_nanogpt_refuses_is_refused_in_one_line(argument: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]{1,150}$"):
        parse_override(argument)


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_override(text)
    except ValueError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    "text", ["[" * 4000, "(" * 4000 + ")" * 4000, "-" * 4000 + "1", "9" * 4000]
)
def test_no_value_breaks_the_reader(text: str) -> None:
    parse_override(f"x={text[:4096]}")


def test_configs_and_overrides_keep_their_order() -> None:
    words = ["--batch_size=4", "config/a.py", "--compile=False", "config/b.py"]
    assert read_arguments([Argument(word) for word in words]) == (
        Override("batch_size", Known(4)),
        Path("config/a.py"),
        Override("compile", Known(False)),
        Path("config/b.py"),
    )


def test_what_is_not_known_of_a_word() -> None:
    (found,) = read_arguments([Argument("--batch_size=$BS", "only a run tells")])
    assert found == Override("batch_size", Unknown("only a run tells"))
    with pytest.raises(ValueError, match="only a run tells"):
        read_arguments([Argument("$CONFIG", "only a run tells")])


@pytest.mark.parametrize("argument", ["--compile", "batch_size=32"])
def test_a_launch_line_obeys_nanogpts_dashes(argument: str) -> None:
    with pytest.raises(ValueError, match=r"two dashes|needs a value"):
        read_arguments([Argument(argument)])


def test_the_configurator_would_refuse_unknown_keys_and_other_types() -> None:
    overrides = [
        ("batch_size", Known(32)),
        ("batchsize", Known(32)),
        ("dropout", Known(0)),
        ("dtype", Known("float16")),
        ("vocab_size", Known(65)),
    ]
    assert override_faults(overrides, NANOGPT) == (
        ("batchsize", "train.py has no key batchsize; did you mean batch_size?"),
        ("dropout", "dropout must be float, as in train.py, not int"),
    )
    wider = replace(NANOGPT, known_keys=NANOGPT.known_keys | {"batchsize"})
    assert len(override_faults(overrides, wider)) == 1
