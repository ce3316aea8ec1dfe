"""Lint and fix one text for a program: what ``nanolint.lint_text`` and ``nanolint.fix_text`` do."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.files.door import absolute, forget
from nanolint.linting import fixing
from nanolint.linting.engine import lint
from nanolint.linting.plan import make_plan
from nanolint.settings.schema import Sourced, discover

if TYPE_CHECKING:
    from os import PathLike

    from nanolint.diagnostics import Diagnostic
    from nanolint.linting.plan import Plan

    Name = str | PathLike[str] | None


def lint_text(text: str, name: Name, gpu: str | None) -> tuple[Diagnostic, ...]:
    """See ``nanolint.lint_text``."""
    path, plan = plan_for(name, gpu)
    linted = partial(lint, path=path, setup=plan.setup(path))
    return fixing.offered(linted, text, linted(text)).diagnostics


def fix_text(text: str, name: Name, gpu: str | None, *, unsafe: bool) -> str:
    """See ``nanolint.fix_text``."""
    path, plan = plan_for(name, gpu)
    linted = partial(lint, path=path, setup=plan.setup(path))
    wanted = partial(fixing.is_wanted, unsafe=unsafe, alone=True)
    return fixing.fix_text(linted, text, fixable=wanted).text


def plan_for(name: Name, gpu: str | None) -> tuple[Path | None, Plan]:
    """The path that ``name`` stands for, and how a file there is judged. Raises UserError."""
    forget()  # since the last call, anything may have changed
    path = None if name is None else absolute(Path(name))
    sourced = Sourced() if path is None else discover(path.parent)
    if gpu is not None:
        sourced = sourced.override("--gpu", gpu=(gpu,))
    return path, make_plan(sourced, os.environ)
