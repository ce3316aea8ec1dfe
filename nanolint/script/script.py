"""The tape of a script that is read whole."""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import capability_of, has_bfloat16, refuses_float8
from nanolint.interpreter import origins
from nanolint.interpreter.certain import blamed_by, cause_of, is_certain, is_certain_anywhere
from nanolint.interpreter.exceptions import CATCHABLE, callers_of, uncollected
from nanolint.interpreter.interpreter import parsed
from nanolint.interpreter.values import Place, Raised, Unread
from nanolint.interpreter.watched import given
from nanolint.run.downloads import ASSUMED
from nanolint.run.program import BATCH, PASSES
from nanolint.run.stop import Cause, Line, Stop, quoted
from nanolint.script import later
from nanolint.script.arrays import OF_DATA
from nanolint.script.phases import BEFORE, EVALUATIONS, Finished
from nanolint.script.reader import MAIN, Reader
from nanolint.script.settled import settled, symbolic, symbols_of, values_of
from nanolint.script.surroundings import Surroundings
from nanolint.source.python import walked
from nanolint.tape.numbers import spots
from nanolint.tape.symbolic import NotSymbolic, answer
from nanolint.tape.tape import Component, Phase, summits
from nanolint.tensors.device import NotTraced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.gpus.gpu import Gpu
    from nanolint.inductor.inductor import Inductor
    from nanolint.interpreter.values import Value
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run
    from nanolint.script.seen import Seen
    from nanolint.script.weights import Weights
    from nanolint.tape.numbers import Spot
    from nanolint.tape.tape import Tape
    from nanolint.tensors.device import Device

DECLARES = (ast.Global, ast.Nonlocal)
FAILURES = (Raised, *CATCHABLE, NotTraced, RecursionError)
ASSUMES = "assuming"
MUCH = 2  # a phase with less than half of the peak does not move it
STEPS = 3  # the state of optimizers is there from the second on; then reserved bytes settle


def read_script(
    program: ReadScript,
    run: Run,
    gpu: Gpu | None,
    device: Device,
    *,
    inductor: Inductor | None = None,
    whole: bool = False,
    weights: Weights | None = None,
) -> None:
    """Writes the events of a script to the tape of ``device``; ``whole`` reads every turn.

    Without ``inductor`` nothing is compiled. ``weights`` are those of checkpoints that it goes on
    from; raises WeightsFound if it has one that is not among them. If it is not derived what
    is compiled, the events are those of the run without it, and the tape says so among its doubts.

    Raises Unread if its memory depends on an unknown value.
    """
    symbols: dict[Spot, Value] = {}
    formulas = device.asked.formulas
    if formulas is not None:
        run = symbolic(run, formulas)
        symbols = symbols_of(program, run, formulas)
    program = settled(program, run)
    asked = device.asked
    watched = {
        spot: given(asked, at) for spot, at in spots(program.modules).items() if asked.watches
    }
    # Memory-efficient attention takes what the card computes in (sdp_utils.cpp).
    device.fuses_bfloat16 = has_bfloat16(gpu)
    device.tuned_for = capability_of(gpu)
    machine = Reader(
        program.modules,
        device,
        around(program, run, gpu, device),
        version=run.torch,
        steps=STEPS,
        inductor=inductor if run.on_gpu else None,
        weights=weights,
        spots={**watched, **symbols},
    )
    machine.turns.whole, machine.is_bare = whole, program.bare
    with uncollected():
        try:
            _read(machine, device, program, run, symbols)
        finally:
            machine.forget()


