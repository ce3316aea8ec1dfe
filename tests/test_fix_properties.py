"""The fixer on generated configs: whatever the layout, the run stays the one asked for."""

from __future__ import annotations

import io
import tokenize
from itertools import zip_longest
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from nanolint.diagnostics import Safety
from nanolint.engine import Report, Setup, lint
from nanolint.fixing import Fixed, fix_text
from nanolint.gpus.lookup import find
from nanolint.memory.verdict import Outcome, judge
from nanolint.registry import Selection, load
from nanolint.run.config import Options

FAMILY = {"NL101", "NL102", "NL104"}
CARDS = ["rtx-3070", "rtx-3060", "rtx-4070", "t4", "rtx-3090", "a100-40gb", "8GB", "11.69GiB"]
NEWLINES = ["\n", "\r\n"]


@st.composite
def integers_as_written(draw: st.DrawFn, value: int) -> str:
    """``value`` as people write it: plain, grouped, as a product, in parentheses."""
    factors = [f for f in (2, 4, 5, 8, 16) if value % f == 0 and value > f]
    forms = [str(value), f"{value:_}", f"({value})", f"( {value}\n)"]
    forms += [f"{value // factor} * {factor}" for factor in factors]
    forms += [f"({value // factor}\n    * {factor})" for factor in factors]
    return draw(st.sampled_from(forms))


@st.composite
def configs(draw: st.DrawFn) -> str:
    """A config that sets its own shape, with whatever people put around values."""
    batch = draw(st.sampled_from([1, 2, 3, 7, 12, 16, 24, 48, 60, 64, 100]))
    accumulation = draw(st.sampled_from([1, 4, 5, 8, 32, 40]))
    lines = {
        "block_size": draw(st.sampled_from(["256", "512", "1024"])),
        "n_layer": draw(st.sampled_from(["2", "6", "12"])),
        "n_head": "12",
        "n_embd": "768",
        "dtype": draw(st.sampled_from(["'bfloat16'", "'float16'", "'float32'"])),
        "compile": draw(st.sampled_from(["True", "False"])),
        "batch_size": draw(integers_as_written(batch)),
    }
    if draw(st.booleans()):
        lines["gradient_accumulation_steps"] = draw(integers_as_written(accumulation))
    keys = draw(st.permutations(sorted(lines)))
    equals = draw(st.sampled_from([" = ", "=", "  =  "]))
    comments = st.sampled_from(["", "  # why", "\t# größer 🚀", "  # batch_size = 3"])
    fillers = st.sampled_from(
        ["", "# batch_size = 999\n", "\n", "# 注釈\n", "wandb_run_name = 'x'\n"]
    )
    text = "".join(f"{draw(fillers)}{key}{equals}{lines[key]}{draw(comments)}\n" for key in keys)
    if draw(st.booleans()):
        text = f"batch_size = 5 # overwritten below\n{text}"
    text = text if draw(st.booleans()) else text.removesuffix("\n")
    return text.replace("\n", draw(st.sampled_from(NEWLINES)))


def setup(card: str, world_size: int) -> Setup:
    rules = load().choose(Selection())
    codes = {rule.code.lower(): rule.code for rule in load().rules}
    return Setup(rules, codes, (find(card),), Options(world_size=world_size))


def fixed(text: str, lint_setup: Setup) -> tuple[Report, Fixed]:
    def linted(text: str) -> Report:
        return lint(text, None, lint_setup)

    result = fix_text(
        linted, text, fixable=lambda d: d.fix is not None and d.fix.safety is Safety.SAFE
    )
    return linted(text), result


def values(text: str) -> dict[str, Any]:
    """What Python makes of a generated config."""
    names: dict[str, Any] = {"gradient_accumulation_steps": 40}
    exec(text, names)
    del names["__builtins__"]
    return names


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(configs(), st.sampled_from(CARDS), st.sampled_from([1, 2, 4, 8]))
def test_a_fix_keeps_the_run_and_the_text_around_it(text: str, card: str, world: int) -> None:
    lint_setup = setup(card, world)
    before, result = fixed(text, lint_setup)
    old, new = values(text), values(result.text)
    pair = ("batch_size", "gradient_accumulation_steps")

    event(f"fixes applied: {len(result.applied)}")
    assert result.dropped == ()
    assert {k: v for k, v in old.items() if k not in pair} == {
        k: v for k, v in new.items() if k not in pair
    }
    if old["gradient_accumulation_steps"] % world == 0:
        assert old[pair[0]] * old[pair[1]] == new[pair[0]] * new[pair[1]]
        assert new[pair[1]] % world == 0
    assert comments(text) == comments(result.text)
    untouched_lines(text, result.text)

    again = fixed(result.text, lint_setup)[1]
    assert again.text == result.text

    left = [d for d in result.report.diagnostics if d.code in FAMILY]
    for diagnostic in left:
        assert diagnostic.fix is None or diagnostic.fix.safety is not Safety.SAFE
    if any(d.code in FAMILY and d.fix for d in before.diagnostics) and not left:
        assert_largest(old, new, text, lint_setup, world)


def untouched_lines(text: str, new_text: str) -> None:
    """Only lines that set one of the two keys may differ, or be new."""
    old_lines, new_lines = text.splitlines(keepends=True), new_text.splitlines(keepends=True)
    kept = [line for line in new_lines if line in old_lines]
    changed = [line for line in old_lines if line not in new_lines]
    assert len(changed) <= 4, changed
    for line, other in zip_longest(kept, [li for li in old_lines if li in new_lines]):
        assert line == other or "gradient_accumulation_steps" in (line or other or "")


def assert_largest(
    old: dict[str, Any], new: dict[str, Any], text: str, lint_setup: Setup, world: int
) -> None:
    """No larger divisor of the product would have been comfortable."""
    product = old["batch_size"] * old["gradient_accumulation_steps"]
    target = lint_setup.targets[0]
    run = run_of(text, lint_setup)
    for batch in range(new["batch_size"] + 1, old["batch_size"]):
        if product % batch or (product // batch) % world:
            continue
        from dataclasses import replace

        other = replace(run, batch_size=batch, gradient_accumulation_steps=product // batch)
        assert judge(other, target).outcome is not Outcome.COMFORTABLE, batch


def run_of(text: str, lint_setup: Setup) -> Any:
    from nanolint.run.project import find_project
    from nanolint.run.resolve import resolve
    from nanolint.source.parse import parse

    project = find_project(None)
    module = parse(text, project.environment, None)
    run = resolve(module, project, lint_setup.options, lint_setup.targets[0]).run
    assert run is not None
    return run
