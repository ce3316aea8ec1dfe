"""``nanolint trace --profile``: a run traced at a few micro-batches, for those without PyTorch."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.run.profile import MOST_STEPS, represented

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from nanolint.cli.config_file import ConfigFile
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.run.profile import Profile
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.trace.fit import Point
    from nanolint.trace.process import PretendedCard
    from nanolint.trace.traced import Traced

# Evaluations are many of the same: a few, early and late, are traced where the script lets one say.
FEWER = {"eval_iters": 2, "eval_interval": 2}


class Profiler:
    """Traces one run with other micro-batches and accumulations, each once."""

    def __init__(
        self,
        config: ConfigFile,
        machine: Machine | None,
        argv: Sequence[str],
        trace: Callable[[Sequence[str]], Traced],
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
    def keys(self) -> tuple[str, str | None]:
        """Those of micro-batch and accumulation, None where the script computes that."""
        deciding = self.resolution.deciding
        micro = deciding.get("batch_size", "batch_size")
        if micro is None:
            raise UsageError(
                f"{self.config.name}: its micro-batch is computed by the script, and cannot be set"
            )
        return micro, deciding.get("gradient_accumulation_steps", "gradient_accumulation_steps")

    def __call__(self, batch_size: int, micro_steps: int) -> Point | None:
        """The trace with this micro-batch, and so many to a step; None where there is none."""
        key = batch_size, micro_steps
        if key not in self._points:
            self._points[key] = self._point(*key)
        return self._points[key]

    def _point(self, batch_size: int, micro_steps: int) -> Point | None:
        from nanolint.trace.fit import Point
        from nanolint.trace.process import CannotTrace

        values = self._values(batch_size, micro_steps)
        if values is None:
            told = f"no value gives a micro-batch of {batch_size}, {micro_steps} to a step"
            self.refusal = UsageError(f"{self.config.name}: {told}")
            return None
        argv = self._argv
        for name, value in values.items():
            argv = with_value(argv, name, str(value))
        try:
            traced = self._trace(argv)
        except (UsageError, CannotTrace) as error:
            self.refusal = error
            return None
        self.last = traced
        return Point(batch_size, micro_steps, traced.tape, traced.requests)

    def _values(self, batch_size: int, micro_steps: int) -> dict[str, int] | None:
        """What to set, so that nanolint reads the run as one of this micro-batch and so many steps.

        Scripts count the accumulation in passes, in sequences or in tokens, of one process or all.
        """
        run, (micro, accumulation) = self.run, self.keys
        settings = self.resolution.settings
        fewer = {key: value for key, value in FEWER.items() if key in settings}
        counts = sorted(
            {
                steps * unit * world
                for steps in range(1, MOST_STEPS + 1)
                for unit in (1, batch_size, batch_size * run.block_size)
                for world in (1, run.world_size)
            }
        )
        for count in counts if accumulation is not None else (None,):
            values = {micro: batch_size}
            if accumulation is not None and count is not None:
                values[accumulation] = count
            if _stands_for(self._resolved(values).outline, batch_size, micro_steps):
                return values | fewer
        return None

    def _resolved(self, values: dict[str, int]) -> Resolution:
        from nanolint.source.values import Known

        changes = ((key, Known(value)) for key, value in values.items())
        return self.config.config.resolved(self._machine, *changes)


def _stands_for(run: Run | None, batch_size: int, micro_steps: int) -> bool:
    if run is None or run.batch_size != batch_size:
        return False
    return represented(run.micro_steps) == micro_steps


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
    from nanolint.run.profile import Profile, write
    from nanolint.trace.process import CannotTrace
    from nanolint.trace.profiling import files_of, record
    from nanolint.trainers.nanogpt.traced import free_keys
    from nanolint.trainers.profiles import FOLDER, weights

    config, resolution = profiler.config, profiler.resolution
    root, script = config.config.project.root, config.config.project.train_script
    if root is None or script is None:
        raise UsageError(f"{config.name}: no training script is known that runs it")
    (micro_batch, accumulation), run = profiler.keys, profiler.run
    try:
        fitted = record(run, profiler, most)
    except CannotTrace as error:
        raise UsageError(str(profiler.refusal or error)) from error
    last = profiler.last
    if last is None:
        raise UsageError(str(profiler.refusal))
    arguments = (each for each in config.config.options.arguments if isinstance(each, Path))
    configs = frozenset(each.resolve() for each in arguments)
    found = Profile(
        traced=datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        command=words,
        torch=last.torch,
        capability=last.capability,
        sm_count=card.sm_count,
        world_size=run.world_size,
        script=script.relative_to(root).as_posix(),
        files=files_of(last, root.resolve(), script.resolve(), configs),
        settings=weights(resolution.settings, free_keys(resolution.deciding)),
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
    """``train_gpt2-sm89.json``, of several processes ``train_gpt2-sm89-x8.json``."""
    major, minor = found.capability
    world = f"-x{found.world_size}" if found.world_size > 1 else ""
    return f"{Path(config.name).stem}-sm{major}{minor}{world}.json"


def config_of(words: str, options: Namespace, streams: Streams) -> ConfigFile:
    """The config that the launch line trains, read as ``nanolint launch`` reads it."""
    from nanolint.cli.config_file import Named, open_config
    from nanolint.cli.configuration import Configuration
    from nanolint.cli.launched import NotJudged, locate
    from nanolint.launches.script import find_launches

    found = [each.launch for each in find_launches(words, every=True) if each.launch is not None]
    if len(found) != 1:
        raise UsageError(f"{words}: not one launch line that nanolint reads")
    try:
        launched = locate(found[0])
    except NotJudged as error:
        raise UsageError(str(error)) from error
    path = launched.files[-1]
    plan = Configuration(options, (), launched).plan_of(path.parent)
    return open_config(Named(str(path), path), plan, streams)
