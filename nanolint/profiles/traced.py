"""A run that nobody knows by reading, judged by the profile that was recorded of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.profiles.profiles import ROLES, Situation, find_profile, weights
from nanolint.run.coverage import timed_products
from nanolint.run.flags import plain_name
from nanolint.run.settled import Unresolved
from nanolint.run.terms import Surface
from nanolint.run.trust import Doubt, Subject, Trust, ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.described import Described
    from nanolint.run.equation import NotKnown
    from nanolint.run.program import Profiled
    from nanolint.run.run import Run
    from nanolint.run.settled import Options, Project, Resolution, Setting
    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar

# What a profile is a function of, and where it runs: all else is what was traced.
NEEDED = frozenset({*ROLES, "device"})

# What no profile knows better: it is of one script and so many processes, and says which.
STILL_IN_DOUBT = (Subject.SCRIPT, Subject.PROCESSES)


def traced(
    found: Resolution,
    settings: Mapping[str, Setting],
    project: Project,
    options: Options,
    gpu: Gpu | None,
    text: str | None = None,
    told: Iterable[tuple[str, Scalar | NotKnown]] = (),
) -> Resolution:
    """``found``, by the profile of the run where it has one and is not exact without.

    ``settings`` are those that the run has on this card; ``text`` is that of a script which is its
    own config, ``told`` what it is told from outside. A stale profile is told of.
    """
    script, run = project.train_script, found.outline
    if found.trust is Trust.EXACT or project.root is None or script is None or run is None:
        return found
    match = find_profile(
        Situation(
            root=project.root,
            script=script,
            text=text,
            settings=weights(settings, (), options, found.described, told),
            places=places_of(found.described),
            world_size=run.world_size,
            ranked=options.ranked or run.world_size > 1,
            gpu=gpu,
            torch=options.torch_version,
            compiled=run.compile,
        )
    )
    if match is None:
        return found
    if match.program is None:  # what was read is no worse for it
        return found if found.trust is Trust.READ else _told(found, match.stale or "")
    unresolved = tuple(each for each in found.unresolved if each.impossible)
    program = match.program
    release = options.torch_version or program.profile.release
    run = replace(run, program=program, torch=release)
    if not unresolved and run.on_gpu and not run.is_known:
        unresolved = (Unresolved(ROLES[0], f"{run.batch_size} {_not_traced(run, program)}"),)
    doubts = [each for each in found.doubts if each.subject in STILL_IN_DOUBT]
    doubts += timed_products(run, gpu)
    return replace(
        found,
        run=None if unresolved else run,
        unresolved=unresolved,
        doubts=ordered([*doubts, *match.doubts]),
    )


def places_of(described: Described | None) -> dict[str, Place]:
    """Where the project's own files set each of a script's values, by the name of its setting."""
    found = {}
    for given in described.given if described is not None else ():
        outside = given.surface in (Surface.FLAG, Surface.VARIABLE)
        place = given.default if outside else given.place
        if place is not None:
            found[plain_name(given.key)] = place
    return found


def _not_traced(run: Run, program: Profiled) -> str:
    """Which micro-batches are known instead.

    ``is not among those traced with 4 micro-steps: 1 to 12, 16 to 64``
    """
    regimes = program.profile.ranges(run.micro_steps)
    known = ", ".join(f"{low} to {high}" for low, high in regimes) or "none"
    return f"is not among those traced with {run.micro_steps} micro-steps: {known}"


def _told(found: Resolution, stale: str) -> Resolution:
    if found.run is None:
        return replace(found, unresolved=(*found.unresolved, Unresolved("its profile", stale)))
    return replace(found, doubts=ordered([*found.doubts, Doubt(Subject.PIECE, stale)]))