def _read(
    machine: Reader, device: Device, program: ReadScript, run: Run, symbols: dict[Spot, Value]
) -> None:
    try:
        machine.read()
    except Finished:  # or Ended, which has not closed the tape
        device.tape.close()
    except FAILURES as error:
        unread, stop = machine.unread(_described(error)), None
        if is_certain(error) or _is_pythons(error, program):
            stop = _stop(machine, error, program)
        if not machine.phases.have_settled:
            unread.stop = stop
            raise unread from error
        device.tape.close()
        if stop is not None:
            device.tape.stop = replace(stop, when=machine.turns.when)
        else:
            what = later.STOPS if _is_raised(error) else later.NOT_READ
            machine.doubts.append(f"{what}: {unread}")
    except Unread as error:
        if not machine.phases.have_settled:
            raise
        device.tape.close()
        machine.doubts.append(f"{later.NOT_READ}: {error}")
    else:
        if not _is_all(machine, run):
            raise machine.unread("the script ends before its third optimizer step")
        device.tape.close()
    if machine.phases.done:
        early = [] if device.tape.is_bound else device.tape.doubts[: machine.phases.doubts]
        for each in early:  # eager, it takes another amount
            raise machine.unread(each)
        _name(device.tape)
        if run.world_size > 1 and not machine.group.is_told_rank:
            why = f"nothing tells {run.world_size} processes apart: all may use one card"
            machine.doubts.append(why)
        if run.on_gpu and device.tape.events and not _trains(device.tape):
            raise machine.unread("nothing is trained on the card")
        if not run.on_gpu and device.tape.events:
            raise machine.unread(f"the script uses a card, but device is {run.device!r}")
    if not machine.stood.issuperset(symbols):
        raise NotSymbolic("a value of the run is taken from a text")
    device.tape.printed = machine.printed.lines
    device.tape.trained = machine.seen.trained
    device.tape.story = machine.teller.story(machine.trees(), machine.executed)
    device.tape.doubts += [*machine.doubts, *machine.checkpoint.doubts(), *machine.later()]
    more = _peaks_in_evaluation(device.tape, machine.at_most)
    device.tape.doubts += [more] if more else []
    device.tape.assumed = [
        each
        for each in device.tape.assumed
        if each not in device.tape.apart or _matters(device.tape, device.tape.apart[each])
    ]
    if program.checked:
        if BATCH in program.told and not device.tape.trained[0]:
            raise machine.unread("nanolint did not see the input of the model")
        device.tape.doubts += _differs(machine.seen, run, program.told)


def _stop(machine: Reader, error: BaseException, program: ReadScript) -> Stop | None:
    """How the program fails; None if that may rest on what is not known."""
    cause, words = cause_of(error), str(error).partition("\n")[0]
    tape, made_up = machine.card.tape, machine.made_up
    # A doubt about memory decides no statement; one that assumes a batch may.
    is_plain = is_certain_anywhere(error) and cause is not Cause.CHECK
    is_plain = is_plain or isinstance(error, NameError)
    doubts = [each for each in tape.assumed if not each.startswith(ASSUMED)]
    doubts += [*tape.doubts, *machine.doubts]
    if is_plain:
        doubts = [each for each in doubts if each.startswith(ASSUMES)]
    is_nowhere = type(error) is NameError  # whichever way leads there
    if doubts or (made_up.is_lost and not is_nowhere):
        return None
    numbers = map(int, re.findall(r"\d+", words))
    if any(made_up.has(each) or each > OF_DATA for each in numbers):
        return None
    of_kind = "device" not in words and not is_certain_anywhere(error)
    if of_kind and made_up.of_file and not machine.teller.tables:
        return None  # what an array of a file is taken for shows once a table has such rows
    places = [blamed_by(error), machine.place]
    texts = {each.path: each.text for each in program.modules}
    own = [(each.path, each.line) for each in places if isinstance(each, Place)]
    lines = quoted(dict.fromkeys([*own, *callers_of(error)]), texts)
    if (
        machine.may_be_started_otherwise
        and _hangs(error, cause, lines)
        and not is_certain_anywhere(error)
    ):
        return None
    name = error.value.cls.name if isinstance(error, Raised) else type(error).__name__
    operands = origins.described(error, machine.imported[MAIN]) if cause is Cause.OPERANDS else ()
    made = origins.made(machine, machine.imported[MAIN], error, operands, texts) if operands else ()
    when = machine.phases.when
    if when == BEFORE and machine.turns.outermost is not None:
        when = "in step 1" if machine.phases.learns else "in the evaluation before step 1"
    return Stop(cause, name, words, when, lines, operands, made)


def _hangs(error: BaseException, cause: Cause, lines: Iterable[Line]) -> bool:
    """Whether a value fails that a start may give another; no key that the lines spell out."""
    if isinstance(error, KeyError):
        key = error.args[0]
        return not key or not any(str(key) in each.source for each in lines)
    return cause is Cause.CHECK or isinstance(error, ZeroDivisionError)


def _is_raised(error: BaseException) -> bool:
    """Whether it is an exception of the program's, and no limit of who reads it."""
    return isinstance(error, CATCHABLE)


def _is_all(machine: Reader, run: Run) -> bool:
    """Whether a script that has ended does no more: it only evaluates, or has few steps."""
    if run.eval_only:
        return machine.seen.only_evaluates
    return 0 < machine.phases.done == run.max_iters + 1


def _is_pythons(error: BaseException, program: ReadScript) -> bool:
    """Whether Python raises it, too: a division by zero, or a name that no function may have set.

    A statement that was passed over binds its names all the same.
    """
    if isinstance(error, ZeroDivisionError):
        return True
    name = error.name if isinstance(error, NameError) else None
    if name is None or hasattr(builtins, name):
        return False
    trees = filter(None, (parsed(each.text) for each in program.modules))
    declared = (each for tree in trees for each in walked(tree) if isinstance(each, DECLARES))
    return not any(name in each.names for each in declared)


