"""One config on one target: its resolved run, and the verdict on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.frozen import dataclass
from nanolint.recording.tape_answers import left_by, story_of
from nanolint.run.program import ReadScript
from nanolint.run.story import NO_STORY

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.recording.tape_answers import TapeAnswers
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.run.story import Story, Told
    from nanolint.source.values import Value
    from nanolint.tape.tape import Tape
    from nanolint.trainers.nanogpt.config import Config
    from nanolint.verdict.alternatives import Alternatives
    from nanolint.verdict.verdict import Verdict


@dataclass(frozen=True)
class Case:
    """One config on one target GPU; without a target, one case whose ``target`` is None.

    ``settled`` are its settings, and its run as far as it is known before a model of its own is
    read: what asks for no more has no model read.
    """

    settled: Resolution
    target: Machine | None

    @cached_property
    def resolution(self) -> Resolution:
        """What is known of the run, its model read where that is its own."""
        from nanolint.verdict.readable import if_readable, own

        read = own if self.settled.read is None else if_readable
        found, rivals = read(self.settled, self.target), self.settled.rivals
        if rivals is not None and found.doubts[:1] == (rivals.doubt,):
            from nanolint.verdict.readable import without_rivals

            found = without_rivals(found, rivals, self.target)
        if not found.doubts or self.target is None:
            return found
        from nanolint.verdict.timed import decided

        return decided(found, self.target)

    @property
    def run(self) -> Run | None:
        """The resolved run, None while a value that the replay needs is unknown."""
        return self.resolution.run

    @property
    def gpu_name(self) -> str:
        """The target's label; raises ValueError without a target."""
        return self.needed_target.label

    @property
    def needed_target(self) -> Machine:
        """The target, for rules that need one; raises ValueError without."""
        if self.target is None:
            raise ValueError("this case has no target GPU")
        return self.target

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether the run fits the target; None without a run, a target, or a CUDA device."""
        if self.run is None or self.target is None or not self.run.on_gpu:
            return None
        from nanolint.verdict.verdict import judge

        return judge(self.run, self.target)

    @cached_property
    def story(self) -> Story:
        """The loop of a script, as far as it is told; an empty one of any other run."""
        known = self._recorded
        return NO_STORY if known is None else known.answer(story_of)

    def left_by(self, told: Told) -> tuple[int, int]:
        """Returns the bytes that a forward pass leaves on the card, and those of the run's peak."""
        known = self._recorded
        return (0, 0) if known is None else known.answer(left_by, *told.numbers)

    @cached_property
    def _recorded(self) -> TapeAnswers[Tape] | None:
        run, target = self.run, self.target
        if run is None or not isinstance(run.program, ReadScript) or not run.on_gpu:
            return None
        from nanolint.recording.recording import recorded

        return recorded(run, target.gpu if target else None)

    @cached_property
    def ways_out(self) -> Alternatives | None:
        """What else could be run, each tried as it is asked for; None where there is no verdict."""
        if self.verdict is None or self.run is None:
            return None
        from nanolint.verdict.alternatives import Alternatives

        return Alternatives(self.run, self.verdict.target, self.resolution.equation)


def case_of(config: Config, target: Machine | None, *changes: tuple[str, Value]) -> Case:
    """The config on ``target``, with ``changes`` put on top."""
    return Case(config.resolved(target, *changes), target)
