"""Everything that a rule may ask about the file at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.diagnostics import BesideSpan, FlagSpan, Span
from nanolint.frozen import dataclass
from nanolint.run.settled import MEMORY, Layer, Override
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import libcst

    from nanolint.diagnostics import QuotedPlace
    from nanolint.rule.case import Case
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution, Setting
    from nanolint.run.takers import Takers
    from nanolint.run.trust import Doubt
    from nanolint.source.assignments import Assignment, Comment
    from nanolint.source.suppressions import Suppression
    from nanolint.source.text import LineIndex
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.config import Config


# Where a finding stands that belongs into another config of the same launch line.
ELSEWHERE = Span(-1, -1)


@dataclass(frozen=True, slots=True)
class Launched:
    """The place of a file among the configs of a launch line, which are one run.

    ``setters`` are the configs that set a key last. What no config sets stands in the last one.
    """

    setters: Mapping[str, Path]
    is_last: bool


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """Why a text is not valid Python, and at which character."""

    message: str
    offset: int


@dataclass(frozen=True, slots=True)
class UnusedSuppression:
    """A code of a suppression that suppressed nothing; the empty code stands for all rules.

    ``elsewhere``: on another machine it may suppress something.
    """

    suppression: Suppression
    code: str
    elsewhere: bool = False


class Context:
    """One file under lint: its text and assignments, the project around it, a case per target."""

    def __init__(
        self,
        config: Config,
        cases: tuple[Case, ...],
        *,
        fault: SyntaxFault | None = None,
        known_codes: Mapping[str, str] | None = None,
        selected: frozenset[str] = frozenset(),
        launched: Launched | None = None,
        leading: Callable[[], Context | None] = lambda: None,
    ) -> None:
        self.config = config
        self.text = config.text
        self.path = config.path
        self.kind = config.kind
        self.module = config.module
        self.project = config.project
        self.options = config.options
        self.cases = cases
        self.fault = fault
        self.launched = launched
        self._leading = leading
        self.known_codes = known_codes or {}  # codes and names in lower case -> code
        self.selected = selected  # the codes of the rules that judge the file
        self.quick = False  # whether only the verdict is asked for, and no way out
        # Filled in by the engine before rules with Need.OUTCOME run.
        self.suppressions: tuple[Suppression, ...] = ()
        self.unused_suppressions: tuple[UnusedSuppression, ...] = ()

    @cached_property
    def leading(self) -> Context | None:
        """The script that trains with the module at hand; None for what trains by itself."""
        return self._leading()

    @property
    def settings(self) -> Resolution:
        """The resolution of the first case: for rules to which the GPU makes no difference."""
        return self.cases[0].resolution

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What every verdict on this file rests on and is not known."""
        return self.settings.doubts

    @property
    def may_be_another_trainers(self) -> bool:
        """Whether what the script does is not known: it may not be as nanoGPT's.

        False if no script is near: a doubt about sizes takes nothing from what the file sets. False
        if the run is known to stop: the script was read with these values.
        """
        project, settings = self.project, self.settings
        if settings.stop or any(each.stop for each in settings.unresolved):
            return False
        if project.train_script is None and project.unusable is None and not project.doubts:
            return False
        return bool(self.doubts) or any(each.key == MEMORY for each in self.settings.unresolved)

    @property
    def run(self) -> Run | None:
        """The run of the first case: for rules to which the GPU makes no difference."""
        return self.cases[0].run

    @property
    def outline(self) -> Run | None:
        """The run of the first case as far as it is known without reading a model of its own."""
        settled = self.cases[0].settled
        return settled.run or settled.outline

    @cached_property
    def takers(self) -> Takers:
        """Who else takes values from this file; looked for when first asked."""
        from nanolint.run.takers import find_takers

        return find_takers(self.path, self.project.train_script, self.options.scripts)

    def value(self, key: str) -> Plain:
        """The known value of ``key`` after all layers, None when it is unknown or not a key."""
        setting = self.setting(key)
        if setting is None or not isinstance(setting.value, Known):
            return None
        return setting.value.value

    def setting(self, key: str) -> Setting | None:
        """The value of ``key`` with its origin."""
        return self.cases[0].settled.settings.get(key)

    def assignment(self, key: str) -> Assignment | None:
        """The assignment that decides ``key`` in this file: the last one.

        None where another config of the launch line sets it later.
        """
        return None if self._belongs_elsewhere(key) else self._last_assignments.get(key)

    @cached_property
    def _last_assignments(self) -> dict[str, Assignment]:
        return {assignment.key: assignment for assignment in self.module.assignments}

    def from_command_line(self, key: str) -> bool:
        """Whether ``key`` got its value from ``--set``, or from what else the launch line has."""
        setting = self.setting(key)
        outside = (Layer.OVERRIDE, Layer.LAUNCHED)
        return setting is not None and setting.origin.layer in outside

    def _belongs_elsewhere(self, key: str) -> bool:
        """Whether another config of the launch line is the last that sets ``key``."""
        return self.launched is not None and self.launched.setters.get(key, self.path) != self.path

    def span(self, *keys: str) -> Span:
        """Where to point for the first of ``keys`` that this file sets.

        A finding about a value that the file does not set points at the partner key that it
        does set, else at the first assignment, else at the start of the file. It is ``ELSEWHERE``
        where another config of the launch line, which is judged too, is the one to point at, and
        a ``FlagSpan`` where a flag in the text of a launch line is, and a ``BesideSpan`` where the
        file does not set the first of them.
        """
        in_file = self._span_in_file(*keys)
        for key in keys:
            flag = self.flag(key)
            if flag is not None and flag.place is not None and in_file != ELSEWHERE:
                return FlagSpan(flag.place.start, flag.place.end, in_file)
            if key in self._last_assignments:
                break
        if in_file != ELSEWHERE and keys and self._stands_elsewhere(keys[0]):
            return BesideSpan(in_file.start, in_file.end, keys[0])
        return in_file

    def _stands_elsewhere(self, key: str) -> bool:
        return self.assignment(key) is None or self.from_command_line(key)

    def beside(self, key: str, here: Span) -> Span:
        """What in this file stands for a value that a script takes from another."""
        from nanolint.run.flags import plain_name

        return BesideSpan(here.start, here.end, plain_name(key))

    def place(self, key: str) -> QuotedPlace | None:
        """Where the value of ``key`` stands, if not in this file; None where that is not known."""
        from nanolint.trainers.nanogpt.places import place_of

        setting = self.settings.of_role(key)
        if setting is None:
            return None
        described = self.cases[0].settled.described
        spelled = None if described is None else described.spelled(setting.key)
        return place_of(setting, self.project.train_script, spelled)

    def flag(self, key: str) -> Override | None:
        """The flag that decides ``key``, where it stands in the text of a launch line."""
        setting = self.setting(key)
        if setting is None or setting.origin.layer is not Layer.OVERRIDE:
            return None
        place = setting.origin.span
        flags = (each for each in self.options.arguments if isinstance(each, Override))
        return next((each for each in flags if each.key == key and each.place == place), None)

    def _span_in_file(self, *keys: str) -> Span:
        for key in keys:
            if self._belongs_elsewhere(key):
                return ELSEWHERE
            assignment = self.assignment(key)
            if assignment is not None:
                return Span(assignment.key_span.start, assignment.value_span.end)
        if self.launched is not None and not self.launched.is_last:
            return ELSEWHERE
        if self.module.assignments:
            first = self.module.assignments[0]
            return Span(first.key_span.start, first.value_span.end)
        return Span(0, 0)

    @property
    def trace(self) -> str:
        """The command that traces the run: it settles what only a run tells."""
        return self.config.trace

    @property
    def is_train_script(self) -> bool:
        """Whether the file is a train.py, whose globals are what configs inherit."""
        from nanolint.trainers.nanogpt.kind import FileKind

        return self.kind is FileKind.TRAIN_SCRIPT

    @property
    def is_config(self) -> bool:
        """Whether the file sets the keys of nanoGPT's train.py."""
        from nanolint.trainers.nanogpt.kind import FileKind

        return self.kind in (FileKind.CONFIG, FileKind.TRAIN_SCRIPT)

    @property
    def is_trainer(self) -> bool:
        """Whether the file trains a model of its own with values of its own."""
        from nanolint.trainers.nanogpt.kind import FileKind

        return self.kind is FileKind.TRAINER

    def row(self, offset: int) -> int:
        """The line number, from 1, of a character offset."""
        return self.lines.position(offset)[0]

    @cached_property
    def lines(self) -> LineIndex:
        """Where the lines of the text begin."""
        from nanolint.source.text import LineIndex

        return LineIndex(self.text)

    @cached_property
    def comments_behind(self) -> Mapping[int, Comment]:
        """The comments behind code, by their rows."""
        return {
            self.lines.position(comment.span.start)[0]: comment
            for comment in self.module.comments
            if not comment.own_line
        }

    @cached_property
    def tree(self) -> libcst.Module:
        """The concrete syntax tree, for rules that look at code rather than at settings."""
        from nanolint.source.parse import parse_tree

        return parse_tree(self.text)

    @cached_property
    def script_tree(self) -> libcst.Module | None:
        """The concrete syntax tree of the script that trains: of this file, or the train.py.

        None where none is near or it cannot be read.
        """
        from nanolint.errors import Unusable
        from nanolint.source.parse import parse_tree
        from nanolint.source.values import TooComplex, Unparsable
        from nanolint.trainers.nanogpt.reading import read_source

        script = self.project.train_script
        if script is None or self.is_train_script:
            return self.tree if self.is_train_script else None
        try:
            return parse_tree(read_source(script))
        except (Unusable, Unparsable, TooComplex):
            return None

    def spans(self, nodes: Iterable[libcst.CSTNode]) -> dict[libcst.CSTNode, Span]:
        """Where ``nodes`` of ``tree`` lie in the text, own parentheses included."""
        from nanolint.diagnostics import Span

        return {node: Span(*self._positions[node]) for node in nodes}

    @cached_property
    def _positions(self) -> Mapping[libcst.CSTNode, tuple[int, int]]:
        from nanolint.source.parse import positions

        return positions(self.tree)
