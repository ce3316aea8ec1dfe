"""The fixer on configs made of pieces: the effective batch stays, and a second run does nothing."""

from __future__ import annotations

import ast

import atheris
from harness import run, watched

with watched():
    from nanolint.diagnostics import Safety
    from nanolint.linting.engine import lint
    from nanolint.linting.fixing import fix_text
    from nanolint.linting.plan import make_plan
    from nanolint.linting.setup import Setup  # noqa: TC001
    from nanolint.settings.schema import Sourced
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.scan import TooComplex
    from nanolint.source.values import Known

SETUPS: list[Setup] = [
    make_plan(Sourced(), {"NANOLINT_GPU": gpu}).setup(None)
    for gpu in ("1GiB", "2GiB", "4x1.5GiB", "1GiB,2GiB")
]
SMALL = "n_layer = 1\nn_head = 2\nn_embd = 64\nvocab_size = 512\neval_iters = 2\n"
NUMBERS = ("1", "2", "3", "8", "12", "40", "64", "96", "5 * 8", "2 * 2 * 8", "(6\n  * 10)", "0x10")
VALUES = ("True", "False", "'float16'", "'bfloat16'", "'float32'", "0.1", "'cuda'", "'scratch'")
KEYS = ("batch_size", "gradient_accumulation_steps", "block_size", "compile", "dtype", "dropout")
ENDS = ("\n", "  # größer\n", "\r\n", "\n\n", "\n# was 12 * 40 = 480\n", "; ", "\f\n")


def config(provider: atheris.FuzzedDataProvider) -> str:
    parts = [SMALL]
    for _ in range(provider.ConsumeIntInRange(1, 12)):
        key = KEYS[provider.ConsumeIntInRange(0, len(KEYS) - 1)]
        choices = NUMBERS if key in KEYS[:3] else VALUES
        value = choices[provider.ConsumeIntInRange(0, len(choices) - 1)]
        parts.append(f"{key} = {value}{ENDS[provider.ConsumeIntInRange(0, len(ENDS) - 1)]}")
    parts.append(provider.ConsumeUnicodeNoSurrogates(40))
    return "".join(parts)


def effective_batch(text: str) -> object:
    final = parse(text, {}, None).final
    pair = [
        final.get(key, Known(default))
        for key, default in (("batch_size", 12), ("gradient_accumulation_steps", 40))
    ]
    if not all(isinstance(value, Known) and type(value.value) is int for value in pair):
        return None
    return pair[0].value * pair[1].value


def one_input(data: bytes) -> None:
    provider = atheris.FuzzedDataProvider(data)
    setup = SETUPS[provider.ConsumeIntInRange(0, len(SETUPS) - 1)]
    text = config(provider)
    try:
        before = effective_batch(text)
    except (Unparsable, TooComplex):
        return

    def fixed(source: str) -> str:
        return fix_text(
            lambda each: lint(each, None, setup),
            source,
            fixable=lambda found: found.fix is not None and found.fix.safety is Safety.SAFE,
        ).text

    once = fixed(text)
    assert effective_batch(once) == before
    assert fixed(once) == once
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return
    ast.parse(once)


if __name__ == "__main__":
    run(one_input)
