"""Which rules exist, in nanolint and in installed packs, and which of them a user selected."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.rule.spelling import meant_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.metadata import EntryPoint

    from nanolint.rule.api import Rule

BUILT_IN = "nanolint_rules"
ENTRY_POINT_GROUP = "nanolint.rules"
_CODE = lazily(r"[A-Z]{2}\d+", re.IGNORECASE)


class UnknownRule(ValueError):
    """A selector that names no rule. Its text is one line, with the nearest names."""

    def __init__(self, selector: str, names: Iterable[str]) -> None:
        import difflib

        spelled = {name.lower(): name for name in names}
        code = meant_code(selector, spelled)
        near = [code] if code else difflib.get_close_matches(selector.lower(), spelled, n=3)
        prefixes = sorted({name[:3] for name in spelled.values() if _CODE.fullmatch(name)})
        if _CODE.fullmatch(selector) and selector[:3].upper() not in prefixes:
            hint = f"; codes begin with {', '.join(prefixes)}"
            super().__init__(f"unknown rule {selector!r}{hint}")
            return
        meant = " or ".join(spelled[name] for name in near)
        hint = f"; did you mean {meant}?" if near else "; `nanolint rule` lists them"
        super().__init__(f"unknown rule {selector!r}{hint}")


@dataclass(frozen=True, slots=True)
class Selection:
    """Codes, prefixes of codes (``NL1``), names, or ``ALL``. The most specific selector wins.

    A rule that is off by default is selected by its code, its name or ``ALL``, not by a prefix.
    To select one of a family is to select all; to ignore one is to ignore that one.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Registry:
    """All rules by code, and a line for each rule pack that could not be loaded."""

    rules: tuple[Rule, ...]
    problems: tuple[str, ...] = ()

    def find(self, code_or_name: str) -> Rule:
        """The rule with that code or name; raises UnknownRule."""
        wanted = code_or_name.strip().lower()
        for rule in self.rules:
            if wanted in (rule.code.lower(), rule.name):
                return rule
        raise UnknownRule(code_or_name, self._names())

    def matching(self, selector: str, *, whole_families: bool = True) -> frozenset[str]:
        """The codes that a selector stands for; raises UnknownRule for none.

        With ``whole_families`` one of a family stands for all.
        """
        wanted = selector.strip().lower()
        if wanted == "all":
            return frozenset(rule.code for rule in self.rules)
        exact = [rule for rule in self.rules if wanted in (rule.code.lower(), rule.name)]
        hits = exact or [
            rule for rule in self.rules if wanted and rule.code.lower().startswith(wanted)
        ]
        if not hits:
            raise UnknownRule(selector, self._names())
        families = {rule.family for rule in hits if rule.family and whole_families}
        return frozenset(
            rule.code for rule in self.rules if rule in hits or rule.family in families
        )

    def family(self, code: str) -> str:
        """The family of the rule with ``code``; the code itself where there is none."""
        families = (rule.family for rule in self.rules if rule.code == code)
        return next(families, None) or code

    def choose(self, selection: Selection) -> tuple[Rule, ...]:
        """The selected rules, in order of their codes; raises UnknownRule."""
        selectors = (*selection.select, *selection.extend_select)
        wanted = self._specificity(selectors, selecting=True)
        unwanted = self._specificity(selection.ignore)
        chosen = []
        for rule in self.rules:
            default = 0 if rule.default and not selection.select else -1
            if wanted.get(rule.code, default) > unwanted.get(rule.code, -1):
                chosen.append(rule)
        return tuple(chosen)

    def _specificity(self, selectors: Sequence[str], *, selecting: bool = False) -> dict[str, int]:
        off = {rule.code for rule in self.rules if not rule.default}
        ranks: dict[str, int] = {}
        for selector in selectors:
            codes = self.matching(selector, whole_families=selecting)
            # ALL ranks lowest, then prefixes by length, then a code or a name.
            exact = any(selector.strip().lower() in (r.code.lower(), r.name) for r in self.rules)
            every = selector.strip().lower() == "all"
            rank = 1 if every else 100 if exact else 1 + len(selector)
            if selecting and not (every or exact):
                codes -= off
            for code in codes:
                ranks[code] = max(rank, ranks.get(code, 0))
        return ranks

    def _names(self) -> list[str]:
        return [text for rule in self.rules for text in (rule.code, rule.name)]


@lru_cache(maxsize=1)
def load() -> Registry:
    """The built-in rules and those of installed packs (entry-point group ``nanolint.rules``).

    An entry point names an iterable of Rule. A pack that fails to load is left out and reported.
    """
    from nanolint_rules import RULES

    rules: dict[str, Rule] = {rule.code: rule for rule in RULES}
    problems: list[str] = []
    for entry in _entry_points():
        try:
            pack = tuple(entry.load())
            clash = next((rule.code for rule in pack if rule.code in rules), None)
        except (Exception, SystemExit) as error:  # a broken pack takes no other rules with it
            problems.append(f"rule pack {entry.name!r} could not be loaded: {describe(error)}")
            continue
        if clash is not None:
            problems.append(f"rule pack {entry.name!r} left out: {clash} exists already")
            continue
        rules.update({rule.code: rule for rule in pack})
    ordered = sorted(rules.values(), key=lambda rule: rule.code)
    return Registry(tuple(ordered), tuple(problems))


def _entry_points() -> Iterable[EntryPoint]:
    if not may_be_installed(ENTRY_POINT_GROUP):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def is_built_in(rule: Rule) -> bool:
    """Whether the rule is nanolint's own."""
    return rule.module.partition(".")[0] == BUILT_IN


def describe(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


METADATA = (".dist-info", ".egg-info")


def may_be_installed(group: str) -> bool:
    """False where no package in plain folders declares entry points in ``group``.

    Whatever else packages may be found in counts as having some.
    """
    usual = {"BuiltinImporter", "FrozenImporter", "PathFinder"}
    for finder in sys.meta_path:
        if hasattr(finder, "find_distributions") and getattr(finder, "__name__", "") not in usual:
            return True
    return any(_declares(place or os.curdir, group.encode()) for place in sys.path)


def _declares(place: str, group: bytes) -> bool:
    try:
        names = os.listdir(place)  # noqa: PTH208 (importing pathlib is not free either)
    except NotADirectoryError:  # an archive
        return True
    except OSError:
        return False
    for name in names:
        if name.endswith(".egg"):
            return True
        if name.endswith(METADATA):
            path = os.path.join(place, name, "entry_points.txt")  # noqa: PTH118
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    if group in file.read():
                        return True
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                return True
    return False
