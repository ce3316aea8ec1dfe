"""Lines of scripts that launch a config as another run than its own text describes.

The text is searched, not understood: whoever writes a shell script has more ways to put a command
line together than can be followed. What might change the effective batch counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What of a command line decides the effective batch beside the config.
BATCH_KEYS = ("batch_size", "gradient_accumulation_steps", "eval_iters", "eval_only")

MOST_ON_LINE = 1 << 14  # characters of a command; what is longer is data

MOST_IN_PATH = 1 << 10

# Formats in which a command line stands in pieces: read as one whole.
_WHOLE = (".yaml", ".yml", ".toml")

_JOINED = re.compile(r"(?:\\|\^|`)[ \t]*(?:\\n\",)?[ \t]*\r?\n[ \t]*\"?")  # also in a notebook
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
_LOG = re.compile(r"(?:\d|&)?[<>]{1,2}&?[ \t]*(?![^\s;|&]*\.py\b)[^\s;|&()]*")  # where output goes
_COMMANDS = re.compile(r"&&|\|\||[;|&()]")
_QUOTES = re.compile(r"\\n|\\?[\"']|[\[\],]")
_KEY = re.compile(rf"--(?P<key>{'|'.join(BATCH_KEYS)})\b")
_BARE_KEY = re.compile(rf"(?<!\w)(?:--)?(?P<key>{'|'.join(BATCH_KEYS)})\b")
_SCRIPT = re.compile(r"\.py(?!\w)")
_BEFORE_PATH = re.compile(r"[\s=:]")
_ASSIGNED = re.compile(r"^[\s@]*(?:export\s+|local\s+|set\s+)?(\w+)\+?=", re.MULTILINE)
_UNKNOWN = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w*)|%(?P<batch>\w+)%")
_OPEN = re.compile(r"\$|%\w+%|\{\{|[*?]")  # a word that only the shell completes
_SEVERAL = re.compile(
    r"\b(?:torchrun|torch\.distributed|srun|mpirun|mpiexec|accelerate|deepspeed)\b"
)
_PROCESSES = re.compile(r"--(?:nproc[-_]per[-_]node|num_processes)[=\s](\d+)(?!\S)")
_NODES = re.compile(r"--(?:nnodes|num_machines)[=\s](\d+)(?!\S)")


@dataclass(frozen=True, slots=True)
class Launches:
    """Lines, by their number, that launch a config as another run, each with how, as a clause;
    and those that launch it on several processes, with their number where it is known."""

    changed: tuple[tuple[int, str], ...] = ()
    shared: tuple[tuple[int, int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """The config that is asked about, and how to tell it and other configs from programs."""

    config: Path
    train_script: Path | None

    def is_meant(self, path: PurePosixPath) -> bool:
        """Whether ``path``, without its suffix, may be the config."""
        return path.name == self.config.stem

    def is_config(self, path: PurePosixPath, beside: PurePosixPath | None) -> bool:
        """Whether ``path`` may be one more config: what lies where the config lies, say."""
        if self.train_script is not None and path.name == self.train_script.stem:
            return False
        is_beside = beside is not None and path.parent == beside.parent
        return is_beside or path.parent.name == self.config.parent.name


@dataclass(frozen=True, slots=True)
class _Script:
    """What of a script matters: commands with scripts or keys of a batch, by their lines."""

    commands: tuple[tuple[int, str], ...]
    assigned: frozenset[str]  # its variables
    has_keys: bool


def launches(text: str, name: str, programs: Programs) -> Launches:
    """What the script ``text`` does with the config; ``name`` is the script's."""
    script = _read(text)
    if name.endswith(_WHOLE):
        return _of_whole(script, programs)
    changed: dict[int, str] = {}
    shared: dict[int, int | None] = {}
    for row, command in script.commands:
        found = _Command(command, programs)
        how = found.changes(script)
        if how is not None:
            changed.setdefault(row, how)
        elif found.may_be_it and _SEVERAL.search(command):
            shared.setdefault(row, _world_size(command))
    return Launches(tuple(changed.items()), tuple(shared.items()))


