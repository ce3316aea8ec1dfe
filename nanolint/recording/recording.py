"""A run's tape: recorded once, and shared by all runs that have the same events.

``tape_answers.py`` keeps the tapes; what is known of a tape goes with it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import ref

from nanolint.frames import in_one_piece
from nanolint.gpus.abilities import (
    capability_of,
    compiles,
    refuses_float8,
    threads_per_multiprocessor,
)
from nanolint.gpus.said import model_of
from nanolint.interpreter.values import Unread
from nanolint.recording import kept
from nanolint.recording.kernels import Kernels
from nanolint.recording.symbolic_cache import are_known, family_of
from nanolint.recording.tape_answers import TapeAnswers, facts_of, shared, worked_out
from nanolint.run.program import Profiled, ReadScript
from nanolint.run.run import Attention, Run
from nanolint.script.played import representative
from nanolint.script.settled import COUNTED, numbers_of, settled, without_numbers
from nanolint.tape.lasting import Answers, lasting
from nanolint.tape.located import Located
from nanolint.tape.numbers import counting, without
from nanolint.tape.profile import profiled
from nanolint.tape.reading_lock import turn
from nanolint.tape.tape import Tape
from nanolint.tape.torch import DEFAULT_SM_COUNT
from nanolint.tensors.device import Asked, Card, Followed

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from nanolint.gpus.gpu import Gpu
    from nanolint.recording.symbolic_cache import Numbers, SymbolicCache

FREE = "mem_get_info"
ASKS = ("get_device_", FREE, "_scaled_mm")  # by these a program asks what its card is
USUAL_BYTES = 80 << 30  # of a card that is not known


def recorded(run: Run, gpu: Gpu | None = None) -> TapeAnswers[Tape]:
    """The tape of ``run`` on ``gpu``, with what is known about it. Raises Unread."""
    found = _recorded(_recipe(run, gpu))
    if isinstance(found, Unread):
        raise found.again()
    return found


def needs_no_reading(run: Run, gpu: Gpu | None = None) -> bool:
    """Whether the tape of ``run`` is kept, or follows from the reading of another micro-batch."""
    recipe = _recipe(run, gpu)
    name = recipe.name
    if name is not None and kept.has(name):
        return True
    with turn():
        kin = _kin(recipe)
        return kin is not None and kin[0].find(recipe.card, kin[1]) is not None


def kind(run: Run, gpu: Gpu | None = None) -> Hashable:
    """The same for runs that differ in the numbers alone that readings are shared for."""
    kin = _recipe(run, gpu).kin
    return without_numbers(run) if kin is None else kin[0]


def record(run: Run, gpu: Gpu | None = None) -> Tape:
    """The events of ``run`` on ``gpu``."""
    return recorded(run, gpu).tape


def located(run: Run, gpu: Gpu | None = None) -> TapeAnswers[Located]:
    """The tape of a run that is read, with the line of each allocation; not of nanoGPT's own, whose
    text nobody has at hand. Raises Unread."""
    known = recorded(run, gpu)
    assert isinstance(known.tape, Located)
    return cast("TapeAnswers[Located]", known)


def _recorded(recipe: _Recipe) -> TapeAnswers[Tape] | Unread:
    return shared(recipe.of_any_card, recipe.card, partial(_record, recipe))


def _record(recipe: _Recipe, asked: Asked) -> TapeAnswers[Tape] | Unread:
    again, name = partial(_again, recipe), recipe.name
    answers = _answers(name)
    if answers is not None and answers.knows(facts_of, ()):
        asked.is_kept = True
        return TapeAnswers(None, again, answers)
    found = _found(recipe, name, asked)
    if isinstance(found, Unread):
        return found
    made = partial(TapeAnswers[Tape], found, again, answers)
    followed = asked.followed
    reading = followed and followed.reading()
    return worked_out(reading, followed.content, made) if followed and reading else made()


def answers_about(runs: Iterable[tuple[Run, Gpu | None]]) -> Answers | None:
    """Where answers are kept that follow from these runs, and from others that differ from them in
    what is asked; None where they are not."""
    return _answers(*(_recipe(run, gpu).name for run, gpu in runs))


def _answers(*names: str | None) -> Answers | None:
    told = [each for each in names if each is not None]
    whole = "\n".join(told)
    return Answers(whole) if len(told) == len(names) and kept.can_keep(whole) else None


def _again(recipe: _Recipe) -> Tape:
    found = _found(recipe, recipe.name, Asked(recipe.card))
    assert isinstance(found, Tape)
    return found


def _found(recipe: _Recipe, name: str | None, asked: Asked) -> Tape | Unread:
    """``name`` is the recipe's, which has all texts in it and is made once for each reading."""
    if name is None:
        return recipe.record(asked)
    found = kept.find(name)
    if found is not None:
        asked.is_kept = True
        return found
    with turn():
        found = _read(recipe, asked)
    kept.keep(name, found)
    return found


