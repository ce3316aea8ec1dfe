"""The same command again: answered from what it said last time, while all it read is as it was.

What a command says follows from its words, the working folder, some variables, the terminal, the
installed code, and what it reads from the disk. The first five are the key under which its answer
is kept; the last is asked again, content and all, before the answer is given.
"""

# A cached answer is to come at once, so this module works without pathlib and contextlib.
from __future__ import annotations

import os
import sys

from nanolint import disk
from nanolint.cli.answers import Answer, Answers
from nanolint.cli.streams import Streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

FOLDER, VARIABLE = ".nanolint_cache", "NANOLINT_CACHE_DIR"
NO_CACHE, CACHE_DIR = "--no-cache", "--cache-dir"
PROJECT_MARKS = (".git", "nanolint.toml", "pyproject.toml")

# Options, by how they start, of runs that write files, judge nothing, or say how to be cached.
UNCACHED = (
    *("--fix", "--add-ignore", "--write-baseline", "--output-file", NO_CACHE, CACHE_DIR),
    *("--help", "-h", "--version", "-V"),
)
STDIN = "-"

# The variables that anything here, or rich, looks at, by how they start.
VARIABLES = (
    *("NANOLINT_", "CUDA_", "NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS", "LINES"),
    *("TTY_", "JUPYTER_", "JPY_", "DATABRICKS_", "UNICODE_VERSION", "LANG", "LC_", "PYTHON"),
)

# Where rule packs and the packages that nanolint builds on say which version they are.
METADATA = (".dist-info", ".egg-info", ".egg")
OWN_PACKAGES = ("nanolint", "nanolint_rules")


def run_cached(
    arguments: list[str], streams: Streams, run: Callable[[list[str], Streams], int]
) -> int:
    """The status of ``run`` on ``arguments`` and ``streams``, or of the same run before."""
    where = _folder(arguments)
    key = None if where is None else _key(arguments, streams)
    if where is None or key is None:
        return run(arguments, streams)
    answers = Answers(where)
    kept = answers.get(key)
    if kept is not None and _holds(kept):
        for stream, text in kept.told:
            (streams.stdout if stream == "out" else streams.stderr).write(text)
        return kept.status
    answers.prepare()
    told: list[tuple[str, str]] = []
    noting = Streams(
        streams.stdin,
        Noting(streams.stdout, "out", told),  # type: ignore[arg-type]
        Noting(streams.stderr, "err", told),  # type: ignore[arg-type]
        progress=streams.progress,
    )
    with disk.recording() as reads:
        status = run(arguments, noting)
    if status in (0, 1) and disk.CONTRADICTION not in reads.values() and _is_all_ours():
        answers.put(key, Answer(status, told, reads))
    return status


class Noting:
    """A text stream that keeps what is written to it; in all else the stream beneath."""

    def __init__(self, stream: TextIO, name: str, told: list[tuple[str, str]]) -> None:
        self._stream = stream
        self._name = name
        self._told = told

    def write(self, text: str) -> int:
        """Write ``text``, and keep it."""
        self._told.append((self._name, text))
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of ``lines``, and keep it."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        if name == "buffer":  # by which something could be written that is not kept
            raise AttributeError(name)
        return getattr(self._stream, name)


def _folder(arguments: Sequence[str]) -> str | None:
    """Where answers to this command are kept; None when it is not to be answered from there."""
    if STDIN in arguments:
        return None
    named = os.environ.get(VARIABLE)
    for at, argument in enumerate(arguments):
        if argument.startswith(UNCACHED):
            if not argument.startswith(CACHE_DIR):
                return None
            _, equals, value = argument.partition("=")
            named = value if equals else "".join(arguments[at + 1 : at + 2])
    try:
        here = os.getcwd()
    except OSError:
        return None
    return os.path.join(here, named) if named else os.path.join(_project(here), FOLDER)


def _project(here: str) -> str:
    """The nearest folder from ``here`` upwards that looks like a project's, else ``here``."""
    folder = here
    while True:
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in PROJECT_MARKS):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above


def _key(arguments: Sequence[str], streams: Streams) -> str | None:
    """All that an answer follows from, except for what is read from the disk."""
    facts = [
        *arguments,
        "",
        os.getcwd(),
        sys.version,
        sys.executable,
        *(str(_terminal(stream)) for stream in (streams.stdout, streams.stderr)),
        *(
            f"{name}={os.environ[name]}"
            for name in sorted(os.environ)
            if name.startswith(VARIABLES)
        ),
    ]
    try:
        facts += _installed()
    except (OSError, LookupError):
        return None
    return disk.digest("\0".join(facts).encode("utf-8", "surrogatepass"))


def _terminal(stream: TextIO) -> tuple[object, ...]:
    """What of a stream makes a difference to what is written on it."""
    if not stream.isatty():
        return (stream.encoding,)
    try:
        return (stream.encoding, *os.get_terminal_size(stream.fileno()))
    except (OSError, ValueError):
        return (stream.encoding, "terminal")


def _installed() -> Iterator[str]:
    """A line for each file of nanolint's and for each package that is installed.

    By its times and its number on the disk: replacing or editing a file cannot keep all of them.
    Raises LookupError where nanolint is not in plain folders.
    """
    missing = list(OWN_PACKAGES)
    for place in dict.fromkeys(sys.path):
        folder = place or os.getcwd()
        yield folder
        try:
            with os.scandir(folder) as scan:
                found = sorted(scan, key=lambda entry: entry.name)
        except NotADirectoryError:  # an archive
            yield _stamp(os.stat(folder))
            continue
        except OSError:
            continue
        for entry in found:
            if entry.name in missing:
                missing.remove(entry.name)
                yield from _files(entry.path)
            elif entry.name.endswith(METADATA):
                yield entry.name
                try:
                    path = os.path.join(entry.path, "entry_points.txt")
                    yield _stamp(os.stat(path))
                except OSError:
                    yield _stamp(entry.stat(follow_symlinks=False)) if entry.is_file() else ""
    if missing:
        raise LookupError(missing[0])


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as scan:
        for entry in sorted(scan, key=lambda entry: entry.name):
            if entry.name == "__pycache__":
                continue
            yield entry.name
            if entry.is_dir():
                yield from _files(entry.path)
            else:
                yield _stamp(entry.stat())


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def _holds(answer: Answer) -> bool:
    """Whether everything that led to ``answer`` is as it was."""
    if any(question[0] == "card" for question in answer.reads):
        import nanolint.gpus.local  # noqa: F401 (knows how to ask for the card again)
    try:
        return disk.unchanged(answer.reads)
    except (KeyError, TypeError):  # a question of no version of ours
        return False


def _is_all_ours() -> bool:
    """Whether all rules are nanolint's own: those of a pack may look at anything."""
    from nanolint import registry

    known = registry.load()
    return not known.problems and all(map(registry.is_built_in, known.rules))
