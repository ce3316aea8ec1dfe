"""``nanolint trace --profile``: a run traced at a few micro-batches, for those without PyTorch."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nanolint.cached import cached_property
from nanolint.cli.parser import UsageError
from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.profile import MOST_STEPS, represented
from nanolint.run.terms import Given, Surface, leaves
from nanolint.source.bounds import Unevaluable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nanolint.cli.config_file import ConfigFile
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.run.equation import Equation
    from nanolint.run.profile import Profile
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.run.terms import Place, World
    from nanolint.trace.process import Asked, PretendedCard
    from nanolint.trace.survey import Point
    from nanolint.trace.traced import Traced

FLAGS = (Surface.FLAG, Surface.ARGUMENT)


class Step(NamedTuple):
    """What a run makes of a step: its micro-batch, and how many of them."""

    batch_size: int
    micro_steps: int


class Settable:
    """Looks for values; ``resolve`` reads the run with some, which takes seconds for large scripts.

    A script's equation says the same in no time, as long as the values do not send the script
    another way; where they do, it is read once, and that way has an equation, too.
    """

    def __init__(
        self,
        resolution: Resolution,
        run: Run,
        micro_batch: str,
        resolve: Callable[[Mapping[str, int]], Resolution],
    ) -> None:
        self._resolution, self._run, self._micro_batch = resolution, run, micro_batch
        self._resolve = resolve
        equation = _equation(resolution)
        self._ways = [_Way(equation)] if equation is not None else []

    @cached_property
    def accumulation(self) -> str | None:
        """The key that another number of micro-steps is had by; None where there is none.

        That of the accumulation, or of the total that a script works it out from.
        """
        own = "gradient_accumulation_steps"
        equation = _equation(self._resolution)
        if equation is None:
            return self._resolution.deciding.get(own, own)
        taken = {*_of_other_roles(self._resolution), *leaves(equation.context)}
        givens = [*_givens(equation), *_left_to_the_script(self._resolution)]
        free = (given for given in dict.fromkeys(givens) if given not in taken)
        # A flag before a constant: that is what people turn.
        ordered = sorted(free, key=lambda given: given.surface not in FLAGS)
        steps = represented(self._run.micro_steps) % MOST_STEPS + 1
        keys = (plain_name(given.key) for given in ordered)
        found = (key for key in keys if self._values(self._run.batch_size, steps, key) is not None)
        return next(found, None)

    def values(self, batch_size: int, micro_steps: int) -> dict[str, int] | None:
        """What to set, so that nanolint reads the run as one of this micro-batch and so many steps;
        None where nothing does that."""
        return self._values(batch_size, micro_steps, self.accumulation)

    def _values(
        self, batch_size: int, micro_steps: int, accumulation: str | None
    ) -> dict[str, int] | None:
        """The same by one key.

        Scripts count the accumulation in passes, in sequences or in tokens, of one process or all.
        The largest number that means so many steps is the one: a smaller one may be rounded to it,
        as 1 token to 1 pass, which the script then refuses.
        """
        run = self._run
        counts = {
            steps * unit * world
            for steps in (*range(1, MOST_STEPS + 1), micro_steps)
            for unit in (1, batch_size, batch_size * run.block_size)
            for world in (1, run.world_size)
        }
        similar = None  # more steps that are represented by so many
        for count in sorted(counts, reverse=True) if accumulation is not None else (None,):
            values = {self._micro_batch: batch_size}
            if accumulation is not None and count is not None:
                values[accumulation] = count
            found = self._read(values)
            if found is not None and found.batch_size == batch_size:
                if found.micro_steps == micro_steps:
                    return values
                if represented(found.micro_steps) == micro_steps:
                    similar = values
        return similar

    def _read(self, values: Mapping[str, int]) -> Step | None:
        """The step of the run with these values."""
        for way in self._ways:
            if values.keys() <= way.keys and way.is_taken(values):
                return way.step(values)
        found = self._resolve(values)
        equation = _equation(found)
        if equation is not None:
            self._ways.append(_Way(equation, values))
        run = found.outline
        return None if run is None else Step(run.batch_size, run.micro_steps)


class _Way:
    """A way through the script, as it is read with some values; ``keys`` are those that are known
    to send it another way or not, and to have an effect or none."""

    def __init__(self, equation: Equation, values: Mapping[str, int] = {}) -> None:
        self._equation = equation
        self.givens = tuple(_givens(equation))
        self.keys = {plain_name(given.key) for given in self.givens} | values.keys()
        self._turns = [(turn, frozenset(leaves(turn.condition))) for turn in equation.turns]
        self._checks = [(check, frozenset(leaves(check.condition))) for check in equation.checks]

    def is_taken(self, values: Mapping[str, int]) -> bool:
        changes = self._changes(values)
        turns = tuple(turn for turn, given in self._turns if given & changes.keys())
        return replace(self._equation, turns=turns).goes_the_same_way(changes)

    def step(self, values: Mapping[str, int]) -> Step | None:
        """What the script makes of the values; None where it would end."""
        changes = self._changes(values)
        checks = tuple(check for check, given in self._checks if given & changes.keys())
        equation = replace(self._equation, checks=checks)
        try:
            if any(True for _ in equation.broken(changes)):
                return None
            passes = equation.number(equation.passes, changes)
            return Step(equation.number(equation.micro_batch, changes), max(1, passes))
        except Unevaluable:
            return None

    def _changes(self, values: Mapping[str, int]) -> dict[Given, int]:
        named = ((given, plain_name(given.key)) for given in self.givens)
        return {given: values[key] for given, key in named if key in values}


def _equation(resolution: Resolution) -> Equation | None:
    return resolution.described.equation if resolution.described is not None else None


def _givens(equation: Equation) -> Iterator[Given]:
    """What the equation depends on, each once: what it is made of, then what decided its way."""
    terms = [
        *(equation.passes, equation.micro_batch, equation.context),
        *(turn.condition for turn in equation.turns),
    ]
    found = (given for term in terms for given in leaves(term) if isinstance(given, Given))
    yield from dict.fromkeys(found)


def _of_other_roles(resolution: Resolution) -> Iterator[Given | World]:
    """What more than the accumulation depends on: a depth is no way to another total."""
    described = resolution.described
    roles = described.roles.items() if described is not None else ()
    for role, term in roles:
        if role is not Role.ACCUMULATION and not isinstance(term, NotKnown):
            yield from leaves(term)


def _left_to_the_script(resolution: Resolution) -> Iterator[Given]:
    """The flags whose value says that the script is to choose, as -1: with another the script may
    have another equation."""
    described = resolution.described
    for given in described.given if described is not None else ():
        if given.surface in FLAGS and type(given.value) is int and given.value < 0:
            yield given


# Evaluations are many of the same: a few, early and late, are traced where the script lets one say.
FEWER = {"eval_iters": 2, "eval_interval": 2}


class Profiler:
    """Traces one run with other micro-batches and accumulations, each once."""

    def __init__(
        self,
        config: ConfigFile,
        machine: Machine | None,
        argv: Sequence[str],
        trace: Callable[[Asked], Traced],
    ) -> None:
        self.config, self._machine = config, machine
        self._argv, self._trace = argv, trace
        self._points: dict[tuple[int, int], Point | None] = {}
        self.resolution = config.config.resolved(machine)
        self.last: Traced | None = None
        self.refusal: Exception | None = None

    @property
    def run(self) -> Run:
        """The run as far as its batch and its loop are known; raises UsageError."""
        run = self.resolution.outline
        if run is None:
            raise UsageError(f"{self.config.name}: {self.resolution.why_unknown}")
        return run

    @property
    def micro_batch(self) -> str:
        """The key of the micro-batch; raises UsageError."""
        key = self.resolution.deciding.get("batch_size", "batch_size")
        if key is None:
            raise UsageError(
                f"{self.config.name}: its micro-batch is computed by the script, so it "
                f"cannot be set"
            )
        return key

    @property
    def accumulation(self) -> str | None:
        """The key that another number of micro-steps is had by; None where there is none."""
        return self._settable.accumulation

    @cached_property
    def _settable(self) -> Settable:
        return Settable(self.resolution, self.run, self.micro_batch, self._resolved)

    def __call__(self, batch_size: int, micro_steps: int) -> Point | None:
        """The trace with this micro-batch, and so many to a step; None where there is none."""
        key = batch_size, micro_steps
        if key not in self._points:
            self._points[key] = self._point(*key)
        return self._points[key]

    def _point(self, batch_size: int, micro_steps: int) -> Point | None:
        from nanolint.trace.guarded import CannotTrace
        from nanolint.trace.survey import Point

        values = self._settable.values(batch_size, micro_steps)
        if values is None:
            why = f"no value gives a micro-batch of {batch_size}, {micro_steps} to a step"
            self.refusal = UsageError(f"{self.config.name}: {why}")
            return None
        try:
            traced = self._trace(self._asked(values))
        except (UsageError, CannotTrace) as error:
            self.refusal = error
            return None
        self.last = traced
        return Point(batch_size, micro_steps, traced.tape, traced.requests)

    def _asked(self, values: dict[str, int]) -> Asked:
        """A run with these values, each set where the script takes it from."""
        from nanolint.trace.process import Asked

        argv, edits = self._argv, []
        described = self.resolution.described
        if described is None:
            settings = self.resolution.settings
            values |= {key: few for key, few in FEWER.items() if key in settings}
        givens = {plain_name(each.key): each for each in (described.given if described else ())}
        for key, value in values.items():
            given = givens.get(key)
            if given is None:
                argv = with_value(argv, key, str(value))
            elif given.surface in (Surface.FLAG, Surface.ARGUMENT):
                argv = with_value(argv, given.key.lstrip("-"), str(value))
            elif given.place.path is not None and given.place.span is not None:
                edits.append((given.place, value))
            else:
                raise UsageError(f"{self.config.name}: a trace cannot set {given.key}")
        return Asked(tuple(argv), _edited(edits))

    def _resolved(self, values: Mapping[str, int]) -> Resolution:
        from nanolint.source.values import Known

        changes = ((key, Known(value)) for key, value in values.items())
        return self.config.config.resolved(self._machine, *changes)


def _edited(edits: Sequence[tuple[Place, int]]) -> dict[str, str]:
    """The text of each file that ``edits`` are in, with their values."""
    from nanolint.files.door import read_bytes
    from nanolint.source.text import decode

    texts: dict[str, str] = {}
    for place, value in sorted(edits, key=lambda edit: -edit[0].span.start if edit[0].span else 0):
        assert place.path is not None and place.span is not None
        path = str(place.path)
        text = texts.get(path) or decode(read_bytes(path)).text
        texts[path] = f"{text[: place.span.start]}{value}{text[place.span.end :]}"
    return texts


def with_value(argv: Sequence[str], key: str, value: str) -> list[str]:
    """The arguments with an option set: in its place where it is there, else at the end."""
    option, changed, waiting, found = f"--{key}", list[str](), False, False
    for word in argv:
        if waiting:
            word, waiting = value, False
        elif word == option:
            waiting = found = True
        elif word.partition("=")[0] == option:
            word, found = f"{option}={value}", True
        changed.append(word)
    return changed if found else [*changed, f"{option}={value}"]


def profile(
    words: str, profiler: Profiler, card: PretendedCard, most: int
) -> tuple[Path, Profile, bool]:
    """Trace the run of a launch line at several micro-batches, and write its profile.

    Returns where it stands, the profile, and whether it knows all micro-batches between its lowest
    and its highest.
    """
    from nanolint.profiles.profiles import FOLDER, digest_of, free_keys, places_of, weights
    from nanolint.run.profile import Profile
    from nanolint.run.profile_file import write
    from nanolint.trace.fit import files_of, record
    from nanolint.trace.guarded import CannotTrace
    from nanolint.trainers.script.surroundings import told

    config, resolution = profiler.config, profiler.resolution
    root, script = config.config.project.root, config.config.project.train_script
    if root is None or script is None:
        raise UsageError(f"{config.name}: nanolint found no training script that runs it")
    micro_batch, accumulation, run = profiler.micro_batch, profiler.accumulation, profiler.run
    free = free_keys(micro_batch, accumulation)
    try:
        fitted = record(run, profiler, most)
    except CannotTrace as error:
        raise UsageError(str(profiler.refusal or error)) from error
    last = profiler.last
    if last is None:
        raise UsageError(str(profiler.refusal))
    options = config.config.options
    arguments = (each for each in options.arguments if isinstance(each, Path))
    configs = frozenset(each.resolve() for each in arguments)
    places = places_of(resolution.described)
    found = Profile(
        traced=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        command=words,
        torch=last.torch,
        capability=last.capability,
        sm_count=card.sm_count,
        world_size=run.world_size,
        ranked=run.world_size > 1 or config.config.options.ranked,
        script=script.relative_to(root).as_posix(),
        files={
            path.relative_to(root).as_posix(): digest_of(path, None, free, places)
            for path in files_of(last, root, script)
            if path.resolve() not in configs
        },
        settings=weights(resolution.settings, free, options, resolution.described, told(options)),
        micro_batch=micro_batch,
        accumulation=accumulation,
        error_per_mille=fitted.error_per_mille,
        held_out=fitted.held_out,
        kinds=fitted.kinds,
        regimes=fitted.regimes,
    )
    path = root / FOLDER / _name(config, found)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(write(found))
    return path, found, fitted.complete


def _name(config: ConfigFile, found: Profile) -> str:
    """``train_gpt2-sm89.json``, by torchrun ``train_gpt2-sm89-x8.json``."""
    major, minor = found.capability
    world = f"-x{found.world_size}" if found.ranked else ""
    return f"{Path(config.name).stem}-sm{major}{minor}{world}.json"


def config_of(words: str, options: Namespace, streams: Streams) -> ConfigFile:
    """The config that the launch line trains, read as ``nanolint launch`` reads it."""
    from nanolint.cli.config_file import Named, open_config
    from nanolint.cli.configuration import Configuration
    from nanolint.cli.launched import NotJudged, locate
    from nanolint.launches.script import find_launches

    found = [each.launch for each in find_launches(words, every=True) if each.launch is not None]
    if len(found) != 1:
        raise UsageError(f"{words}: nanolint cannot read it as one launch line")
    try:
        launched = locate(found[0])
    except NotJudged as error:
        raise UsageError(str(error)) from error
    path = launched.files[-1]
    plan = Configuration(options, (), launched).plan_of(path.parent)
    return open_config(Named(str(path), path), plan, streams)
