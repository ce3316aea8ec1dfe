"""The one run that ``explain`` and ``fit`` are about: a config's, or that of ``run.sh:12``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nanolint.cli.launch import as_line, launches_in, read_launch, split_launch, starts_script
from nanolint.cli.launch_files import NO_LAUNCH, launch_lines
from nanolint.cli.launch_text import meant
from nanolint.cli.launched import is_foreign
from nanolint.cli.parser import UsageError
from nanolint.errors import Refused
from nanolint.files.door import read_bytes
from nanolint.launches.commands import Argument
from nanolint.launches.files import MOST_BYTES, is_launch_file
from nanolint.run.flags import read_line
from nanolint.run.overrides import read_arguments

TYPE_CHECKING = False

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.launched import Launched
    from nanolint.cli.parser import Parser
    from nanolint.cli.streams import Streams
    from nanolint.rule.case import Case
    from nanolint.run.flags import Flag, LaunchLine
    from nanolint.run.settled import Resolution
    from nanolint.tape.tape import Tape


def only_run(
    command: str, given: str, words: Sequence[str], options: Namespace, streams: Streams
) -> Launched | None:
    """The run of ``run.sh``, or of ``run.sh:12``; None where ``given`` is no file of that kind.

    Of several, the one that has ``words`` on its line; where none has, they are put on top. Raises
    UsageError where there is none, or still several.
    """
    name, _, row = (given, "", "") if is_launch_file(given) else given.partition(":")
    if not is_launch_file(name):
        return None
    try:
        text = read_bytes(Path(name), MOST_BYTES).decode(errors="replace")
        lines = [line for line in launch_lines(name, text) if not row or line.place == row]
    except (Refused, ValueError) as error:
        raise UsageError(f"{name}: {error}") from error
    found = [(line.place, line.launched) for line in lines if line.launched]
    if not found:
        why = next((f"not checked: {line.reason}" for line in lines), NO_LAUNCH)
        raise UsageError(f"{given}: {why}")
    places = list(dict.fromkeys(place for place, _ in found))
    if len(places) > 1:
        named = ", ".join(f"{name}:{place}" for place in places)
        raise UsageError(f"{given} starts {len(found)} runs; name one: {command} {named}")
    runs = _with_words([launched for _, launched in found], words)
    runs = _told_apart(list({meant(each): each for each in runs}.values()), options, streams)
    if len(runs) > 1:
        how = _naming(runs, " ".join((f"{name}:{places[0]} --", *words)))
        raise UsageError(f"{given} starts {len(runs)} runs; name one: {command} {how}")
    return runs[0]


def _with_words(runs: Sequence[Launched], words: Sequence[str]) -> list[Launched]:
    """Those that have ``words`` on their line; where none has, each with them put on top."""
    chosen = [each for each in runs if _asked(words) <= _said(each)]
    return chosen or [_with(each, words) for each in runs]


def _with(run: Launched, words: Sequence[str]) -> Launched:
    given = [Argument(word) for word in words]
    line, more = run.line, read_line(given, {})
    put = {each.name for each in (*more.flags, *more.assigned)}
    both = replace(
        line,
        flags=tuple(each for each in line.flags if each.name not in put) + more.flags,
        assigned=tuple(each for each in line.assigned if each.name not in put) + more.assigned,
        alone=line.alone + more.alone,
    )
    if run.script is not None and is_foreign(run.script):
        return replace(run, line=both)
    try:
        on_top = read_arguments(given)
    except ValueError as error:
        raise UsageError(f"after --: {error}") from error
    keys = {each.key for each in on_top if not isinstance(each, Path)}
    before = list(run.arguments)
    last = max((at for at, each in enumerate(before) if isinstance(each, Path)), default=-1)
    # One that a config behind it may still compute with stays.
    kept = (each for each in before[last + 1 :] if isinstance(each, Path) or each.key not in keys)
    return replace(run, arguments=(*before[: last + 1], *kept, *on_top), line=both)


def _asked(words: Sequence[str]) -> frozenset[tuple[str, str | None]]:
    return frozenset(_words(read_line([Argument(word) for word in words], {})).items())


def _said(run: Launched) -> frozenset[tuple[str, str | None]]:
    return frozenset(_words(run.line).items())


def _words(line: LaunchLine) -> dict[str, str | None]:
    """What a line gives, by name; a variable in front of it as ``NAME``."""
    flags = (*line.variables, *line.flags, *line.assigned)
    return {**{each.name: each.value for each in flags}, **dict.fromkeys(line.alone, "")}


def _told_apart(runs: Sequence[Launched], options: Namespace, streams: Streams) -> list[Launched]:
    """The runs without those that are another's, as far as memory goes: of two that differ in a
    value that only the shell has (``$WANDB_RUN``, or what it is set to where it is empty)."""
    kept: list[Launched] = []
    for run in runs:
        others = [each for each in kept if _may_be(run, each)]
        case = _case(run, options, streams) if others else None
        if not any(_same(case, _case(each, options, streams)) for each in others):
            kept.append(run)
    return kept


def _case(run: Launched, options: Namespace, streams: Streams) -> Case | None:
    """The run on the first card that is meant; None where it cannot be had."""
    from nanolint.cli.config_file import named, open_config
    from nanolint.cli.configuration import Configuration
    from nanolint.cli.launch import read_sets
    from nanolint.settings.tables import SettingsError

    file = named(str(run.files[-1]), None)
    try:
        plan = Configuration(options, read_sets(options.set), run).plan_of(file.folder)
        targets = plan.setup(file.path).targets
        return open_config(file, plan, streams).case(next(iter(targets), None))
    except (UsageError, SettingsError):
        return None


def _same(one: Case | None, other: Case | None) -> bool:
    """Whether two runs are described alike, doubted alike, and allocate the same."""
    from nanolint.recording.recording import recorded

    if one is None or other is None:
        return one is other  # of two that hold no run, one says why
    first, second = one.resolution, other.resolution
    if (_roles(first), first.doubts, first.unresolved) != (
        *(_roles(second), second.doubts, second.unresolved),
    ):
        return False
    if first.run is None or second.run is None:
        return first.run is second.run
    gpu = one.target.gpu if one.target else None
    return _events(recorded(first.run, gpu).tape) == _events(recorded(second.run, gpu).tape)


def _events(tape: Tape) -> object:
    return tape.events, tape.sizes, tape.phases, tape.doubts


def _roles(resolution: Resolution) -> object:
    described = resolution.described
    if described is not None:
        return described.roles
    return resolution.outline or resolution.run  # without the texts that are read


def _may_be(one: Launched, other: Launched) -> bool:
    """Whether all that is known of both is the same."""
    first, second = _values(one), _values(other)
    unknown = {each.name for each in (*first, *second) if each.unknown}
    return bool(unknown) and (
        (one.script, one.files, one.processes) == (other.script, other.files, other.processes)
        and {each.name: each.value for each in first if each.name not in unknown}
        == {each.name: each.value for each in second if each.name not in unknown}
    )


def _values(run: Launched) -> tuple[Flag, ...]:
    return (*run.line.variables, *run.line.flags, *run.line.assigned)


def _naming(runs: Sequence[Launched], start: str) -> str:
    """What of a line tells its runs apart: the one flag that does, all flags that do, or, where
    that is none of them, the line itself."""
    said = [_words(each.line) for each in runs]
    unknown = {flag.name for each in runs for flag in each.line.flags if flag.unknown}
    names = [
        name
        for name in dict.fromkeys(name for each in said for name in each)
        if len({each.get(name, ...) for each in said}) > 1 and name not in unknown
    ]
    for name in names:
        values = [each.get(name) for each in said]
        if all(values) and len(set(values)) == len(values):
            others = ", ".join(str(each) for each in values[1:])
            return f"{start} {name}={values[0]} (or {others})"
    first = [(name, said[0][name]) for name in names if name in said[0]]
    if first and sum(all(each.get(name) == value for name, value in first) for each in said) == 1:
        words = " ".join(name if not value else f"{name}={value}" for name, value in first)
        return f"{start} {words}or the values of another run"
    return "-- and the launch line itself, with its values"


def _one_launch(words: Sequence[str], streams: Streams) -> Launched | None:
    """The run that a program among ``words`` starts; None where they begin with a config."""
    if not starts_script(words):
        return None
    found = launches_in(as_line(words))
    if len(found) != 1:
        raise UsageError(f"after --: {len(found) or 'no'} runs; give one")
    _remark(found[0], streams)
    return found[0]


def read_one_run(
    command: str, parser: Parser, arguments: Sequence[str], streams: Streams
) -> tuple[Namespace, str, Launched]:
    """The options, the file and the launch of a command that takes one run.

    The file is the one that is read last, with all that the run reads in its order.
    """
    from dataclasses import replace
    from pathlib import Path

    given, words = split_launch(arguments)
    options = parser.parse(given, streams)
    started = _one_launch(words, streams) if words and not options.files else None
    if started is not None:
        return options, str(started.files[-1]), started
    if len(options.files) == 1 and _may_be_launch_file(options.files[0]):
        named = only_run(command, options.files[0], words, options, streams)
        if named is not None:
            _remark(named, streams)
            return options, str(named.files[-1]), named
    launch = read_launch(words, options.files)
    if len(options.files) > 1 or not (options.files or launch.files):
        parser.error(f"{command} takes one FILE, found {len(options.files)}")
    if not launch.files:
        return options, options.files[0], launch
    first = tuple(map(Path, options.files))
    launch = replace(launch, arguments=(*first, *launch.arguments))
    return options, str(launch.files[-1]), launch


def _may_be_launch_file(given: str) -> bool:
    """Cheaply: whether ``given`` is no config or script."""
    return not given.endswith(".py") and given != "-"


def _remark(launched: Launched, streams: Streams) -> None:
    from nanolint.report.printer import printable

    for remark in launched.remarks:
        streams.warn(f"nanolint: {printable(remark)}")
