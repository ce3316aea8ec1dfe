"""Whether the script of a run can be read, and which of several scripts runs a config.

Which of several scripts runs a config: not one that fails with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.values import INSTALLED, Unread
from nanolint.recording.recording import FREE, allocated_peak, asks, recorded
from nanolint.run.coverage import SPLIT_GRAPH
from nanolint.run.downloads import ASSUMED
from nanolint.run.program import BATCH, CONTEXT, PASSES, ReadScript
from nanolint.run.settled import MEMORY, THE_RUN, Unresolved
from nanolint.run.stop import Stop
from nanolint.run.trust import Doubt, Subject, ordered
from nanolint.tape.tape import floor_bytes
from nanolint.verdict.verdict import comfortable_limit, is_comfortable

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.recording.tape_answers import TapeAnswers
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution, Rivals
    from nanolint.tape.tape import Tape


def if_readable(resolution: Resolution, target: Machine | None) -> Resolution:
    """What ``resolution`` is with its script read; itself, with the reason, where it cannot be.

    Where it is not known what torch.compile makes of it, it lies between two bounds: what it takes
    without being compiled, and what its parameters, gradients and the optimizer take. It is in
    doubt unless both give one verdict; then its number is left open.
    """
    read = resolution.read
    run = read.run if read else None
    if read is None or run is None:
        return resolution
    script = run.program
    assert isinstance(script, ReadScript)
    if target is not None:
        script = replace(script, cards=target.count)
        run = replace(run, program=script)
    try:
        known = recorded(run, target.gpu if target else None)
    except Unread as error:
        if error.stop is not None:
            return _ends(resolution, error, error.stop)
        if error.reason == INSTALLED:
            bare = replace(run, program=replace(script, bare=True))
            if bare != run:  # it may do without what it looks for
                again = if_readable(replace(resolution, read=replace(read, run=bare)), target)
                if again.run is not None:
                    return again
        return _unread(resolution, error)
    said = known.said
    vocabularies = [each for each in said.assumed if each.startswith(ASSUMED)]
    assumed = [each for each in said.assumed if each not in vocabularies]
    doubts = [*read.doubts, *(Doubt(Subject.PIECE, each) for each in assumed)]
    left_open = read.left_open
    fits = _fits_widest(run, known, target) if vocabularies else None
    if fits:
        left_open = (*left_open, *(f"{each}: it fits either way" for each in vocabularies))
    elif fits is not None:
        doubts += (Doubt(Subject.VOCABULARY, each) for each in vocabularies)
    if target is not None and said.is_bound and not _differ(run, known, target):
        left_open = (*left_open, *said.doubts)
    else:
        doubts += (Doubt(Subject.PIECE, each) for each in said.doubts)
    if target is not None and target.in_use_bytes and asks(run, (FREE,)):
        doubts.append(Doubt(Subject.PIECE, "nanolint takes all of the card for free"))
    stop = None if said.stop is None else Stop.read(said.stop)
    run = _told(run, script, said.trained)
    if not said.uses_card:
        run = replace(run, device="cpu")
    described = read.described and read.described.with_length(run.block_size)
    return replace(
        read,
        run=run,
        stop=stop,
        doubts=ordered(doubts),
        left_open=left_open,
        described=described,
    )


def _fits_widest(run: Run, known: TapeAnswers[Tape], target: Machine | None) -> bool | None:
    """Whether it fits if vocabularies that are not here are as large as any; None if it takes as
    much then."""
    assert isinstance(run.program, ReadScript)
    widest = replace(run, program=replace(run.program, widest=True))
    try:
        most = recorded(widest, target.gpu if target else None).answer(allocated_peak)
        if most == known.answer(allocated_peak):
            return None
        return target is not None and is_comfortable(widest, target)
    except Unread:
        return False


def _told(run: Run, script: ReadScript, trained: tuple[int, ...]) -> Run:
    """``run`` with what its reading alone tells of its batches: no other micro-batch is known
    where that is among it, or how many there are in a step."""
    rows, length, passes = trained
    seen: dict[str, Any] = {BATCH: rows, CONTEXT: length, PASSES: passes * run.world_size}
    told = replace(run, **{key: value for key, value in seen.items() if key in script.told})
    is_fixed = {BATCH, PASSES} & script.told
    return replace(told, micro_batches=(told.batch_size,)) if is_fixed else told


def own(resolution: Resolution, target: Machine | None) -> Resolution:
    """A run of nanoGPT's own, with what its texts leave in doubt; any other as it is, and so is
    one without a card, of whose memory nothing is said."""
    run = resolution.run
    if run is None or target is None or run.program is not None or not run.on_gpu:
        return resolution
    try:
        said = recorded(run, target.gpu).said
    except Unread as error:
        why = Unresolved(MEMORY, f"nanolint cannot read the run: {error}")
        return replace(resolution, run=None, unresolved=(*resolution.unresolved, why))
    # What DDP's buckets do to its graphs was traced: coverage says where that matters.
    told = {SPLIT_GRAPH, *(each.text for each in resolution.doubts)}
    found = (each for each in (*said.doubts, *said.assumed) if each not in told)
    doubts = [Doubt(Subject.PIECE, each) for each in found]
    return replace(resolution, doubts=ordered([*resolution.doubts, *doubts]))


def _ends(found: Resolution, error: Unread, stop: Stop) -> Resolution:
    """``found`` of a script that fails before it has trained: there is no run to judge."""
    why = Unresolved(THE_RUN, f"the script {error}", impossible=True, stop=stop)
    return replace(found, run=None, unresolved=(why,), read=None)


def _unread(found: Resolution, error: Unread) -> Resolution:
    """``found`` with the reason why its script cannot be read, before what reading would tell."""
    why = Unresolved(MEMORY, f"nanolint cannot read the script: {error}")
    others = (each for each in found.unresolved if each.key != MEMORY)
    return replace(found, unresolved=(why, *others))


def _differ(run: Run, known: TapeAnswers[Tape], target: Machine) -> bool:
    """Whether the bounds of a compiled run have different verdicts."""
    limit = comfortable_limit(run, target)
    return not is_comfortable(run, target) and known.answer(floor_bytes) <= limit


FEW = 4  # scripts that are read besides


def without_rivals(found: Resolution, rivals: Rivals, target: Machine | None) -> Resolution:
    """``found`` without the doubt about its script, where each other is known to fail before it has
    trained: train.py stays."""
    others = rivals.resolved()
    if len(others) > FEW or not all(_fails(if_readable(each, target)) for each in others):
        return found
    doubts = tuple(each for each in found.doubts if each != rivals.doubt)
    return replace(found, doubts=doubts)


def _fails(found: Resolution) -> bool:
    return any(each.key == THE_RUN and each.impossible for each in found.unresolved)
