"""The recorded profile of a run: found beside its script, and held against its files and
settings."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nanolint.errors import Unusable
from nanolint.files.door import is_file, names, read_bytes
from nanolint.frozen import dataclass
from nanolint.gpus.abilities import refuses_float8
from nanolint.run.coverage import timed_products
from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal, plain_name
from nanolint.run.profile_file import LONGEST_TEXT, MOST_BYTES, NotAProfile, digest, head, read
from nanolint.run.program import Profiled
from nanolint.run.settled import Unresolved
from nanolint.run.terms import Surface
from nanolint.run.trust import Doubt, Subject, Trust, ordered
from nanolint.run.variables import NEW, OLD, by_name, telling
from nanolint.source.text import Undecodable, decode
from nanolint.source.values import Known
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.described import Described
    from nanolint.run.profile import Profile
    from nanolint.run.profile_file import Head
    from nanolint.run.run import Run
    from nanolint.run.settled import Options, Project, Resolution, Setting
    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar

    Places: TypeAlias = Mapping[str, Place]

FOLDER = ".nanolint"
SHIPPED = Path(__file__).parent / "recorded"  # of popular trainers as they are published
MOST_PROFILES = 100
AGAIN = "trace it again: nanolint trace --profile -- "


@dataclass(frozen=True, slots=True)
class Situation:
    """What a profile is held against: a run's script, settings, processes, card and release.

    ``text`` is the script's, which an editor or a fix may have changed. ``settings`` are those that
    memory may follow. ``places`` are where the project's own files set a key. ``torch`` is None
    where the project does not say which it has.
    """

    root: Path
    script: Path
    text: str | None
    settings: Mapping[str, str]
    places: Places
    world_size: int
    ranked: bool
    gpu: Gpu | None
    torch: tuple[int, int] | None
    compiled: bool


class Match(NamedTuple):
    """A profile of these files and settings, and what it leaves in doubt; or why there is none."""

    program: Profiled | None
    doubts: tuple[Doubt, ...] = ()
    stale: str | None = None


def find_profile(situation: Situation) -> Match | None:
    """The profile that fits best; None where the project has none of this script."""
    fitting: list[Match] = []
    stale: list[tuple[int, str]] = []
    for path, content, profile in _profiles(situation):
        changes = list(_changes(profile, situation))
        if changes and path.parent == SHIPPED:
            continue
        if changes:
            text = f"{FOLDER}/{path.name} is stale: {listed(changes)}; {AGAIN}{profile.command}"
            stale.append((len(changes), text))
            continue
        key = sha256(content).hexdigest()
        doubts = tuple(Doubt(*each, path) for each in _doubts(profile, situation))
        fitting.append(Match(Profiled(key, profile), doubts))
    if fitting:
        return min(fitting, key=lambda match: len(match.doubts))
    return Match(None, stale=min(stale)[1]) if stale else None


def _profiles(situation: Situation) -> Iterator[tuple[Path, bytes, Profile]]:
    """Those of the script: the project's own, then those that come with nanolint.

    A file that is none is passed over: it is no part of the run.
    """
    if situation.root not in situation.script.parents:
        return
    script = situation.script.relative_to(situation.root).as_posix()
    mentioned = json.dumps(script).encode()
    for path, content in chain(_own(situation.root / FOLDER), _shipped(SHIPPED)):
        try:
            if mentioned not in content:
                continue
            told = head(content)
            if told.script != script:
                continue
            if path.parent == SHIPPED and any(_changed_files(told, situation)):
                continue  # before its tapes are unpacked
            yield path, content, read(content)
        except (Unusable, NotAProfile):
            continue


def _own(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """What could be a project's profiles."""
    for name in names(folder, "*.json")[:MOST_PROFILES]:
        with suppress(Unusable):
            yield folder / name, read_bytes(folder / name, MOST_BYTES)


@cache  # they are nanolint's own, 200 KB, and each keystroke asks
def _shipped(folder: Path) -> list[tuple[Path, bytes]]:
    return [(each, each.read_bytes()) for each in sorted(folder.glob("*.json"))]


