"""A rule and what it yields: its metadata, its needs, its findings."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nanolint.diagnostics import Fix, Related, Severity, SourceLine, Span
    from nanolint.rule.context import Context


class Need(str, Enum):
    """What a rule cannot do without; where it is missing the engine skips the rule and says so."""

    CONFIG = "config"  # the file is a config: its assignments are settings of a run
    RUN = "run"  # every value that the replay needs is known
    GPU = "gpu"  # a target GPU
    TRAIN_SCRIPT = "train script"  # the project's own train.py
    FAULT = "syntax error"  # a file that is not valid Python
    OUTCOME = "outcome"  # what the other rules found, and which suppressions did nothing


# Why a rule that needs a GPU is skipped, unless because the run is not on one.
NO_TARGET = "no target GPU is set"


class FixAvailability(str, Enum):
    """Whether a rule brings fixes; its page and the index say so."""

    NONE = "none"
    SOMETIMES = "sometimes"
    ALWAYS = "always"


class Once(str, Enum):
    """What is the same wherever a project has it."""

    RULE = "rule"  # whatever the rule finds
    MESSAGE = "message"  # findings that say the same


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule yields, as in ``Diagnostic``; the engine adds code, name and severity."""

    message: str
    span: Span
    fix: Fix | None = None
    gpu: str | None = None
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    severity: Severity | None = None
    remedy: str = ""
    brief: str = ""
    details: tuple[str, ...] = ()
    holders: tuple[SourceLine, ...] = ()


Findings: TypeAlias = "Iterator[Finding]"  # what a check yields


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's metadata and its check. The page lies beside the module, with suffix ``.md``.

    ``family`` names a set of rules that report the same thing in different shapes: to select one
    of them, or to suppress its finding on a line, is to select or suppress all; to ignore one is to
    ignore that one. The rule runs only on files that contain one of ``markers`` (empty: on every
    file). ``once``: what the report shows a single time for a project, with the other places in
    a note.
    ``counts_processes``: on how many processes the run is started makes a difference to it.
    ``stops``: its errors end the run before its memory matters; ``fits``: its findings say that the
    run fits, which nobody says of a run that stops.
    """

    code: str
    name: str
    severity: Severity
    check: Callable[[Context], Iterable[Finding]]
    module: str
    needs: frozenset[Need] = frozenset()
    fix: FixAvailability = FixAvailability.NONE
    default: bool = True
    family: str | None = None
    markers: tuple[str, ...] = ()
    once: Once | None = None
    counts_processes: bool = False
    stops: bool = False
    fits: bool = False

    @property
    def depends_on_machine(self) -> bool:
        """Whether another card, another torch or more processes can change what it finds."""
        return Need.GPU in self.needs or bool(self.markers) or self.counts_processes

    @property
    def page(self) -> Path:
        """The path of the rule's page."""
        file = sys.modules[self.module].__file__
        if file is None:
            raise FileNotFoundError(f"rule {self.code} has no module file, and so no page")
        return Path(file).with_suffix(".md")

    @property
    def explanation(self) -> str:
        """The Markdown of the page; the summary where a rule of another package has no page."""
        try:
            return self.page.read_text(encoding="utf-8")
        except OSError:
            return f"# {self.name} ({self.code})\n\n{self.summary}\n"

    @property
    def summary(self) -> str:
        """The first line of the check's docstring; what its page says where Python drops those."""
        described = self.check.__doc__ or self._first_paragraph() or self.name
        return described.strip().splitlines()[0]

    def _first_paragraph(self) -> str:
        try:
            page = self.page.read_text(encoding="utf-8")
        except OSError:
            return ""
        _, _, text = page.partition("## What it does")
        return text.strip().partition("\n\n")[0].replace("\n", " ")


def rule(
    code: str,
    name: str,
    severity: Severity,
    *,
    needs: Iterable[Need],
    fix: FixAvailability = FixAvailability.NONE,
    default: bool = True,
    family: str | None = None,
    markers: tuple[str, ...] = (),
    once: Once | None = None,
    counts_processes: bool = False,
    stops: bool = False,
    fits: bool = False,
) -> Callable[[Callable[[Context], Findings]], Rule]:
    """Make a rule of a check function."""

    def decorate(check: Callable[[Context], Findings]) -> Rule:
        return Rule(
            code=code,
            name=name,
            severity=severity,
            check=check,
            module=check.__module__,
            needs=frozenset(needs),
            fix=fix,
            default=default,
            family=family,
            markers=markers,
            once=once,
            counts_processes=counts_processes,
            stops=stops,
            fits=fits,
        )

    return decorate
