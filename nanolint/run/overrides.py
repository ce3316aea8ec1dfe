"""nanoGPT's command-line grammar: ``config/x.py --batch_size=32 --compile=False``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.run.settled import Override
from nanolint.source.python import literal
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanolint.diagnostics import Span
    from nanolint.launches.commands import Argument
    from nanolint.run.settled import Options, Project
    from nanolint.source.values import Plain, Value

VALUE_LIMIT = 4096  # characters of one value


def parse_override(argument: str) -> tuple[str, Value]:
    """Key and value of ``batch_size=32`` or ``--batch_size=32``, as configurator.py reads it.

    A value that is not a Python literal is a string. Raises ValueError, in one line.
    """
    key, equals, text = argument.removeprefix("--").partition("=")
    if not equals:
        raise ValueError(f"expected KEY=VALUE, found {_format(argument)}")
    if not key.isidentifier():
        raise ValueError(f"{_format(key)} is not a key, in {_format(argument)}")
    if "=" in text:
        raise ValueError(f"nanoGPT accepts only one '=' in an argument, found {_format(argument)}")
    if len(text) > VALUE_LIMIT:
        raise ValueError(f"the value of {key} is longer than {VALUE_LIMIT} characters")
    return key, _value(text)


def read_arguments(
    words: Sequence[Argument], *, dashed: bool = True
) -> tuple[Path | Override, ...]:
    """What ``train.py`` is given on a launch line, in order: config files and overrides; not
    ``dashed`` where its configurator takes ``key=value``.

    Raises ValueError, in one line, for what configurator.py would not accept, and for a config
    that is not known.
    """
    return tuple(_argument(each, dashed=dashed) for each in words)


def _argument(word: Argument, *, dashed: bool) -> Path | Override:
    text = word.text
    if "=" not in text:
        if word.unknown is not None:
            raise ValueError(word.unknown)
        if text.startswith("--"):
            raise ValueError(f"nanoGPT needs a value: {_format(text)}=VALUE")
        return Path(text)
    has_dashes = text.startswith("--")
    if dashed and not has_dashes:
        raise ValueError(f"nanoGPT needs two dashes: --{_format(text)}")
    if word.unknown is None:
        key, value = parse_override(text)
        value_place = _value_place(word)
        place = word.place or value_place
        return Override(key, value, place, value_place, dashed=has_dashes)
    key = text.removeprefix("--").partition("=")[0]
    if not key.isidentifier():
        raise ValueError(word.unknown)
    return Override(key, Unknown(word.unknown), word.place, dashed=has_dashes)


def _value_place(word: Argument) -> Span | None:
    return word.placed.exact(word.text.index("=") + 1, len(word.text))


def all_overrides(options: Options) -> tuple[tuple[str, Value], ...]:
    """Every override of ``options``: those of the launch line, then those that come last."""
    given = (each for each in options.arguments if isinstance(each, Override))
    flags = ((each.key, each.value) for each in given if not each.in_config)
    return (*flags, *options.overrides)


def override_faults(
    overrides: Sequence[tuple[str, Value]], project: Project
) -> tuple[tuple[str, str], ...]:
    """Key and one-line reason for every override that the project's configurator would refuse.

    It refuses keys that train.py does not set, and values of another type than train.py's.
    ``vocab_size`` passes: nanolint itself asks for it where the dataset does not tell.
    """
    faults: list[tuple[str, str]] = []
    for key, value in overrides:
        if key not in project.known_keys:
            if key != "vocab_size":
                faults.append((key, f"train.py has no key {key}{_meant(key, project.known_keys)}"))
            continue
        default = project.defaults.get(key)
        if isinstance(value, Known) and isinstance(default, Known):
            found, expected = type(value.value).__name__, type(default.value).__name__
            if found != expected:
                faults.append((key, f"{key} must be {expected}, as in train.py, not {found}"))
    return tuple(faults)


def _meant(key: str, known: Iterable[str]) -> str:
    import difflib

    bare = {each.replace("_", ""): each for each in known}
    near = difflib.get_close_matches(key.replace("_", "").replace("-", ""), bare, n=1)
    return f"; did you mean {bare[near[0]]}?" if near else ""


def _value(text: str) -> Value:
    try:
        value = literal(text)
    except (SyntaxError, ValueError):
        return Known(text)
    except (TypeError, MemoryError, RecursionError) as error:
        return Unknown(f"not a value that Python can read: {type(error).__name__}")
    if not is_plain(value):
        return Unknown(f"a {type(value).__name__}, which no key of nanoGPT takes")
    plain: Plain = value
    return Known(plain)


def is_plain(value: object) -> bool:
    """Whether ``value`` is made only of what a config may hold."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value.values())) and all(map(_is_scalar, value))
    return _is_scalar(value)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (int, float, str))


def _format(text: str) -> str:
    """``text`` on one line, shortened."""
    line = text if text.isprintable() else repr(text)
    return line if len(line) <= 60 else line[:57] + "..."
