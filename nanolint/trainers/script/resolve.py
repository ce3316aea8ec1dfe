"""From a training script of any kind to one settled run, or why there is none."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.files.repository import root_of
from nanolint.profiles.profiles import traced
from nanolint.regex import lazily
from nanolint.run.coverage import not_covered
from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.settled import (
    LAUNCH_LINE,
    MEMORY,
    THE_MODEL,
    Layer,
    Origin,
    Project,
    Resolution,
    Setting,
    Unresolved,
)
from nanolint.run.terms import Given, Operation, Surface
from nanolint.run.trust import Doubt, Subject, ordered
from nanolint.source.python import python_tree, walked
from nanolint.source.values import Known, Unknown
from nanolint.trainers.dotenv import with_dotenv
from nanolint.trainers.nanogpt.keys import ROLES
from nanolint.trainers.nanogpt.whole import read_run
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.modules import roots_of, source_of
from nanolint.trainers.script.outline import (
    can_tell,
    has_outline,
    of_model,
    open_flags,
    outline_of,
    told_of,
)
from nanolint.trainers.script.reading import read_script
from nanolint.trainers.script.saved import earlier
from nanolint.trainers.script.sources import sources
from nanolint.trainers.script.surroundings import around_of, told
from nanolint.trainers.script.whole import whole_script
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.described import Described
    from nanolint.run.run import Run
    from nanolint.run.settled import Options
    from nanolint.run.terms import Term
    from nanolint.trainers.script.core import Around


def settings_of(found: Described, path: Path) -> Iterator[Setting]:
    """All that was given by its name, then the roles by the names of nanoGPT's keys for them."""
    for given in found.given:
        yield Setting(plain_name(given.key), Known(given.value), _origin(given, path))
    for role, key in ROLES.items():
        if role not in found.roles:
            continue
        term = found.roles[role]
        if isinstance(term, NotKnown):
            yield Setting(key, Unknown(str(term)), Origin(Layer.TRAIN_SCRIPT, term.path))
        else:
            yield Setting(key, Known(term.value), _origin(term, path))
    yield Setting("device", Known("cuda"), Origin(Layer.TRAIN_SCRIPT, path))


def key_of(term: Term | NotKnown) -> str | None:
    """The name of what was given for a role, None where the script computes it."""
    return plain_name(term.key) if isinstance(term, Given) else None


def _origin(term: Term, path: Path) -> Origin:
    if isinstance(term, Given):
        if term.surface in (Surface.FLAG, Surface.VARIABLE):
            return Origin(Layer.OVERRIDE, None, term.place.span)
        if term.place.path == path:
            return Origin(Layer.FILE, path, term.place.span)
        return Origin(Layer.IMPORT, term.place.path, term.place.span)
    if isinstance(term, Operation) and term.path is not None:
        return Origin(Layer.TRAIN_SCRIPT, term.path)
    return Origin(Layer.TRAIN_SCRIPT, path)


_PROGRAM = lazily(r"^if\s+__name__\s*==\s*['\"]__main__['\"]", re.MULTILINE)
_GOES_BACK = lazily(r"^[^#\n]*\.backward\s*\(", re.MULTILINE)
_STEPS = lazily(r"^[^#\n]*\.step\s*\(", re.MULTILINE)
_LIBRARY = lazily(
    r"^\s*(?:import|from)\s+(?:lightning|pytorch_lightning|transformers|trl)\b", re.MULTILINE
)
_FITS = lazily(r"^[^#\n]*(?:(?:\.fit|\w*Trainer)\s*\(|\bLightningCLI\s*[()])", re.MULTILINE)
NEEDED = (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)


def project_of(script: Path) -> Project:
    """What surrounds a script that is its own config."""
    return Project(
        root=root_of(script.parent) or script.parent,
        train_script=script,
        defaults={},
        environment={},
        known_keys=frozenset(),
        foreign=True,
    )


