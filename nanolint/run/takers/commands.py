"""The commands of a script, searched and not understood.

Whoever writes a shell script has more ways to put a command line together than can be followed;
what a run of it would start is nanolint.launches' subject. Here it is enough to know which scripts
and which keys of a batch stand together, and which words only the shell completes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

# What of a command line decides the effective batch beside the config.
BATCH_KEYS = ("batch_size", "gradient_accumulation_steps", "eval_iters", "eval_only")

MOST_ON_LINE = 1 << 14  # characters of a command; what is longer is data

MOST_IN_PATH = 1 << 10

_JOINED = re.compile(r"(?:\\|\^|`)[ \t]*(?:\\n\",)?[ \t]*\r?\n[ \t]*\"?")  # also in a notebook
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
_LOG = re.compile(r"(?:\d|&)?[<>]{1,2}&?[ \t]*(?![^\s;|&]*\.py\b)[^\s;|&()]*")  # where output goes
_COMMANDS = re.compile(r"&&|\|\||[;|&()]")
_QUOTES = re.compile(r"\\?[\"']")
_SEPARATORS = re.compile(r"\\n|[\[\],]")
_MODULE = re.compile(r"(?<!\S)-m\s+(?!torch\.distributed|accelerate|deepspeed)([\w.]+)")
_KEY = re.compile(rf"--(?P<key>{'|'.join(BATCH_KEYS)})\b")
_BARE_KEY = re.compile(rf"(?<!\w)(?:--)?(?P<key>{'|'.join(BATCH_KEYS)})\b")
_SCRIPT = re.compile(r"\.py(?!\w)")
_BEFORE_PATH = re.compile(r"[\s=:]")
_ASSIGNED = re.compile(
    r"^[\s@]*(?:(?:export\s+|local\s+|set\s+)?(\w+)\+?=|for\s+(\w+)\s+in\b)(.*)", re.MULTILINE
)
_FOUND_ON_DISK = re.compile(r"(?<!\.)\*[\w.]*\.py\b|\bconfigs?/\*|[(`]\s*(?:ls|find)\b")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)|%(\w+)%")
_OPEN = re.compile(r"\$|%\w+%|\{\{|[*?]")  # a word that only the shell completes
_SEVERAL = re.compile(
    r"\b(?:torchrun|torch\.distributed|srun|mpirun|mpiexec|accelerate|deepspeed)\b"
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a script: the scripts that it names, and the words that are open.

    ``before`` are those in front of the first script, ``behind`` all others.
    """

    row: int
    text: str
    paths: tuple[PurePosixPath, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]
    module: PurePosixPath | None  # that ``-m`` names
    key: str | None  # of a batch, that it sets
    is_shared: bool  # by several processes


@dataclass(frozen=True, slots=True)
class Script:
    """What of a script matters: commands with scripts or keys of a batch."""

    commands: tuple[Command, ...]
    assigned: frozenset[str]  # its variables, but what it finds on the disk
    has_keys: bool


@lru_cache(maxsize=4096)
def read_script(text: str) -> Script:
    """The commands of ``text`` that name a script or a key of a batch."""
    commands = tuple(
        _command(row, command)
        for row, line in _logical_lines(text)
        if len(line) <= MOST_ON_LINE and (".py" in line or _BARE_KEY.search(line))
        for command in _commands(_COMMENT.sub("", line))
        if _SCRIPT.search(command) or _BARE_KEY.search(command)
    )
    found = [(one or other, value) for one, other, value in _ASSIGNED.findall(text)]
    on_disk = {name for name, value in found if _FOUND_ON_DISK.search(value)}
    assigned = {name for name, _ in found} - on_disk
    has_keys = any(command.key is not None for command in commands)
    return Script(commands, frozenset(assigned), has_keys)


def _command(row: int, text: str) -> Command:
    words = text.split()
    start = next((at for at, word in enumerate(words) if _SCRIPT.search(word)), 0)
    pairs = list(zip(["", *words], words, strict=False))
    open_words = [(at, word) for at, (before, word) in enumerate(pairs) if _is_open(word, before)]
    key, module = _KEY.search(text), _MODULE.search(text)
    return Command(
        row,
        text,
        paths=tuple(_paths(text)),
        before=tuple(word for at, word in open_words if at < start),
        behind=tuple(word for at, word in open_words if at >= start),
        module=PurePosixPath(*module[1].split(".")) if module else None,
        key=key["key"] if key else None,
        is_shared=_SEVERAL.search(text) is not None,
    )


def _is_open(word: str, before: str) -> bool:
    """Whether only the shell completes a word that is not the value of some other option."""
    if not _OPEN.search(word) or _is_value(word):
        return False
    return not (before.startswith("-") and "=" not in before)


def variables(word: str) -> set[str]:
    """The names of the variables in a word."""
    return {name for pair in _VARIABLE.findall(word) for name in pair if name}


def keys_of(text: str) -> list[str]:
    """The keys of a batch that stand in a command, with dashes or without."""
    return [match["key"] for match in _BARE_KEY.finditer(text)]


def _is_value(word: str) -> bool:
    """Whether a word sets an option or a variable, so that only its value is open."""
    return re.match(r"(?:--?)?[A-Za-z_][\w-]*=", word) is not None


def _paths(text: str) -> Iterator[PurePosixPath]:
    """The scripts that a command names, without suffix."""
    for match in _SCRIPT.finditer(text):
        before = text[max(0, match.start() - MOST_IN_PATH) : match.start()]
        path = _BEFORE_PATH.split(before)[-1].replace("\\", "/")
        if path:
            yield PurePosixPath(path)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines, those joined that end in a continuation, each with the number of its first."""
    row = 1
    for line in _JOINED.sub("\0", text).split("\n"):
        yield row, line.replace("\0", " ")
        row += 1 + line.count("\0")


def _commands(line: str) -> Iterator[str]:
    """The commands of a line, quotes and brackets left out."""
    bare = _SEPARATORS.sub(" ", _QUOTES.sub("", _SUBSTITUTION.sub("$(printed)", line)))
    bare = _LOG.sub(" ", bare.replace("$(printed)", "$?"))
    for command in _COMMANDS.split(re.sub("[<>]", " ", bare)):
        if command.strip():
            yield command
