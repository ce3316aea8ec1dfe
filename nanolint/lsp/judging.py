"""What an editor is told of one text: judged whole, fixed whole, and what both were read from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.files import notes
from nanolint.frozen import dataclass
from nanolint.linting.engine import Report, judge, lint, read
from nanolint.linting.fixing import Fixed, fix_text, is_wanted, offered
from nanolint.recording import kept
from nanolint.trainers.nanogpt.kind import CONFIG_FOLDERS, FileKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic
    from nanolint.linting.plan import Plan
    from nanolint.linting.setup import Setup
    from nanolint.rule.context import Context


@dataclass(frozen=True)
class Judged:
    """The outcome for one text. ``reads`` is all that it rests on beside the text.

    ``context`` is None for a file that is neither a config nor of interest to any rule.
    """

    text: str
    path: Path | None
    plan: Plan
    setup: Setup
    report: Report
    context: Context | None
    reads: notes.Reads

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings, as the settings have them."""
        return self.report.diagnostics

    @property
    def is_whole(self) -> bool:
        """Whether the text could be parsed."""
        return self.context is not None and self.context.fault is None

    @property
    def is_script(self) -> bool:
        """Whether the file is Python that no train.py would read as a config."""
        if self.context is None:
            return not _among_configs(self.path)
        return self.context.kind is FileKind.SCRIPT

    @cached_property
    def fixed(self) -> Fixed:
        """The text and other files with all safe fixes applied, by the fixer of ``--fix``."""
        return fix_text(
            _linter(self.path, self.setup),
            self.text,
            fixable=partial(is_wanted, unsafe=False),
        )


def judge_text(text: str, path: Path | None, plan: Plan) -> Judged:
    """Judge ``text`` as the content of ``path``.

    Who opens a file need not take it for a config, unless it lies among configs.
    """
    with notes.noting() as reads, kept.later():
        setup = plan.setup(path)
        context = read(text, path, setup, explicit=_among_configs(path), shown=True)
        if isinstance(context, Report):
            return Judged(text, path, plan, setup, context, None, reads)
        report = offered(_linter(path, setup), text, judge(context, setup))
        return Judged(text, path, plan, setup, report, context, reads)


def judge_ahead(text: str, path: Path | None, plan: Plan) -> None:
    """Judge a text that nobody has typed, so that all is known when somebody does."""
    linted = _linter(path, plan.setup(path))
    offered(linted, text, linted(text))


def _linter(path: Path | None, setup: Setup) -> Callable[[str], Report]:
    """Judges texts as the content of ``path``."""
    return partial(lint, path=path, setup=setup, explicit=_among_configs(path), shown=True)


def _among_configs(path: Path | None) -> bool:
    return path is not None and path.parent.name in CONFIG_FOLDERS
