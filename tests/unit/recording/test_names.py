"""What a tensor is called is what it is: the shape and the type in its name make up its bytes."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from math import prod
from typing import Any

from nanolint.recording.recording import record
from nanolint.run.run import Attention, Run
from nanolint.tape.tape import Component, Tape
from tests.support.runs import SMALL, heads, width

ITEM_BYTES = {
    "int32": 4,
    "float32": 4,
    "float64": 8,
    "bfloat16": 2,
    "int64": 8,
    "uint8": 1,
    "bool": 1,
}
SHAPE = re.compile(r"\(([^)]+)\)(?: (\w+))?$")
GRADIENT = re.compile(r"gradient of (\S+\.(?:weight|bias))")
PARAMETER = re.compile(r"(?:parameter )?(\S+\.(?:weight|bias)) ")
OF_PARAMETER = re.compile(r"(parameter )?\S+\.(weight|bias) ")
WORDS = re.compile(r"[A-Za-z][\w.'*+,() -]*")

# No two of the sizes are alike: H, D = 3, 32; C = 96; B, T = 5, 128.
RUN = SMALL.having(batch_size=5, n_head=3, n_embd=96, vocab_size=777)
RESUMED: dict[str, Any] = {"init_from": "resume", "world_size": 2}
RUNS = [
    RUN.having(
        compile=compile, bias=bias, dropout=dropout, dtype=dtype, attention=attention, **rest
    )
    for compile, bias, dropout, dtype, attention, rest in product(
        (False, True),
        (False, True),
        (0.0, 0.1),
        ("float32", "bfloat16"),
        Attention,
        ({}, RESUMED),
    )
][::7]  # 7 divides the count of no setting, so each value of each is there


@cache
def tapes() -> list[tuple[Run, Tape]]:
    return [(run, record(run)) for run in RUNS]


def numel(shape: str, run: Run) -> int:
    sizes = {
        "B": run.batch_size,
        "T": run.block_size,
        "C": width(run),
        "H": heads(run),
        "D": width(run) // heads(run),
        "V": run.vocab_size,
    }
    return prod(
        int(factor) if factor.isdigit() else int(factor[:-1] or 1) * sizes[factor[-1]]
        for factor in re.split(r",\s*|\*", shape)
        if factor
    )


def test_every_parameter_has_its_gradient() -> None:
    for run, tape in tapes():
        named = list(zip(tape.names, tape.sizes, tape.components, strict=True))
        parameters = {
            parameter[1]: nbytes
            for name, nbytes, component in named
            if component is Component.PARAMETERS and (parameter := PARAMETER.match(name))
        }
        assert len(parameters) == 2 + 6 + 1 + (1 + 6) * bool(run.sizes.bias)
        gradients = {
            (gradient[1], nbytes, component)
            for name, nbytes, component in named
            if (gradient := GRADIENT.match(name))
        }
        assert all(component is Component.GRADIENTS for _, _, component in gradients)
        assert {name for name, _, _ in gradients} == parameters.keys()


def test_every_tensor_has_a_name_and_a_part_of_the_budget() -> None:
    for _, tape in tapes():
        assert all(map(WORDS.fullmatch, tape.names))
        assert not any("None" in name for name in tape.names)
        for name, component in zip(tape.names, tape.components, strict=True):
            assert isinstance(component, Component)
            if "(B*T, V)" in name or "loss" in name:
                assert component is Component.LOGITS_AND_LOSS
            if OF_PARAMETER.match(name):
                assert component is Component.PARAMETERS
            if "bias" in name:
                assert component not in (Component.ACTIVATIONS, Component.INPUTS)
