"""Where the memory of one run goes: the JSON that ``explain`` prints (a test pins its shape).

Which kernel attends, in a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.run.described import SHAPE, Role
from nanolint.run.program import ReadScript
from nanolint.run.run import Attention
from nanolint.source.text import LineIndex
from nanolint.source.values import Known
from nanolint.tape.torch import prefers_cudnn_attention
from nanolint.trainers.nanogpt.keys import ROLES
from nanolint.trainers.nanogpt.places import line_of

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.linting.texts import Name
    from nanolint.rule.case import Case
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.verdict.alternatives import Alternatives
    from nanolint.verdict.replay import OutOfMemory, Replay
    from nanolint.verdict.verdict import Verdict

CUDNN = "cudnn"


def attention_word(run: Run, target: Machine | None) -> str:
    """``flash``, ``efficient`` or ``math``, or ``cudnn`` where the card prefers that to flash."""
    capability = target.gpu.compute_capability if target else None
    prefers = capability is not None and prefers_cudnn_attention(run.torch, capability[0])
    size = run.sizes.head_size
    if not prefers or run.attention is not Attention.FLASH or size is None:
        return run.attention.value  # of a script that is read no head is known, and none is shown
    from nanolint.tensors.ops.attention_kernels import is_able

    takes = is_able(size, size, run.sizes.dropout or 0.0, run.torch, learns=True)
    return CUDNN if takes else run.attention.value


RUN_KEYS = (
    *("batch_size", "gradient_accumulation_steps", "world_size", "block_size"),
    *("n_layer", "n_head", "n_embd", "vocab_size", "dropout", "bias", "dtype", "compile"),
    *("init_from", "device", "attention", "effective_batch_size", "tokens_per_iter"),
)
PARAMETERS = ("parameters", "parameters_reported")
OF_READING = ("block_size", "tokens_per_iter", "vocab_size")  # 0 if only a reading tells them
TOLD = (Role.CONTEXT, *SHAPE)  # by what the script does with its values


@dataclass(frozen=True, slots=True)
class Explanation:
    """A config resolved for one target, or for none, and what the replay says of it.

    ``replay`` is that of an unlimited card, None while the run is not known; ``verdict`` is None
    without a target, or for a run that does not touch a GPU. ``usable_bytes`` is what PyTorch
    could reserve on the target, None without target or run. ``torch`` is the version that the run
    was judged for; ``lines`` are those of the file at hand; ``ways_out`` is what else could be run.
    """

    name: str
    target: Machine | None
    resolution: Resolution
    replay: Replay | None
    verdict: Verdict | None
    usable_bytes: int | None
    torch: tuple[int, int]
    lines: LineIndex
    ways_out: Alternatives | None = None

    def as_json(self) -> dict[str, Any]:
        """The object that ``--format json`` prints."""
        run, replay, verdict = self.resolution.run, self.replay, self.verdict
        largest = replay.largest if replay else None
        return {
            "file": self.name,
            "gpu": gpu_json(self.target, self.usable_bytes) if self.target else None,
            "run": self._run(run) if run else None,
            "peak": _peak(replay, verdict, run) if run and replay else None,
            "phases": [
                {
                    "name": phase.value,
                    "allocated_bytes": None if phase in replay.split else allocated,
                }
                for phase, allocated in replay.phases
            ]
            if replay
            else [],
            "components": (
                {component.value: size for component, size in replay.components} if replay else None
            ),
            "largest_allocation": (
                {"name": largest.name, "bytes": largest.nbytes} if largest else None
            ),
            "stop": self.resolution.stop.told if self.resolution.stop else None,
            "fits": verdict.fits if verdict else None,
            "oom": oom_json(verdict.oom) if verdict and verdict.oom else None,
            "ways_out": _ways_out(verdict, self.ways_out),
            "unresolved": [
                {"key": unresolved.key, "reason": unresolved.reason}
                for unresolved in self.resolution.unresolved
            ],
            "trust": self.resolution.trust,
            "doubts": [str(doubt) for doubt in self.resolution.doubts],
            "left_open": list(self.resolution.left_open),
            "in_float16": self.resolution.in_float16,
            "torch": ".".join(map(str, self.torch)),
            "roles": {
                role.value: self._role(role, key)
                for role, key in ROLES.items()
                if key in self.resolution.settings
            },
        }

    def _run(self, run: Run) -> dict[str, Any]:
        """The values of the run; null what nobody knows of a script of its own."""
        found = {key: run.value(key) for key in RUN_KEYS}
        found |= {key: getattr(run, key) if run.has_sizes else None for key in PARAMETERS}
        found["attention"] = attention_word(run, self.target)
        found |= {key: found[key] or None for key in OF_READING}
        described = self.resolution.described
        if described is None:
            return found
        shape = {ROLES[role]: described.value(role) for role in TOLD}
        if isinstance(run.program, ReadScript):
            shape |= {key: found[key] or None for key in run.program.told if key in shape}
        if shape[ROLES[Role.CONTEXT]] is None:
            shape["tokens_per_iter"] = None
        return found | shape

    def _role(self, role: Role, name: str) -> dict[str, Any]:
        """What plays the role of nanoGPT's key ``name``: a key, its value, the place that set it.

        The key is null where the script computes the value, the value where it is not known. It is
        what is written, which the run of another dtype may not have (``in_float16``).
        """
        key = self.resolution.deciding.get(name, name)
        setting = self.resolution.of_role(name) or self.resolution.settings[name]
        described = self.resolution.described
        if described is not None:
            value = described.value(role)  # the run has what a tape needs in its place
        elif key is not None and isinstance(setting.value, Known):
            value = setting.value.value
        else:
            run = self.resolution.run
            value = self._run(run)[name] if run else None
        return {
            "key": key,
            "value": value,
            "origin": setting.origin.layer.value,
            "file": str(setting.origin.path) if setting.origin.path else None,
            "line": line_of(setting, self.lines),
        }


def gpu_json(target: Machine, usable_bytes: int | None) -> dict[str, Any]:
    """The card, and what PyTorch may reserve of it."""
    gpu = target.gpu
    return {
        "name": gpu.name,
        "total_bytes": gpu.total_bytes,
        "usable_bytes": usable_bytes,
        "sm_count": gpu.sm_count,
        "compute_capability": gpu.compute_capability,
    }


def _peak(replay: Replay, verdict: Verdict | None, run: Run) -> dict[str, Any]:
    outside = None if run.on_gpu else 0  # without a card nobody knows the context; without CUDA, 0
    return {
        "allocated_bytes": replay.peak.allocated_bytes,
        "reserved_bytes": verdict.reserved_bytes if verdict else replay.peak.reserved_bytes,
        "context_bytes": verdict.overhead_bytes if verdict else outside,
        "process_bytes": verdict.process_bytes if verdict else outside,
        "phase": replay.peak.phase.value,
        "at": replay.peak.at,
    }


def _ways_out(verdict: Verdict | None, ways: Alternatives | None) -> list[dict[str, Any]]:
    """What would help a run that has no room to spare, by what it costs; so far it was tried."""
    from nanolint.verdict.verdict import Outcome

    if verdict is None or verdict.outcome is Outcome.COMFORTABLE:
        return []
    return [
        {
            "change": way.whole,
            "cost": way.cost.value,
            "process_bytes": way.verdict.process_bytes,
            "fits": way.verdict.fits,
        }
        for way in ways or ()
    ]


def oom_json(oom: OutOfMemory) -> dict[str, Any]:
    """The allocation that fails."""
    return {
        "phase": oom.phase.value,
        "at": oom.at,
        "requested_bytes": oom.requested_bytes,
        "allocated_bytes": oom.allocated_bytes,
        "free_bytes": oom.free_bytes,
        "message": oom.message,
    }


def explained(
    name: str, case: Case, lines: LineIndex, torch: tuple[int, int] | None
) -> Explanation:
    """Replay the run of ``case``, a file called ``name``, and judge it on the target if any."""
    from nanolint.settings.torch_version import NEWEST
    from nanolint.verdict.replay import overhead, replay
    from nanolint.verdict.verdict import usable_bytes

    run, target, verdict = case.run, case.target, case.verdict
    unlimited = None
    if run:
        unlimited = verdict.replay if verdict else replay(run, target.gpu if target else None)
    usable = None
    if run and target:
        usable = usable_bytes(target, overhead(target.gpu, run.world_size))
    resolution, release = case.resolution, run.torch if run else torch or NEWEST
    return Explanation(
        name, target, resolution, unlimited, verdict, usable, release, lines, case.ways_out
    )


def explain_text(text: str, name: Name, gpu: str | None) -> dict[str, Any]:
    """See ``nanolint.explain``."""
    case, torch = case_of(text, name, gpu)
    called = str(name) if name is not None else "<text>"
    return explained(called, case, LineIndex(text), torch).as_json()


def case_of(text: str, name: Name, gpu: str | None) -> tuple[Case, tuple[int, int] | None]:
    """The run of ``text`` on one card or none, and the torch that was asked for.

    Raises UserError where it holds no run.
    """
    from nanolint.linting.engine import Report, read
    from nanolint.linting.texts import plan_for
    from nanolint.trainers.nanogpt.kind import FileKind
    from nanolint.trainers.no_run import why_no_run

    path, plan = plan_for(name, gpu)
    setup = plan.setup(path)
    if len(setup.targets) > 1:
        raise UserError("explain takes one GPU, found " + ", ".join(t.label for t in setup.targets))
    context = read(text, path, setup)
    if isinstance(context, Report):
        raise UserError(context.unjudged or "holds no run")
    if context.fault is not None:
        raise UserError(f"not valid Python: {context.fault.message}")
    if context.kind is FileKind.SCRIPT:
        raise UserError(f"holds no run: {why_no_run(text, path)}")
    return context.cases[0], setup.options.torch_version