def _read(recipe: _Recipe, asked: Asked) -> Tape | Unread:
    """The tape as the reading of another micro-batch has it, or read where none does."""
    if not _unfiled and not are_known():
        asked.is_first = True
        found = _read_now(recipe, asked)
        if isinstance(found, Tape):
            _unfiled.append((recipe, found))
        return found
    kin, card = _kin(recipe), recipe.card
    if kin is None:
        return _read_now(recipe, asked)
    family, numbers = kin
    other = family.find(card, numbers) or family.read(card, numbers, recipe.write)
    if other is not None:
        asked.followed = Followed(ref(other.reading), numbers, other.content)
        return other.tape
    found = _read_now(recipe, asked)
    if isinstance(found, Tape):
        family.add(card, numbers, found)
    return found


# The first reading, whose kin nobody has asked for yet: telling who they are takes 3 of the 400 ms
# of a cold check, and most commands read once.
_unfiled: list[tuple[_Recipe, Tape]] = []


def _kin(recipe: _Recipe) -> tuple[SymbolicCache, Numbers] | None:
    """The runs that may share its reading, with whatever was read before among its own."""
    while _unfiled:
        earlier, tape = _unfiled.pop()
        kin = earlier.kin
        if kin is not None:
            kin[0].add(earlier.card, kin[1], tape)
    return recipe.kin


@in_one_piece
def _read_now(recipe: _Recipe, asked: Asked) -> Tape | Unread:
    try:
        return recipe.record(asked)
    except Unread as error:  # without the frames of what was read, which hold it
        return error.again()


def state_bytes(run: Run) -> int:
    """Parameters and, once it trains, gradients and Adam's moments, all float32.

    They are there together in the first optimizer step: no run allocates less. 0 for a program,
    whose parameters are its own matter.
    """
    if run.program is not None:
        return 0
    return (4 if run.eval_only else 16) * run.parameters


def allocated_bytes(run: Run, gpu: Gpu | None = None) -> int:
    """The most bytes that ``run`` allocates at once: no allocator can reserve less."""
    return recorded(run, gpu).answer(allocated_peak) if run.on_gpu else 0


def allocates(run: Run, nbytes: int) -> bool:
    """Whether ``run`` asks for so many bytes at once, in any phase. Raises Unread."""
    return run.on_gpu and recorded(run).answer(_asks_for, nbytes)


@lasting()
def _asks_for(tape: Tape, nbytes: int) -> bool:
    return nbytes in tape.sizes


def _recipe(run: Run, gpu: Gpu | None) -> _Recipe:
    if isinstance(run.program, ReadScript):
        # What only its reading tells does not decide it: a run that has it filled in is the same.
        untold: dict[str, Any] = dict.fromkeys(run.program.told, 0)
        unsettled = replace(run, **untold)
        program = settled(run.program, unsettled)
        run, card = replace(unsettled, program=program), card_of(gpu)
        card = card._replace(numbers=without(program.modules)[1])
        return _Recipe(run, Kernels.of(run, gpu), runs_compiled(run, gpu), card, gpu, unsettled)
    kernels, compiled = Kernels.of(run, gpu), runs_compiled(run, gpu)
    return _Recipe(representative(run), kernels, compiled, card_of(gpu))


def asks(run: Run, words: Iterable[str] = ASKS) -> bool:
    """Whether the program of a run may ask what its card is."""
    return isinstance(run.program, ReadScript) and any(
        word in source.text for source in run.program.modules for word in words
    )