def digest_of(path: Path, text: str | None, free: Collection[str], places: Places) -> str:
    """The digest of a file of the project, or of the text that stands for it, but for what it sets
    the ``free`` keys to. Raises Unusable."""
    return digest(_without(path, text, free, places))


def _without(path: Path, text: str | None, free: Collection[str], places: Places) -> bytes:
    content = read_bytes(path) if text is None else text.encode()
    spans = [
        place.span
        for key, place in places.items()
        if key in free and place.path == path and place.span is not None
    ]
    if not spans:
        return content
    whole = decode(content).text
    for span in sorted(set(spans), key=lambda span: span.start, reverse=True):
        whole = whole[: span.start] + whole[span.end :]
    return whole.encode()


def _by_other_names(content: bytes) -> Iterator[str]:
    """The digests of a file that calls the allocator's variable by its other name."""
    if b"ALLOC_CONF" in content:
        text = decode(content).text
        yield from (digest(by_name([text], name)[0].encode()) for name in (OLD, NEW))


def _changed_files(told: Profile | Head, situation: Situation) -> Iterator[str]:
    free = free_keys(told.micro_batch, told.accumulation)
    for name, known in told.files.items():
        path = situation.root / name
        text = situation.text if path == situation.script else None
        try:
            content = _without(path, text, free, situation.places)
            if digest(content) != known and known not in _by_other_names(content):
                yield f"{name} has changed"
        except (Unusable, Undecodable):
            if is_file(path) or name.endswith(".py"):
                yield f"{name} cannot be read"


def _changes(profile: Profile, situation: Situation) -> Iterator[str]:
    """What is not as it was when it was traced, a clause each."""
    free = free_keys(profile.micro_batch, profile.accumulation)
    yield from _changed_files(profile, situation)
    keys = (key for key in {*profile.settings, *situation.settings} if weighs(key, free))
    for key in sorted(keys):
        before, value = _before_and_now(profile, situation, key)
        if before != value and not (key in SWITCHES and value == OFF):
            yield f"{key} is {value} and was {before}"
    refused = refuses_float8(situation.gpu)
    if refused is not None and any("_scaled_mm" in kind.name for kind in profile.kinds):
        yield refused
    gpu = situation.gpu
    if gpu is not None and gpu.compute_capability not in (None, profile.capability):
        for assumed in profile.assumes:  # which a script asks the card for, as a rule
            traced = ".".join(map(str, profile.capability))
            yield f"of compute capability {traced} {assumed}"
    if profile.world_size != situation.world_size:
        yield f"there are {situation.world_size} processes and were {profile.world_size}"
    elif profile.ranked and not situation.ranked:
        yield "RANK is not set and was, as by torchrun"
    elif situation.ranked and not profile.ranked:
        yield "RANK is set, as by torchrun, and was not"


def _before_and_now(profile: Profile, situation: Situation, key: str) -> tuple[str, str]:
    known = profile.settings, situation.settings
    before, now = (settings.get(key, "not set") for settings in known)
    return before, now


def _doubts(profile: Profile, situation: Situation) -> Iterator[tuple[Subject, str]]:
    """In what the run may still differ from the one that was traced."""
    unknown = [key for key, text in profile.settings.items() if text.startswith(UNKNOWN)]
    if unknown:
        text = "not known when the run was traced"
        yield Subject.SIZES, f"{listed(unknown)} {'were' if len(unknown) > 1 else 'was'} {text}"
    for key in sorted(SWITCHES & situation.settings.keys()):
        before, value = _before_and_now(profile, situation, key)
        if before != value == OFF:
            yield Subject.PIECE, f"{key} is off, and was on when the run was traced"
    for assumed in profile.assumes:
        yield Subject.PIECE, assumed
    gone = [name for name in profile.files if not is_file(situation.root / name)]
    if gone:
        yield Subject.VOCABULARY, f"{listed(gone)} is not here, which the traced run read"
    gpu = situation.gpu
    if gpu is not None and gpu.compute_capability not in (None, profile.capability):
        traced = ".".join(map(str, profile.capability))
        yield Subject.PIECE, f"it was traced for compute capability {traced}"
    elif gpu is not None and situation.compiled and gpu.sm_count not in (None, profile.sm_count):
        yield Subject.PIECE, f"it was compiled for {profile.sm_count} multiprocessors"
    if situation.torch not in (None, profile.release):
        yield Subject.TORCH, f"it was traced with torch {profile.torch.partition('+')[0]}"


