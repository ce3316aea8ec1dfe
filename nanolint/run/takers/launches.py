"""Lines of scripts that launch a config as another run than its own text describes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files import door
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.run.takers.commands import keys_of, read_script, variables

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

    from nanolint.run.takers.commands import Command, Script

# Formats in which a command line stands in pieces: read as one whole.
_WHOLE = (".yaml", ".yml", ".toml")

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

    def may_run_configs(self, program: PurePosixPath) -> bool:
        """Whether a program may be one that takes configs: train.py, or what is called like it."""
        if self.train_script is None or program.name == self.train_script.stem:
            return True
        path = self.train_script.parent / program.with_suffix(".py")
        return _loads_configurator(path) if door.is_file(path) else "train" in program.name


@memo
def _loads_configurator(path: Path) -> bool:
    try:
        return b"configurator" in door.read_bytes(path)
    except Unusable:
        return True


def launches(text: str, name: str, programs: Programs, *, mentioned: bool) -> Launches:
    """What the script ``text`` does with the config; ``name`` is the script's.

    ``mentioned``: the name of the config stands anywhere in it.
    """
    script = read_script(text)
    if name.endswith(_WHOLE):
        return _of_whole(script, programs)
    changed: dict[int, str] = {}
    shared: dict[int, int | None] = {}
    for command in script.commands:
        named = next(filter(programs.is_meant, command.paths), None)
        if named is None and not _may_be_it(command, script, programs, mentioned=mentioned):
            continue
        how = _change(command, named, script, programs)
        if how is not None:
            changed.setdefault(command.row, how)
        elif command.is_shared:
            shared.setdefault(command.row, _world_size(command.text))
    return Launches(tuple(changed.items()), tuple(shared.items()))


def _may_be_it(command: Command, script: Script, programs: Programs, *, mentioned: bool) -> bool:
    """Whether a command that does not name the config may launch it all the same."""
    if not command.behind:
        return False
    program = command.module or next(iter(command.paths), None)
    if program is not None and not programs.may_run_configs(program):
        return False
    if mentioned:
        return True
    if any(programs.is_config(path, None) for path in command.paths[1:]):
        return False  # it launches that one
    return any(not variables(word) or variables(word) - script.assigned for word in command.behind)


def _change(
    command: Command, named: PurePosixPath | None, script: Script, programs: Programs
) -> str | None:
    """How the run differs from the config alone, as a clause."""
    which = "what may be it" if named is None else "it"
    if command.key is not None:
        return f"launches {which} with another {command.key}"
    others = (path for path in command.paths if not programs.is_meant(path))
    if any(programs.is_config(path, named) for path in others):
        return f"launches {which} together with another config"
    without_program = bool(command.paths) and command.paths[0] == named
    words = (*command.before, *command.behind) if without_program else command.behind
    names = set().union(*map(variables, words))
    from_outside = named is not None and not names <= script.assigned
    if names and command.paths and (script.has_keys or from_outside):
        return f"launches {which} with options that only the script knows"
    return None


def _of_whole(script: Script, programs: Programs) -> Launches:
    """As ``launches``, where the words of one command stand on many lines."""
    named = [
        command.row
        for command in script.commands
        for path in command.paths
        if programs.is_meant(path)
    ]
    keys = [key for command in script.commands for key in keys_of(command.text)]
    if named and keys:
        return Launches(changed=((named[0], f"launches it with another {keys[0]}"),))
    several = any(command.is_shared for command in script.commands)
    return Launches(shared=tuple((row, None) for row in named if several))


def _world_size(command: str) -> int | None:
    processes, nodes = _PROCESSES.search(command), _NODES.search(command)
    if processes is None or ("nnodes" in command and nodes is None):
        return None
    return int(processes[1]) * (int(nodes[1]) if nodes else 1)
