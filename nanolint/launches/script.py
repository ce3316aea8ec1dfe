"""The launch lines in a shell script, found without running it."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument, Started, Stopped
from nanolint.launches.launch import (
    MOST_CHARACTERS,
    Around,
    Found,
    Line,
    Nested,
    NotALaunch,
    Rows,
    UnknownScript,
    once,
)
from nanolint.launches.launchers import read_header, slurm_variables
from nanolint.launches.line import read_launch_line
from nanolint.launches.placed import Placed
from nanolint.launches.shell.follow import follow
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_NESTED = 4  # shells in shells
_READ_COMMANDS = ("bash", "sh", "zsh", "ssh", "sbatch")  # from what follows in a here-document
ALONE = Around()


def find_launches(text: str, around: Around = ALONE, *, every: bool = False) -> Iterator[Found]:
    """The runs that a shell script starts, each once, in its order, and what cannot be followed.

    Variables are filled in, loops over values are unrolled, and each way through a conditional is
    a run of its own. ``every``: say also of commands that launch nothing why they do not.
    """
    if len(text) > MOST_CHARACTERS:
        yield Found(1, None, f"it has more than {MOST_CHARACTERS:,} characters")
        return
    rows = Rows(text)
    lines = launches_of(Placed.whole(text), World(), around)
    yield from once(
        Found(rows.row(line.offset), line.launch, line.reason)
        for line in lines
        if line.matters or every
    )


def launches_of(
    text: Placed,
    world: World,
    around: Around = ALONE,
    depth: int = 0,
) -> Iterator[Line]:
    """Each program that a shell starts as it reads ``text``."""
    around = replace(around, batch={**around.batch, **read_header(text.text)})
    world.variables |= {
        name: (Argument(value),)
        for name, value in slurm_variables(around.batch).items()
        if name not in world.variables
    }
    for each in follow(text.text, world, text, around.scripts):
        if isinstance(each, Stopped):
            yield Line(each.offset, None, f"nanolint cannot read it from here on: {each.reason}")
            continue
        try:
            yield from _started(each, around, depth)
        except NotALaunch as error:
            yield Line(each.offset, None, str(error), isinstance(error, UnknownScript))


def _started(started: Started, around: Around, depth: int) -> Iterator[Line]:
    """The launches of one program. Raises NotALaunch where it is none."""
    program = started.arguments[0].text
    if started.here is not None and program in _READ_COMMANDS and depth < MOST_NESTED:
        inner = World(folder=None if program == "ssh" else started.folder)
        yield from _inner(started, started.here, inner, around, depth)
        return
    near = replace(around, scripts=partial(_from_folder, around.scripts, started.folder))
    found = read_launch_line(started.arguments, started.environment, near)
    if isinstance(found, Nested):
        if depth < MOST_NESTED:
            variables: dict[str, tuple[Argument, ...]] = {
                name: (value,) for name, value in found.environment.items()
            }
            world = World(
                variables,
                frozenset(variables),
                found.arguments if found.path else None,
                folder=None if program == "ssh" else started.folder,
                written=started.written,
            )
            inside = replace(found.around, scripts=around.scripts)
            yield from _inner(started, found.text, world, inside, depth)
        return
    launch = replace(found, folder=started.folder, written=started.written)
    yield Line(started.offset, launch)


def _from_folder(scripts: Callable[[str], str | None], folder: str | None, path: str) -> str | None:
    return None if folder is None else scripts(posixpath.normpath(posixpath.join(folder, path)))


def _inner(
    started: Started, text: Placed, world: World, around: Around, depth: int
) -> Iterator[Line]:
    """The launches of a text that ``started`` has another shell run."""
    for line in launches_of(text, world, around, depth + 1):
        yield replace(line, offset=started.offset)
