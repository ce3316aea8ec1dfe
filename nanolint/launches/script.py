"""The launch lines in a shell script, found without running it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from nanolint.frozen import dataclass
from nanolint.launches.commands import Argument, Started, Stopped
from nanolint.launches.follow import World, follow
from nanolint.launches.launch import Around, Nested, NotALaunch, UnknownScript
from nanolint.launches.launchers import slurm_options
from nanolint.launches.line import read_launch_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.launches.launch import Launch

# No script is worth more.
MOST_CHARACTERS = 1 << 18
MOST_NESTED = 4  # shells in shells
_HEADER = re.compile(r"#SBATCH\s+(.*)")
_READ_COMMANDS = ("bash", "sh", "zsh", "ssh", "sbatch")  # from what follows in a here-document
# Where a program stands, what it launches or why nothing, and whether that is to be told.
_Line: TypeAlias = "tuple[int, Launch | None, str, bool]"
_CARDS = re.compile(r"(?:gpu:)?(?:[A-Za-z][\w.-]*:)?(\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    """A launch line, or why the line cannot be judged. ``row`` counts from 1."""

    row: int
    launch: Launch | None
    reason: str = ""


def find_launches(text: str, *, every: bool = False) -> Iterator[Found]:
    """The runs that a shell script starts, each once, in its order, and what cannot be followed.

    Variables are filled in, loops over values are unrolled, and each way through a conditional is
    a run of its own. ``every``: say also of commands that launch nothing why they do not.
    """
    if len(text) > MOST_CHARACTERS:
        yield Found(1, None, f"it has more than {MOST_CHARACTERS:,} characters")
        return
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    seen = set()
    for offset, launch, reason, matters in _launches(text, World(), 0, Around(), 0):
        if not (matters or every):
            continue
        row = bisect_right(starts, offset)
        key = (row, reason) if launch is None else (row, repr(replace(launch, environment={})))
        if key not in seen:
            seen.add(key)
            yield Found(row, launch, reason)


def _launches(
    text: str, world: World, base: int | None, around: Around, depth: int
) -> Iterator[_Line]:
    """Each program that ``text`` starts."""
    around = replace(around, batch={**around.batch, **read_header(text)})
    world.variables |= {
        name: (Argument(value),)
        for name, value in slurm_variables(around.batch).items()
        if name not in world.variables
    }
    for each in follow(text, world, base):
        if isinstance(each, Stopped):
            yield each.offset, None, f"not followed from here: {each.reason}", True
            continue
        try:
            yield from _started(each, around, depth)
        except NotALaunch as error:
            yield each.offset, None, str(error), isinstance(error, UnknownScript)


def _started(started: Started, around: Around, depth: int) -> Iterator[_Line]:
    """The launches of one program. Raises NotALaunch where it is none."""
    program = started.arguments[0].text
    if started.here is not None and program in _READ_COMMANDS and depth < MOST_NESTED:
        inner = World(folder=None if program == "ssh" else started.folder)
        yield from _inner(started, started.here, inner, around, depth)
        return
    found = read_launch_line(started.arguments, started.environment, around)
    if isinstance(found, Nested):
        if depth < MOST_NESTED:
            variables: dict[str, tuple[Argument, ...]] = {
                name: (value,) for name, value in found.environment.items()
            }
            world = World(
                variables,
                frozenset(variables),
                folder=None if program == "ssh" else started.folder,
                written=started.written,
            )
            yield from _inner(started, found.text, world, found.around, depth)
        return
    launch = replace(found, folder=started.folder)
    written = next((a.text for a in launch.arguments if a.text in started.written), None)
    if written is not None:
        yield started.offset, None, f"{written} is written by the script itself", True
        return
    yield started.offset, launch, "", True


def _inner(
    started: Started, text: str, world: World, around: Around, depth: int
) -> Iterator[_Line]:
    """The launches of a text that ``started`` has another shell run."""
    for _, launch, reason, matters in _launches(text, world, None, around, depth + 1):
        yield started.offset, launch, reason, matters


def read_header(text: str) -> dict[str, str]:
    """The ``#SBATCH`` options at the head of a batch script, by their long names."""
    options: dict[str, str] = {}
    for line in text.split("\n"):
        line = line.strip()
        if line and not line.startswith("#"):
            break
        match = _HEADER.fullmatch(line)
        if match is not None:
            words = [Argument(word) for word in match[1].partition(" #")[0].split()]
            options |= slurm_options(words)
    return options


def slurm_variables(batch: Mapping[str, str]) -> dict[str, str]:
    """What Slurm sets for a script with these options."""
    nodes, tasks = batch.get("nodes", "1"), batch.get("ntasks")
    per_node = batch.get("ntasks-per-node")
    if not batch or not nodes.isdecimal():
        return {}
    found = {"SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes}
    if per_node is not None:
        found["SLURM_NTASKS_PER_NODE"] = per_node
    if tasks is None and per_node is not None and per_node.isdecimal():
        tasks = str(int(per_node) * int(nodes))
    if tasks is not None:
        found["SLURM_NTASKS"] = found["SLURM_NPROCS"] = tasks
    for name in ("gpus-per-node", "gres"):
        cards = _CARDS.fullmatch(batch.get(name, ""))
        if cards is not None:
            found["SLURM_GPUS_ON_NODE"] = cards[1]
    if "gpus-per-node" in batch and "SLURM_GPUS_ON_NODE" in found:
        found["SLURM_GPUS_PER_NODE"] = found["SLURM_GPUS_ON_NODE"]
    return found