@lru_cache(maxsize=4096)
def _read(text: str) -> _Script:
    commands = [
        (row, command)
        for row, line in _logical_lines(text)
        if len(line) <= MOST_ON_LINE and (".py" in line or _BARE_KEY.search(line))
        for command in _commands(_COMMENT.sub("", line))
        if _SCRIPT.search(command) or _BARE_KEY.search(command)
    ]
    return _Script(
        tuple(commands),
        frozenset(_ASSIGNED.findall(text)),
        any(_KEY.search(command) for _, command in commands),
    )


def _of_whole(script: _Script, programs: Programs) -> Launches:
    """As ``launches``, where the words of one command stand on many lines."""
    named = [
        row for row, text in script.commands for path in _paths(text) if programs.is_meant(path)
    ]
    keys = [match["key"] for _, text in script.commands for match in _BARE_KEY.finditer(text)]
    if named and keys:
        return Launches(changed=((named[0], f"launches it with another {keys[0]}"),))
    several = any(_SEVERAL.search(text) for _, text in script.commands)
    return Launches(shared=tuple((row, None) for row in named if several))


class _Command:
    """The words of one command, and what of them are scripts."""

    def __init__(self, command: str, programs: Programs) -> None:
        self._words = command.split()
        self._programs = programs
        self._paths = list(_paths(command))
        self._named = next(filter(programs.is_meant, self._paths), None)
        arguments = self._words[self._start() :]
        open_words = [word for word in arguments if _OPEN.search(word) and not _is_value(word)]
        self._unknown = [match for word in open_words for match in _UNKNOWN.finditer(word)]
        self.may_be_it = self._named is not None or bool(open_words)

    def changes(self, script: _Script) -> str | None:
        """How the run differs from the config alone, as a clause."""
        if not self.may_be_it:
            return None
        which = "it" if self._named is not None else "what may be it"
        key = _KEY.search(" ".join(self._words))
        if key is not None:
            return f"launches {which} with another {key['key']}"
        if any(self._is_other(path) for path in self._paths):
            return f"launches {which} together with another config"
        names = [match["name"] or match["batch"] for match in self._unknown]
        from_outside = self._named is not None and not script.assigned.issuperset(names)
        if names and self._paths and (script.has_keys or from_outside):
            return f"launches {which} with options that only the script knows"
        return None

    def _start(self) -> int:
        """Where the arguments begin: behind the program, if that is named."""
        for at, word in enumerate(self._words):
            for path in _paths(word):
                if not self._programs.is_meant(path) and not self._is_other(path):
                    return at + 1
        return 0

    def _is_other(self, path: PurePosixPath) -> bool:
        return not self._programs.is_meant(path) and self._programs.is_config(path, self._named)


def _is_value(word: str) -> bool:
    """Whether a word sets something that is none of the keys of a batch, or a variable."""
    return re.match(r"(?:--?)?[A-Za-z_][\w-]*=", word) is not None and not _KEY.match(word)


def _paths(text: str) -> Iterator[PurePosixPath]:
    """The scripts that a command names, without suffix."""
    for match in _SCRIPT.finditer(text):
        before = text[max(0, match.start() - MOST_IN_PATH) : match.start()]
        path = _BEFORE_PATH.split(before)[-1].replace("\\", "/")
        if path:
            yield PurePosixPath(path)


def _world_size(command: str) -> int | None:
    processes, nodes = _PROCESSES.search(command), _NODES.search(command)
    if processes is None or ("nnodes" in command and nodes is None):
        return None
    return int(processes[1]) * (int(nodes[1]) if nodes else 1)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines, those joined that end in a continuation, each with the number of its first."""
    row = 1
    for line in _JOINED.sub("\0", text).split("\n"):
        yield row, line.replace("\0", " ")
        row += 1 + line.count("\0")


def _commands(line: str) -> Iterator[str]:
    """The commands of a line, quotes and brackets left out."""
    bare = _LOG.sub(" ", _QUOTES.sub(" ", _SUBSTITUTION.sub("$printed", line)))
    for command in _COMMANDS.split(re.sub("[<>]", " ", bare)):
        if command.strip():
            yield command
