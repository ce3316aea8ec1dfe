"""Configs as an editor holds them: ``|`` in a text marks the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import judge, read
from nanolint.linting.setup import Setup
from nanolint.rule.context import Context
from nanolint.run.settled import Options
from nanolint.source.values import Known
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.source.values import Plain

RULES = registry.load().rules
CODES = {text.lower(): rule.code for rule in RULES for text in (rule.code, rule.name)}

# The default 124M model with a micro-batch that each test chooses.
SMALL = "batch_size = 4\nblock_size = 1024\n"

CONFIG = "config/small.py"  # in a project
SETTINGS = '# what we have\ngpu = "rtx-4070"  # in the office\n'


def context_of(
    text: str,
    *,
    gpu: str = "rtx-4070",
    path: Path | None = None,
    overrides: dict[str, Plain] | None = None,
) -> Context:
    """``text`` read and judged for the cards named, a comma between them."""
    given = tuple((key, Known(value)) for key, value in (overrides or {}).items())
    setup = Setup(
        rules=RULES,
        known_codes=CODES,
        targets=tuple(find(name) for name in gpu.split(",") if name),
        options=Options(overrides=given),
    )
    context = read(text, path, setup)
    assert isinstance(context, Context)
    judge(context, setup)
    return context


def project(root: Path, text: str = SMALL, settings: str = SETTINGS) -> Path:
    """A project in the folder ``root`` with the config CONFIG and, unless empty, settings."""
    files: dict[str, str | bytes] = {CONFIG: text}
    if settings:
        files["nanolint.toml"] = settings
    return write_project(root, files)


def split(marked: str) -> tuple[str, int]:
    """The text without its mark, and where that stood."""
    return marked.replace("|", "", 1), marked.index("|")
