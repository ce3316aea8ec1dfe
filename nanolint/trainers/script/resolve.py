"""From a training script of any kind to one settled run, or why there is none."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.files.repository import root_of
from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.run.coverage import not_covered
from nanolint.run.equation import NotKnown
from nanolint.run.roles import Role
from nanolint.run.run import Dialect, Run
from nanolint.run.settled import (
    MEMORY,
    Layer,
    Origin,
    Project,
    Resolution,
    Setting,
    Unresolved,
)
from nanolint.run.terms import Given, Operation, Surface
from nanolint.run.trust import Doubt, Subject, ordered
from nanolint.settings.torch_version import NEWEST
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import ROLES
from nanolint.trainers.nanogpt.read import read_run
from nanolint.trainers.script.core import Around, plain_name
from nanolint.trainers.script.gpt2 import is_gpt2
from nanolint.trainers.script.modules import roots_of, source_of
from nanolint.trainers.script.program import program_of
from nanolint.trainers.script.reading import read_script
from nanolint.trainers.script.surroundings import around_of
from nanolint.trainers.script.things import TERMS
from nanolint.trainers.script.whole import whole_script
from nanolint.trainers.traced import traced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.described import Described
    from nanolint.run.equation import Equation
    from nanolint.run.settled import Options
    from nanolint.run.terms import Term

LINE = "the launch line"  # what cannot be where the script's parser would end the run
NEEDED = (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)


def project_of(script: Path) -> Project:
    """What surrounds a script that is its own config."""
    return Project(
        root=root_of(script.parent) or script.parent,
        train_script=script,
        defaults={},
        environment={},
        dialect=Dialect.TOTAL,
        known_keys=frozenset(),
        foreign=True,
    )


def why_not(text: str, path: Path, options: Options) -> str | None:
    """Why nothing is known of the batch that a script trains on; None where it has no loop."""
    found = described(path, text, around_of(path, options, None, options.world_size or 1))
    missing = dict(found.missing) if found is not None and found.trains else {}
    return next(
        (f"its batch is not known: {missing[role]}" for role in NEEDED if role in missing), None
    )


def makes_run(text: str, path: Path, options: Options, target: Machine | None = None) -> bool:
    """Whether a script trains a model of its own in a loop of its own, on a batch of some size."""
    found = described(path, text, _around(path, options, target))
    return found is not None and any(found.value(role) is not None for role in NEEDED[:2])


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
    given = {plain_name(each.key) for each in found.given}
    for key, value in options.overrides:
        name = plain_name(key)
        if name not in given and name != "vocab_size" and isinstance(value, Known):
            yield name


def _meant(name: str, found: Described) -> str:
    names = {plain_name(each.key).lower(): each.key for each in found.given}
    near = get_close_matches(name.lower(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def _around(path: Path, options: Options, target: Machine | None) -> Around:
    world_size = options.world_size or (target.count if target else None) or 1
    return around_of(path, options, target.gpu if target else None, world_size)


@memo
def described(path: Path, text: str, around: Around) -> Described | None:
    """What ``text``, the content of ``path``, does with its values; None where it is no Python."""
    try:
        return read_script(source_of(path, "__main__", text), roots_of(path), around)
    except Unusable:
        return None


def resolve_script(text: str, path: Path, options: Options, target: Machine | None) -> Resolution:
    """The run that a script makes on one target GPU."""
    gpu = target.gpu if target else None
    around = _around(path, options, target)
    world_size = around.world_size
    found = described(path, text, around)
    if found is None:
        return Resolution(None, {}, (Unresolved("the script", "it is not valid Python"),))
    settings = {setting.key: setting for setting in _settings(found, path)}
    deciding = {
        key: _key(found.roles[role])
        for role, key in ROLES.items()
        if role in found.roles and _key(found.roles[role]) != key
    }
    unresolved = tuple(_unresolved(found))
    if found.refused:
        refusal = Unresolved(LINE, "; ".join(found.refused), impossible=True)
        return Resolution(None, settings, (refusal,), described=found)
    doubts = list(_doubts(found, options, target, world_size, around))
    outline = _run(found, gpu, world_size, options) if _has_outline(found) else None
    run = None
    if outline is not None:
        strangers, model_doubts = _model(found)
        unresolved, doubts = (*unresolved, *strangers), [*doubts, *model_doubts]
        if not unresolved:
            run = outline
            doubts += not_covered(run, gpu)
    resolution = Resolution(
        run,
        settings,
        unresolved,
        ordered(doubts),
        deciding=deciding,
        described=found,
        outline=outline,
    )
    resolution = traced(resolution, settings, project_of(path), options, gpu, text)
    if resolution.provenance is not None or outline is None:
        return resolution
    model = None if resolution.run is not None else _read(resolution, found, outline, gpu)
    whole = _read_whole(resolution, found, outline, gpu, (text, path, around))
    if isinstance(whole, NotKnown):
        return replace(_because(resolution, whole), read=model)
    return replace(resolution, read=replace(whole, read=model) if whole else model)


def _because(found: Resolution, why: NotKnown) -> Resolution:
    """``found`` with what keeps the script from being read, where its memory is not known."""
    unresolved = tuple(
        replace(each, reason=str(why)) if each.key == MEMORY else each for each in found.unresolved
    )
    return replace(found, unresolved=unresolved)


# What is settled


def _settings(found: Described, path: Path) -> Iterator[Setting]:
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


def _key(term: Term | NotKnown) -> str | None:
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


def _unresolved(found: Described) -> Iterator[Unresolved]:
    for role in NEEDED:
        term = found.roles.get(role)
        if isinstance(term, NotKnown):
            yield Unresolved(ROLES[role], str(term), name=f"the {role.value}")


def _doubts(
    found: Described,
    options: Options,
    target: Machine | None,
    world_size: int,
    around: Around,
) -> Iterator[Doubt]:
    yield from options.in_doubt(world_size, target.count if target else None)
    for name in _without_effect(found, options):
        yield Doubt(Subject.SIZES, f"what is set as {name} was not seen to have any effect")
    if options.line.unknown is not None:
        why = f"the launch line may have other flags: {options.line.unknown}"
        yield Doubt(Subject.SIZES, why)
    vocabulary = around.vocabulary
    if vocabulary is None or vocabulary not in found.given:
        return
    if vocabulary.place.path is not None:
        text = f"the tokenizer's size, which only a run reads, is taken for {vocabulary.value:,}"
        yield Doubt(Subject.VOCABULARY, text, vocabulary.place.path, vocabulary.place.line)


# The run


def _has_outline(found: Described) -> bool:
    """Whether the passes and the micro-batch are known; the context a reading can tell."""
    if found.equation is not None:
        return True
    needed = (found.roles.get(role) for role in (Role.MICRO_BATCH, Role.ACCUMULATION))
    return all(isinstance(each, TERMS) for each in needed)


def _run(found: Described, gpu: Gpu | None, world_size: int, options: Options) -> Run:
    """The run as far as it is known, with legal values for the rest of its shape."""
    width, heads = _size(found, Role.WIDTH, 64), _size(found, Role.HEADS, 1)
    dtype = found.value(Role.DTYPE)
    dtype = dtype if dtype in ("float32", "bfloat16", "float16") else "bfloat16"
    if dtype == "bfloat16" and not has_bfloat16(gpu):
        dtype = "float16"
    equation, passes = found.equation, _size(found, Role.ACCUMULATION, 1)
    if equation is not None:
        passes = equation.number(equation.passes)
    return Run(
        batch_size=_size(found, Role.MICRO_BATCH, 1),
        gradient_accumulation_steps=max(1, passes) * world_size,
        world_size=world_size,
        block_size=_size(found, Role.CONTEXT, 0),
        n_layer=_size(found, Role.LAYERS, 1),
        n_head=heads,
        n_embd=width,
        vocab_size=_size(found, Role.VOCABULARY, 1),
        dropout=0.0,
        bias=True,
        dtype=str(dtype),
        compile=found.value(Role.COMPILE) is True,
        init_from="scratch",
        device="cuda",
        attention=attention_kernel(
            gpu, dtype=str(dtype), head_size=max(1, width // heads), dropout=False
        ),
        torch=options.torch_version or NEWEST,
        micro_batches=None if equation is None else _legal(equation),
    )


def _legal(equation: Equation) -> tuple[int, ...] | None:
    """The micro-batches that keep the tokens of a step; None where the script refuses its own."""
    if any(True for _ in equation.broken()) or equation.roundings():
        return None
    return equation.legal(equation.sequences_per_step() // equation.world)


def _read(
    found: Resolution, described: Described, outline: Run, gpu: Gpu | None
) -> Resolution | None:
    """The run with its model read from its source, in doubt because of its loop.

    Only where the loop is like nanoGPT's in what matters most: one AdamW, and a model that is given
    indices and targets.
    """
    known = any(each.key != MEMORY for each in found.unresolved)
    one_adam = described.optimizers == ("torch.optim.AdamW",) and described.called_plainly
    program = None if known or not one_adam else program_of(described, outline.block_size)
    if program is None:
        return None
    doubts = [*found.doubts, _own_loop(described)]
    doubts.append(Doubt(Subject.OPTIMIZER, "the optimizer is made otherwise than nanoGPT's"))
    run = read_run(outline, program, gpu)
    doubts += not_covered(run, gpu)
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


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
    told = {MEMORY, ROLES[Role.CONTEXT]}  # by a reading
    if any(each.key not in told for each in found.unresolved):
        return None
    program = whole_script(text, path, described, outline, around)
    if isinstance(program, NotKnown):
        return program
    loop = _own_loop(described)
    run = read_run(outline, program, gpu)
    doubts = [each for each in found.doubts if each != loop] + list(not_covered(run, gpu))
    return replace(found, run=run, unresolved=(), doubts=ordered(doubts))


def _own_loop(found: Described) -> Doubt:
    line = found.equation.loop.line if found.equation is not None else None
    return Doubt(Subject.PIECE, "the loop is not nanoGPT's own", found.script, line)


def _size(found: Described, role: Role, otherwise: int) -> int:
    value = found.value(role)
    return value if isinstance(value, int) and value > 0 else otherwise


def _model(found: Described) -> tuple[tuple[Unresolved, ...], tuple[Doubt, ...]]:
    """Why no number can be given for the model, or what is in doubt where one can.

    nanoGPT's replay stands for a model whose every piece is known to allocate what nanoGPT's does,
    and for no other.
    """
    built = found.model
    if isinstance(built, NotKnown):
        return (Unresolved("the model", str(built)),), ()
    name = f"{built.class_name} in {built.path.name if built.path else found.script.name}"
    strange = Unresolved(MEMORY, f"{name} is another network than nanoGPT's")
    if built.path is None or not is_gpt2(built.path, built.class_name):
        return (strange,), ()
    missing = [role for role, _ in found.missing if role in ROLES]
    if missing:
        reasons = tuple(
            Unresolved(ROLES[role], str(why), name=f"the {role.value}")
            for role, why in found.missing
            if role in ROLES
        )
        return reasons, ()
    return (), (_own_loop(found),)