UNKNOWN = "not known: "
ON, OFF = "on", "off"
GIVEN = "given"  # a flag without a value
ROLES = ("batch_size", "gradient_accumulation_steps")

# Numbers of the schedule, words for people and where tokens lie: nothing on the card has their
# size. Evaluations are traced whether there are few or many.
WITHOUT_WEIGHT = frozenset(
    {
        *("learning_rate", "min_lr", "max_iters", "warmup_iters", "lr_decay_iters", "decay_lr"),
        *("weight_decay", "beta1", "beta2", "seed", "out_dir", "log_interval"),
        *("eval_interval", "eval_iters", "always_save_checkpoint"),
        *("num_iterations", "max_steps", "warmup_steps", "save_every", "output_dir", "run"),
        *("learning_rate_decay_frac", "final_lr_frac", "warmup_ratio", "warmdown_ratio"),
        *("input_bin", "input_val_bin", "core_metric_max_per_task", "model_tag"),
    }
)
# How often something is done beside training: never, where the number is not above zero.
SWITCHES = frozenset({"eval_every", "val_loss_every", "sample_every", "core_metric_every"})


def free_keys(*keys: str | None) -> frozenset[str]:
    """The settings that a profile is a function of: of these keys, and the roles they have."""
    return frozenset(filter(None, keys)) | frozenset(ROLES)


def weighs(key: str, free: Collection[str]) -> bool:
    """Whether memory may follow a setting that the profile is no function of."""
    return not (
        key in free or key in WITHOUT_WEIGHT or key.startswith("wandb") or key.endswith("_lr")
    )


def weights(
    settings: Mapping[str, Setting],
    free: Collection[str],
    options: Options,
    described: Described | None = None,
    told: Iterable[tuple[str, Scalar | NotKnown]] = (),
) -> dict[str, str]:
    """The settings that a profile is of: each key with its value as Python writes it.

    Of a script that is its own config, which is ``described``, those that come from outside, which
    it is ``told`` of: its files say the rest.
    """
    given = _of_config(settings) if described is None else _of_script(described, options, told)
    found = {key: text[:LONGEST_TEXT] for key, text in given if weighs(key, free)}
    for name, text in telling(options.line):
        found.setdefault(name, repr(text)[:LONGEST_TEXT])
    return dict(sorted(found.items()))


def _of_config(settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    for key, setting in settings.items():
        value = setting.value
        if key == "grad_clip" and isinstance(value, Known):
            yield key, "no clipping" if value.value == 0 else "clipping"
        else:
            text = repr(value.value) if isinstance(value, Known) else f"{UNKNOWN}{value.reason}"
            yield key, text


def _of_script(
    described: Described, options: Options, told: Iterable[tuple[str, Scalar | NotKnown]]
) -> Iterator[tuple[str, str]]:
    for given in described.given:
        key = plain_name(given.key)
        if given.surface is Surface.VARIABLE:
            yield key, repr(given.value)
        elif given.surface is Surface.ARGUMENT and key in SWITCHES:
            yield key, _switch(given.value)
    for place, text in enumerate(options.line.alone, 1):
        yield f"argument {place}", repr(text)
    for name, value in told:
        key = plain_name(name)
        if isinstance(value, NotKnown):
            yield key, f"{UNKNOWN}{value}"
        elif key in SWITCHES:
            yield key, _switch(literal(value))
        else:
            yield key, GIVEN if value is None else repr(literal(value))


def _switch(value: Scalar) -> str:
    return OFF if value is None or (isinstance(value, (int, float)) and value <= 0) else ON


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