def why_not(text: str, path: Path, options: Options) -> str | None:
    """Why nothing is known of the batch that a script trains on; None where it has no loop."""
    found = described(path, text, around_of(path, options, None, options.world_size or 1))
    missing = {} if found is None else dict(found.missing)
    if found is not None and not found.trains:  # it has a loop, but none that was reached
        missing = {
            role: why for role, why in missing.items() if why.reason == unknown_reasons.TOO_LONG
        }
    return next(
        (f"its batch is not known: {missing[role]}" for role in NEEDED if role in missing), None
    )


def makes_run(text: str, path: Path, options: Options, target: Machine | None = None) -> bool:
    """Whether a script trains a model of its own in a loop of its own."""
    found = described(path, text, _around(path, options, target))
    if found is None:
        return False
    if any(found.value(role) is not None for role in NEEDED[:2]):
        return True
    return can_tell(found) and (found.trains or _starts(found, text, path))


def _starts(found: Described, text: str, path: Path) -> bool:
    """Whether a program may train in a place that was not followed: its reading tells."""
    why = found.roles.get(Role.MICRO_BATCH)
    is_long = isinstance(why, NotKnown) and why.reason == unknown_reasons.TOO_LONG
    if _PROGRAM.search(text) is None:
        return is_long and _trains(text)
    return any(_trains(source.text) for _, source in sources(text, path))


def _trains(text: str) -> bool:
    if _LIBRARY.search(text) is not None and _FITS.search(text) is not None:
        return True
    return _GOES_BACK.search(text) is not None and _STEPS.search(text) is not None


def refusals(text: str, path: Path, options: Options) -> tuple[str, ...]:
    """What the script's own parser would not take of the launch line, each in a clause, and what is
    to be set of which the script says nothing."""
    found = described(path, text, around_of(path, options, None, options.world_size or 1))
    if found is None:
        return ()
    unset = _without_effect(found, options) if found.trains else ()
    plain = text.replace("-", "_")
    names = [key for key in unset if not re.search(rf"\b{re.escape(key)}\b", plain)]
    return (*found.refused, *(f"it sets no {name}{_meant(name, found)}" for name in names))


def _without_effect(found: Described, options: Options) -> Iterator[str]:
    """The values put on top that are none of those that the script was seen to be given."""
    own = (*(each.key for each in found.given), *(each.key for each in found.put))
    keys = (*own, *found.said)
    given = {plain_name(each) for each in keys}
    for key, value in options.overrides:
        name = plain_name(key)
        if name not in given and name != "vocab_size" and isinstance(value, Known):
            yield name


def _in_several_places(key: str, found: Described) -> Iterator[Doubt]:
    """A doubt if a value put on top took the place of several, which the user may not all mean."""
    name = plain_name(key)
    places = {each.default: None for each in found.given if plain_name(each.key) == name}
    known = [each for each in places if each is not None]
    if len(known) > 1:
        first, second = known[:2]
        why = f"--set {key} changes {len(known)} places, {second} too"
        yield Doubt(Subject.SIZES, why, first.path, first.line)