def _described(error: BaseException) -> str:
    if isinstance(error, Raised):
        return f"raises {error}"
    if isinstance(error, NotTraced):
        return f"nanolint does not model {error} under torch.compile"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"raises {type(error).__name__}: {error}"


def _differs(seen: Seen, run: Run, told: frozenset[str]) -> Iterator[str]:
    """What the script trains with, where that is not what is said of the run; what is ``told`` by
    the reading nobody has said."""
    shape = (run.batch_size, run.block_size)
    read = seen.evaluated if run.eval_only else seen.shape
    if read is None and seen.samples == run.batch_size:
        read = shape  # of pictures, or numbers, nobody says how many tokens they have
    elif read is not None and not run.block_size:
        shape = (run.batch_size, read[-1])  # of how many tokens only the reading tells
    if BATCH not in told and read != shape:
        found = "not known" if read is None else "x".join(map(str, read))
        yield f"assuming a batch of {shape[0]}x{shape[1]} tokens; in the script it is {found}"
    if PASSES not in told and not run.eval_only and seen.passes != run.micro_steps:
        yield f"assuming {run.micro_steps} passes per step; in the script it is {seen.passes}"


def around(program: ReadScript, run: Run, gpu: Gpu | None, device: Device) -> Surroundings:
    """Returns the surroundings of the script."""
    return Surroundings(
        words=values_of(program.words, run),
        assigned=values_of(program.assigned, run),
        variables=values_of(program.variables, run),
        put=values_of(program.put, run),
        world_size=run.world_size,
        capability=(gpu.compute_capability if gpu else None) or device.capability,
        asked=device.asked,
        has_bfloat16=has_bfloat16(gpu),
        refuses_float8=refuses_float8(gpu),
        shape=(run.batch_size, run.block_size or program.longest),
        vocabulary=program.vocabulary,
        files=program.files,
        fresh=program.fresh,
        compiles=run.compile,
        last_step=run.max_iters,
        loaded=program.loaded,
        saved=program.saved,
        cards=program.cards,
        is_module=program.is_module,
        is_whole=program.is_whole,
        older_transformers=program.older_transformers,
        widest=program.widest,
    )


def _trains(tape: Tape) -> bool:
    """Whether a backward pass allocates anything."""
    bounds = [*(at for at, _ in tape.phases[1:]), len(tape.events)]
    return any(
        phase is Phase.BACKWARD and any(event >= 0 for event in tape.events[start:stop])
        for (start, phase), stop in zip(tape.phases, bounds, strict=True)
    )


def _peaks_in_evaluation(tape: Tape, at_most: Sequence[tuple[str, int]]) -> str | None:
    """Returns the first of ``at_most`` after whose event an evaluation allocates the peak of the
    run: its own evaluation if the event is in one. None if there is no such event."""
    starts = [at for at, _ in tape.phases]

    def peaks(sizes: list[int]) -> str | None:
        tops = summits(tape, len(tape.events), sizes)
        phase, (peak, event) = max(tops.items(), key=lambda top: (top[1][0], -top[1][1]))
        if peak <= 0 or phase not in EVALUATIONS:
            return None
        for what, since in at_most:
            after = bisect_right(starts, since)
            is_own = tape.phases[after - 1][1] in EVALUATIONS and after < len(starts)
            if since <= event < (starts[after] if is_own else len(tape.events)):
                return what
        return None

    return answer(peaks, tape.sizes) if at_most else None


def _matters(tape: Tape, phase: Phase) -> bool:
    """Whether a phase allocates so much that an error of it may move the peak: what the others
    have reserved is there for it."""

    def matters(sizes: list[int]) -> bool:
        peaks = {each: peak for each, (peak, _) in summits(tape, len(tape.events), sizes).items()}
        return MUCH * peaks.get(phase, 0) > max(peaks.values())

    return answer(matters, tape.sizes)


def _name(tape: Tape) -> None:
    """What optimizers keep, and what else they make, is theirs."""
    bounds = [*(at for at, _ in tape.phases[1:]), len(tape.events)]
    for (start, phase), stop in zip(tape.phases, bounds, strict=True):
        if phase is Phase.OPTIMIZER:
            for event in tape.events[start:stop]:
                if event >= 0 and tape.components[event] is Component.ACTIVATIONS:
                    tape.components[event] = Component.OPTIMIZER
