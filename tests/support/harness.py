"""Lint and fix a text as one rule sees it, every other rule beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety
from nanolint.gpus.lookup import find
from nanolint.linting import registry
from nanolint.linting.engine import Report, lint
from nanolint.linting.fixing import fix_text
from nanolint.linting.setup import Setup
from nanolint.run.settled import Options
from nanolint.source.text import LineIndex
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic
    from nanolint.rule import Rule
    from nanolint.source.values import Plain


RULES = registry.load().rules
CODES = {text.lower(): rule.code for rule in RULES for text in (rule.code, rule.name)}


class Bench:
    """One rule under test, with what the user said outside the file."""

    def __init__(
        self,
        code: str,
        *,
        gpu: str = "",
        world_size: int | None = None,
        torch: tuple[int, int] | None = None,
        allocator: str = "default",
        in_use: int = 0,
        overrides: dict[str, Plain] | None = None,
        path: Path | None = None,
    ) -> None:
        self.rule: Rule = registry.load().find(code)
        self.path = path
        names = (name for name in gpu.split(",") if name)
        targets = tuple(
            replace(find(name), in_use_bytes=in_use, allocator=allocator) for name in names
        )
        self._setup = Setup(
            rules=_beside(self.rule),
            known_codes=CODES,
            targets=targets,
            options=Options(
                overrides=tuple((key, Known(value)) for key, value in (overrides or {}).items()),
                world_size=world_size,
                torch_version=torch,
                oldest_torch=torch,
            ),
        )

    def report(self, text: str) -> Report:
        """Everything that is said of ``text``."""
        return lint(text, self.path, self._setup)

    def findings(self, text: str) -> list[Diagnostic]:
        """What the rule finds."""
        return [each for each in self.report(text).diagnostics if each.code == self.rule.code]

    def finding(self, text: str) -> Diagnostic:
        """The one thing that the rule finds."""
        (found,) = self.findings(text)
        return found

    def marked(self, text: str) -> list[str]:
        """The characters that the rule points at."""
        return [text[each.span.start : each.span.end] for each in self.findings(text)]

    def lines(self, text: str, name: str) -> list[str]:
        """The rule's findings as ``--output-format concise`` prints them."""
        return lines(self.findings(text), text, name)

    def fixed(self, text: str, *, unsafe: bool = False) -> str:
        """``text`` with the rule's own fixes applied, which must converge and lose nothing."""

        def fixable(diagnostic: Diagnostic) -> bool:
            return diagnostic.code == self.rule.code and (unsafe or _is_safe(diagnostic))

        return self._fixed(text, fixable)

    def fixed_by_all(self, text: str) -> str:
        """``text`` with every safe fix applied."""
        return self._fixed(text, _is_safe)

    def _fixed(self, text: str, fixable: Callable[[Diagnostic], bool]) -> str:
        report = cache(self.report)
        result = fix_text(report, text, fixable=fixable)
        assert not result.dropped, result.dropped
        again = fix_text(report, result.text, fixable=fixable)
        assert again.text == result.text, "a second run changed the text again"
        return result.text


def lines(findings: list[Diagnostic], text: str, name: str) -> list[str]:
    """The findings as ``--output-format concise`` prints them."""
    index = LineIndex(text)
    return [
        f"{name}:{':'.join(map(str, index.position(each.span.start)))}: "
        f"{each.code}[{each.severity.value}] {each.line}"
        for each in findings
    ]


def _is_safe(diagnostic: Diagnostic) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.safety is Safety.SAFE


def _beside(rule: Rule) -> tuple[Rule, ...]:
    """All rules that are on by default, and ``rule``."""
    return tuple(each for each in RULES if each.default or each.code == rule.code)
