"""The fixes that need no card, on generated texts: same values, and every byte around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolint.diagnostics import Safety
from nanolint.linting.engine import Report, lint
from nanolint.linting.fixing import fix_text
from nanolint.linting.registry import load
from nanolint.linting.setup import Setup
from nanolint.source.text import decode, encode
from tests.support.effort import examples
from tests.support.generated_configs import ENCODINGS, NEWLINES
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

FIXED = {"NL302", "NL313"}  # drifting types, stale arithmetic
CODES = {rule.code.lower(): rule.code for rule in load().rules}
SETUP = Setup(tuple(rule for rule in load().rules if rule.default), CODES)

# A statement, and the regular expressions of the parts of it that a fix may write.
STATEMENTS = [
    ("dropout = {}\n", ["0"]),
    ("learning_rate = {}  # peak\n", ["1"]),
    ("max_iters = {}\n", ["6e5", "100.0", "1_000.0"]),
    ("decay_lr = {}  # yes\n", ["1", "True"]),
    ("min_lr: float = {}\n", ["(0)", "0"]),
    ("beta1 = 0.9; beta2 = {}\n", ["1", "0"]),
    (
        "# {} = 512\nbatch_size = 4\nblock_size = 64\ngradient_accumulation_steps = 2\n",
        ["12 batch size * 64 block size * 2 gradaccum", "4 * 64 * 5", "4 * 64 * 2", "1, 2"],
    ),
    ("n_layer = 2\n", []),
    ("wandb_run_name = 'dropout = 0'\n", []),
    ("'''\nmax_iters = 6e5\n'''\n", []),
    ("# max_iters = 6e5\n", []),
    ("\x0c\n\t\n", []),
]


@dataclass(frozen=True)
class Written:
    text: str
    pattern: str  # of the fixed text
    encoding: str


@st.composite
def texts(draw: st.DrawFn) -> Written:
    encoding, header, exotic = ENCODINGS[draw(st.sampled_from(sorted(ENCODINGS)))]
    newline = draw(st.sampled_from(NEWLINES))
    parts = [(header, re.escape(header))]
    for statement, values in draw(st.lists(st.sampled_from(STATEMENTS), max_size=8, unique_by=str)):
        comment = draw(st.sampled_from(["", f"# {exotic}\n"]))
        value = draw(st.sampled_from(values)) if values else ""
        before, _, after = statement.partition("{}") if values else (statement, "", "")
        pattern = re.escape(before) + ("[^\r\n]+?" if values else "") + re.escape(after)
        parts.append((comment + before + value + after, re.escape(comment) + pattern))
    text, pattern = ("".join(column) for column in zip(*parts, strict=True))
    return Written(
        text.replace("\n", newline), pattern.replace("\\\n", re.escape(newline)), encoding
    )


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config of a project: without a train.py nobody knows what a comment is about."""
    return write_project(tmp_path_factory.mktemp("project")) / "config" / "a.py"


@examples(60)
@given(written=texts())
def test_a_fix_keeps_values_and_bytes(config: Path, written: Written) -> None:
    def linted(text: str) -> Report:
        return lint(text, config, SETUP)

    def fixed(text: str) -> str:
        result = fix_text(
            linted,
            text,
            fixable=lambda found: found.fix is not None and found.fix.safety is Safety.SAFE,
        )
        assert result.dropped == ()
        left = [each for each in result.report.diagnostics if each.code in FIXED and each.fix]
        assert left == []
        return result.text

    new = fixed(written.text)
    raw = encode(decode(written.text.encode(written.encoding)), new)
    assert values(raw) == values(written.text.encode(written.encoding))
    assert re.fullmatch(written.pattern, new), (written.text, new)
    assert fixed(new) == new


def values(raw: bytes) -> dict[str, Any]:
    """What Python makes of a generated config, which is safe to run."""
    names: dict[str, Any] = {}
    exec(raw, names)
    return {key: value for key, value in names.items() if not key.startswith("__")}