def is_read_alike(run: Run, gpu: Gpu) -> bool:
    """Whether the tape on ``gpu`` is that on no known card, except how sums are split."""
    return capability_of(gpu)[0] == capability_of(None)[0] and not asks(run)


def card_of(gpu: Gpu | None = None) -> Card:
    """What a tape may follow from of a card, beside what it can do."""
    count = (gpu.sm_count if gpu else None) or DEFAULT_SM_COUNT
    total = gpu.total_bytes if gpu else USUAL_BYTES
    generation = (gpu.compute_capability or (0, 0))[0] if gpu else 0
    return Card(count, threads_per_multiprocessor(gpu), total, generation, model=model_of(gpu))


class _Recipe(NamedTuple):
    """All that a tape follows from; ``gpu`` only where it may be asked what it can do.

    ``unsettled`` is the run of a script with its values not yet in their places.
    """

    run: Run
    kernels: Kernels
    compiled: bool
    card: Card
    gpu: Gpu | None = None
    unsettled: Run | None = None

    @property
    def kin(self) -> tuple[SymbolicCache, Numbers] | None:
        """The runs that may share its reading, by what it has in common with them on whatever
        card, and what it differs in; None where none may."""
        if self.unsettled is None or not self.run.on_gpu:
            return None
        bare = _recipe(without_numbers(self.unsettled), self.gpu)
        program = bare.run.program
        assert isinstance(program, ReadScript)
        modules, named = without(program.modules, (int, float))
        common = bare._replace(run=replace(bare.run, program=replace(program, modules=modules)))
        own = numbers_of(self.run)
        whole = tuple(each for each in named if type(each) is int)  # fractions are the card's
        counts = {each: ~each for each in COUNTED}
        counts |= {len(own) + place: at for place, at in counting(program.modules).items()}
        numbered = frozenset(counts.items())
        family = family_of(common.of_any_card, numbered, modules, compiled=self.compiled)
        return family, own + whole

    @property
    def name(self) -> str | None:
        """What tells it from any other; ``kept.py`` says where it may not. None for a profile,
        which is worked out as quickly as it is found."""
        if isinstance(self.run.program, Profiled):
            return None
        return repr((self.of_any_card, self.card))

    @property
    def of_any_card(self) -> tuple[object, ...]:
        """The same but for what is asked of its card while it is recorded."""
        gpu, refusal = self.gpu, None
        can = capability_of(gpu) if self.unsettled else gpu and gpu.compute_capability
        if asks(self.run):
            refusal = refuses_float8(gpu)
        return self._without_numbers, self.kernels, self.compiled, can, refusal

    @property
    def _without_numbers(self) -> Run:
        """The run without the fractions that its script names, which its card has."""
        program = self.run.program
        if not isinstance(program, ReadScript):
            return self.run
        return replace(self.run, program=replace(program, modules=without(program.modules)[0]))

    def record(self, asked: Asked) -> Tape:
        if isinstance(self.run.program, Profiled):
            profile = self.run.program.profile
            return profiled(profile, self.run.batch_size, self.run.micro_steps)
        # To tell the lines costs a tenth of the reading; to read again for them, all of it.
        tape = Tape() if self.run.program is None else Located()
        self.write(tape, asked)
        return tape

    def write(self, tape: Tape, asked: Asked) -> None:
        """Write the events to ``tape``, which a profile has no use for."""
        from nanolint.recording import events

        run, kernels, compiled = self.unsettled or self.run, self.kernels, self.compiled
        if isinstance(run.program, ReadScript):
            events.write_script(
                run.program, run, kernels, asked, tape, compiled=compiled, gpu=self.gpu
            )
        else:
            events.write_own(run, kernels, asked, tape, compiled=compiled)


def runs_compiled(run: Run, gpu: Gpu | None) -> bool:
    """Whether torch.compile really compiles ``run`` on ``gpu``.

    Where it refuses the card, only the eager run can be meant. The slow attention path means torch
    before 2.0, which has no torch.compile.
    """
    return run.compile and compiles(gpu, run.dtype) and run.attention is not Attention.MATH


@lasting()
def allocated_peak(tape: Tape) -> int:
    """The most bytes that are allocated at once."""
    sizes = tape.sizes
    changes = [sizes[event] if event >= 0 else -sizes[~event] for event in tape.events]
    return max(accumulate(changes), default=0)