def _meant(name: str, found: Described) -> str:
    names = {plain_name(each.key).lower(): each.key for each in found.given}
    near = get_close_matches(name.lower(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def _around(path: Path, options: Options, target: Machine | None) -> Around:
    world_size = options.world_size or (target.count if target else None) or 1
    return around_of(path, options, target.gpu if target else None, world_size)


@memo
def described(path: Path, text: str, around: Around) -> Described | None:
    """What ``text``, the content of ``path``, does with its values; None where it is no Python.

    What it goes on from is what the runs before it save, else what is on the disk.
    """
    try:
        source = source_of(path, "__main__", text)
    except Unusable:
        return None
    found = read_script(source, roots_of(path), around)
    if not found.wanted or around.before is None:
        return found
    before = earlier(path, found, around, described)
    if before.is_nothing:
        return found
    again = replace(around, saved=before.saved, saver=before.saver)
    return replace(read_script(source, roots_of(path), again), said=before.said)


def resolve_script(text: str, path: Path, options: Options, target: Machine | None) -> Resolution:
    """The run that a script makes on one target GPU."""
    options = with_dotenv(options, path, text)
    gpu = target.gpu if target else None
    around = _around(path, options, target)
    world_size = around.world_size
    found = described(path, text, around)
    if found is None:
        return Resolution(None, {}, (Unresolved("the script", "it is not valid Python"),))
    settings = {setting.key: setting for setting in settings_of(found, path)}
    deciding = {
        key: key_of(found.roles[role])
        for role, key in ROLES.items()
        if role in found.roles and key_of(found.roles[role]) != key
    }
    unresolved = tuple(_unresolved(found, text))
    if found.refused:
        refusal = Unresolved(LAUNCH_LINE, "; ".join(found.refused), impossible=True)
        return Resolution(None, settings, (refusal,), described=found)
    without = options.without_card(target.count if target else None)
    if without is not None:
        return Resolution(None, settings, (without,), described=found)
    doubts = list(_doubts(found, options, target, world_size, around))
    begun = outline_of(found, gpu, world_size, options)
    outline = begun if has_outline(found) else None
    starts = found.trains or _starts(found, text, path)
    if starts:
        unresolved = (*unresolved, of_model(found))
    resolution = Resolution(
        None,
        settings,
        unresolved,
        ordered(doubts),
        deciding=deciding,
        described=found,
        outline=outline,
    )
    project = project_of(path)
    resolution = traced(resolution, settings, project, options, gpu, text, told(options))
    if resolution.run is not None or not starts:
        return resolution
    whole = _read_whole(resolution, found, begun, gpu, (text, path, around))
    if isinstance(whole, NotKnown):
        return _because(resolution, whole)
    return replace(resolution, read=whole)


def _because(found: Resolution, why: NotKnown) -> Resolution:
    """``found`` with what keeps the script from being read, where its memory is not known."""
    unresolved = tuple(
        replace(each, reason=str(why)) if each.key == MEMORY else each for each in found.unresolved
    )
    return replace(found, unresolved=unresolved)


def _unresolved(found: Described, text: str) -> Iterator[Unresolved]:
    for role in NEEDED:
        term = found.roles.get(role)
        if isinstance(term, NotKnown):
            is_batch = role is Role.MICRO_BATCH
            flags = list(open_flags(walked(python_tree(text)))) if is_batch else []
            way = f"; the launch line can give {listed(flags)}" if flags else ""
            yield Unresolved(ROLES[role], f"{term}{way}", name=f"the {role.value}")


def _doubts(
    found: Described,
    options: Options,
    target: Machine | None,
    world_size: int,
    around: Around,
) -> Iterator[Doubt]:
    yield from options.in_doubt(world_size, target.count if target else None)
    for name in _without_effect(found, options):
        yield Doubt(Subject.SIZES, f"{name} is set, but seems to have no effect")
    for key, _ in options.overrides:
        yield from _in_several_places(key, found)
    if options.line.unknown is not None:
        why = f"the launch line may have other flags: {options.line.unknown}"
        yield Doubt(Subject.SIZES, why)
    yield from (Doubt(Subject.SIZES, e.reason, e.path, e.line or None) for e in found.taken)
    vocabulary = around.vocabulary
    if vocabulary is None or vocabulary not in found.given:
        return
    if vocabulary.place.path is not None:
        text = f"the size of the tokenizer is known only at run time; assuming {vocabulary.value:,}"
        yield Doubt(Subject.VOCABULARY, text, vocabulary.place.path, vocabulary.place.line)


def _read_whole(
    found: Resolution,
    described: Described,
    outline: Run,
    gpu: Gpu | None,
    script: tuple[str, Path, Around],
) -> Resolution | NotKnown | None:
    """The run with all of the script read from its source, its loop too, or why that cannot be.

    None where a value of its own is not known that only a run would tell.
    """
    text, path, around = script
    told = {MEMORY, THE_MODEL, *told_of(described)}  # by a reading
    if any(each.key not in told for each in found.unresolved):
        return None
    program = whole_script(text, path, described, outline, around)
    if isinstance(program, NotKnown):
        return program
    run = read_run(outline, program, gpu)
    doubts = [*found.doubts, *not_covered(run, gpu)]
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))
