"""What stands after ``--``, in the script's own grammar: config files, flags, ``--key=value``."""

from __future__ import annotations

from nanolint.cli.parser import UsageError

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.cli.launched import Launched
    from nanolint.source.values import Value

SEPARATOR = "--"


def split_launch(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before and after the first ``--``."""
    given = list(arguments)
    if SEPARATOR not in given:
        return given, []
    at = given.index(SEPARATOR)
    return given[:at], given[at + 1 :]


def read_sets(sets: Sequence[str]) -> tuple[tuple[str, Value], ...]:
    """The keys and values of ``--set``, spelled as a flag is or as a name; raises UsageError."""
    if not sets:
        return ()
    from nanolint.run.flags import plain_name
    from nanolint.run.overrides import parse_override

    named = (each.partition("=") for each in sets)
    try:
        return tuple(parse_override(f"{plain_name(key)}{is_}{value}") for key, is_, value in named)
    except ValueError as error:
        raise UsageError(f"--set: {error}") from error


def read_launch(words: Sequence[str], files: Sequence[str] = ()) -> Launched:
    """What stands after ``--``: one run of configs and overrides, in that order.

    Behind a script among ``files`` that is not nanoGPT's, it is that script's flags.
    """
    from nanolint.cli.launched import Launched, takes_flags

    if not words:
        return Launched()
    from pathlib import Path

    from nanolint.launches.commands import Argument
    from nanolint.run.flags import read_line
    from nanolint.run.overrides import read_arguments

    given = [Argument(word) for word in words]
    line = read_line(given, {})
    if files and takes_flags(Path(files[0])):
        return Launched(line=line)
    try:
        return Launched(read_arguments(given), line=line)
    except ValueError as error:
        raise UsageError(f"after --: {error}") from error


def launches_in(line: str) -> list[Launched]:
    """The runs that a launch line starts. Raises UsageError where one cannot be followed."""
    from functools import partial
    from pathlib import Path

    from nanolint.cli.launched import NotJudged, locate, script_near
    from nanolint.launches.launch import Around
    from nanolint.launches.script import find_launches

    found = []
    around = Around(scripts=partial(script_near, Path("line")))
    for each in find_launches(line, around, every=True):
        if each.launch is None:
            raise UsageError(f"after --: {each.reason}")
        try:
            found.append(locate(each.launch))
        except NotJudged as error:
            raise UsageError(str(error)) from error
    return found


def starts_script(words: Sequence[str]) -> bool:
    """Whether words are a whole launch line: a program and what it starts, ``torchrun ... x.py``,
    or a training script and its own words, in place of configs and overrides."""
    return not words[0].startswith("-") and (not words[0].endswith(".py") or _is_script(words))


def _is_script(words: Sequence[str]) -> bool:
    from pathlib import Path

    from nanolint.cli.launched import goes_backward

    return goes_backward(Path(words[0]))


def as_line(words: Sequence[str]) -> str:
    """The words behind ``--`` as a shell reads them; a single one is a line by itself."""
    import shlex

    if words[0].endswith(".py") and _is_script(words):
        words = ("python", *words)
    return words[0] if len(words) == 1 else shlex.join(words)
