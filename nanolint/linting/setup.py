"""What the engine needs beside a text: rules, targets, options, and what the settings adjust."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.linting.adjusting import Adjustments
from nanolint.run.settled import Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.gpus.gpu import Machine
    from nanolint.rule.api import Need, Rule

SYNTAX_ERROR = "NL001"  # never deselected, never suppressed: nothing else can be said of the file


@dataclass(frozen=True, slots=True)
class Setup:
    """What is the same for every file of one invocation.

    ``known_codes`` maps each code and name that a suppression may use to its rule's code.
    """

    rules: tuple[Rule, ...]
    known_codes: Mapping[str, str]
    targets: tuple[Machine, ...] = ()
    options: Options = field(default_factory=Options)
    train_script: Path | None = None
    adjustments: Adjustments = Adjustments()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A selected rule that did not run on a file, and why."""

    code: str
    name: str
    need: Need
    reason: str
