"""Writes docs/advice.md: what the advice that circulates is worth, by the replay.

    python scripts/build_advice.py            # writes the file
    python scripts/build_advice.py --check    # exits with 1 if the file is not what it would write

The prose is in scripts/advice.toml; every figure comes from replaying the examples.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]


from nanolint.linting.engine import read  # noqa: E402
from nanolint.linting.plan import make_plan  # noqa: E402
from nanolint.recording.events import BATCH  # noqa: E402
from nanolint.recording.recording import allocated_peak, record  # noqa: E402
from nanolint.rule.context import Context  # noqa: E402
from nanolint.run.run import Attention  # noqa: E402
from nanolint.settings.schema import discover  # noqa: E402
from nanolint.tape.allocator.play import play  # noqa: E402
from nanolint.tape.tape import Component, Phase  # noqa: E402
from nanolint.trainers.nanogpt.own import own_script  # noqa: E402
from nanolint.units import MIB, format_bytes  # noqa: E402
from nanolint.verdict.replay import replay  # noqa: E402
from nanolint.verdict.ways.blocks import blocks_checkpointed  # noqa: E402
from nanolint.verdict.ways.logits import logits_deleted  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs" / "advice.md"
RECORDED = ROOT / "validation" / "recorded"
PROSE = Path(__file__).with_name("advice.toml")
EXAMPLES = ("backward_pass", "fits")
EVALUATIONS = (Phase.EVAL, Phase.EVAL_LATE)
NOTHING = "nothing"


@dataclass(frozen=True)
class Example:
    """A bundled example, on the card that its nanolint.toml names."""

    name: str
    run: Run
    target: Machine

    @property
    def gpu(self) -> Gpu:
        return self.target.gpu

    def peak(self, **changes: object) -> int:
        """The allocated peak in bytes, with some values of the run changed."""
        return replay(self.run.having(**changes), self.gpu).peak.allocated_bytes

    def live(self, *components: Component) -> int:
        """Bytes of these components at the peak."""
        at_peak = dict(replay(self.run, self.gpu).components)
        return sum(at_peak[component] for component in components)


def load(name: str) -> Example:
    """The example in the folder of that name."""
    folder = ROOT / "examples" / name
    (path,) = folder.glob("*.py")
    plan = make_plan(discover(folder), {})
    (target,) = plan.chosen.targets
    context = read(path.read_text(encoding="utf-8"), path, plan.setup(path))
    assert isinstance(context, Context)
    run = context.run
    assert run is not None, f"{path} does not resolve"
    return Example(name, run, target)


def change(before: int, after: int) -> str:
    """``saves 4.92 GiB``, ``costs 7.39 GiB`` or ``nothing``."""
    if before == after:
        return NOTHING
    return f"{'saves' if after < before else 'costs'} {format_bytes(abs(before - after))}"


def changed(**changes: object) -> Callable[[Example], str]:
    """What it is worth to set these keys."""
    return lambda example: change(example.peak(), example.peak(**changes))


def half_batch(example: Example) -> str:
    return change(example.peak(), example.peak(batch_size=example.run.batch_size // 2))


def micro_batch(example: Example) -> str:
    batch, steps = example.run.batch_size // 2, example.run.gradient_accumulation_steps * 2
    after = example.peak(batch_size=batch, gradient_accumulation_steps=steps)
    return change(example.peak(), after)


def accumulation(example: Example) -> str:
    before = example.peak(gradient_accumulation_steps=1)
    return change(before, example.peak(gradient_accumulation_steps=2))


def shorter_block(example: Example) -> str:
    return change(example.peak(), example.peak(block_size=example.run.block_size // 2))


def fewer_layers(example: Example) -> str:
    layers = example.run.sizes.n_layer
    assert layers is not None
    return change(example.peak(), example.peak(n_layer=layers * 3 // 4))


def narrower(example: Example) -> str:
    """Two thirds of the width, with heads of the same size."""
    heads, size = example.run.sizes.n_head, example.run.sizes.head_size
    assert heads is not None and size is not None
    fewer = heads * 2 // 3
    return change(example.peak(), example.peak(n_embd=size * fewer, n_head=fewer))


def deleted_logits(example: Example) -> str:
    def peak(*, compiled: bool, deletes: bool) -> int:
        run = replace(example.run, compile=compiled)
        if deletes and (found := logits_deleted(own_script())) is not None:
            run = replace(run, program=found.program)
        return allocated_peak(record(run, example.gpu))

    compiled, eager = (
        change(*(peak(compiled=each, deletes=deletes) for deletes in (False, True)))
        for each in (True, False)
    )
    return f"{compiled}; eager: {eager}"


def loss_without_logits(example: Example) -> str:
    """Against the traced peak of the same run with such a loss."""
    rows = json.loads((RECORDED / "linear_cross_entropy.json").read_text(encoding="utf-8"))
    (after,) = (row["overall"] for row in rows if row["name"] == example.name)
    return change(example.peak(), after)


def expandable_segments(example: Example) -> str:
    """By the smallest card that survives: what is allocated stays the same."""
    tape = record(example.run, example.gpu)
    default, expandable = (smallest_limit(tape, expandable=each) for each in (False, True))
    return change(default, expandable)


def smallest_limit(tape: Tape, *, expandable: bool) -> int:
    """The least bytes that the allocator gets through with, to 2 MiB."""
    low, high = allocated_peak(tape) - 1, 2 * allocated_peak(tape)
    while high - low > 2 * MIB:
        middle = (low + high) // 2
        fits = play(tape, limit_bytes=middle, expandable=expandable).refusal is None
        low, high = (low, middle) if fits else (middle, high)
    return high


def empty_cache(example: Example) -> str:
    """What the allocator only caches when the model has just been made."""
    moments = replay(example.run, example.gpu, trace=True).events
    batch = next(number for number, moment in enumerate(moments) if moment.name == BATCH)
    loaded = moments[batch - 1]
    idle = format_bytes(loaded.reserved_bytes - loaded.allocated_bytes)
    return f"at most {idle}, long before the peak"


def half_parameters(example: Example) -> str:
    held = example.live(Component.PARAMETERS)
    claimed = 2 * example.run.parameters
    return f"{format_bytes(claimed)} claimed, {format_bytes(held)} held"


def quadratic_scores(example: Example) -> str:
    """Eager mode on both sides: the slow path is not compiled."""
    flash = example.peak(compile=False)
    manual = example.peak(compile=False, attention=Attention.MATH)
    return f"{change(flash, manual)} on the slow path only"


def offloaded_evaluation(example: Example) -> str:
    phases = dict(replay(example.run, example.gpu).phases)
    training = max(nbytes for phase, nbytes in phases.items() if phase not in EVALUATIONS)
    return change(max(phases.values()), training)


def checkpointing(example: Example) -> str:
    found = blocks_checkpointed(own_script())
    assert found is not None
    before, after = (example.peak(compile=False, program=each) for each in (None, found.program))
    return f"{change(before, after)} of an eager run's {format_bytes(before)}"


def other_programs(example: Example) -> str:
    held = example.target.in_use_bytes
    return f"frees {format_bytes(held)}" if held else "nothing is held by others here"


def not_judged(example: Example) -> str:
    del example
    return "not modelled"


WORTH: dict[str, Callable[[Example], str]] = {
    "micro-batch": micro_batch,
    "accumulation": accumulation,
    "half-batch": half_batch,
    "block-size": shorter_block,
    "layers": fewer_layers,
    "width": narrower,
    "compile": changed(compile=False),
    "reduce-overhead": not_judged,
    "eval-iters": changed(eval_iters=50),
    "cpu-evaluation": offloaded_evaluation,
    "del-logits": deleted_logits,
    "linear-cross-entropy": loss_without_logits,
    "empty-cache": empty_cache,
    "expandable-segments": expandable_segments,
    "matmul-precision": not_judged,
    "half-parameters": half_parameters,
    "quadratic-scores": quadratic_scores,
    "checkpointing": checkpointing,
    "other-programs": other_programs,
}


def page() -> str:
    """The whole text of docs/advice.md."""
    prose = tomllib.loads(PROSE.read_text(encoding="utf-8"))
    examples = [load(name) for name in EXAMPLES]
    rows, sections = [], []
    for name, worth in WORTH.items():
        advice = prose["advice"][name]
        told = [worth(example) for example in examples]
        rows.append(f"| [{advice['title']}](#{name}) | {advice['verdict']} | {' | '.join(told)} |")
        figures = "; ".join(
            f"`{example.name}`: {text}" for example, text in zip(examples, told, strict=True)
        )
        sections.append(
            f'<a id="{name}"></a>\n\n## {advice["title"]}\n\n'
            f"> {advice['says']}\n\n**{advice['verdict'].capitalize()}.** "
            f"{advice['text'].strip()}\n\n{figures}.\n"
        )
    head = "| advice | verdict | " + " | ".join(f"`{name}`" for name in EXAMPLES) + " |"
    table = "\n".join((head, "|---|---|" + "---|" * len(EXAMPLES), *rows))
    return f"{prose['head'].strip()}\n\n{table}\n\n" + "\n".join(sections)


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` compare it; returns the exit status."""
    text = page()
    if "--check" in arguments:
        return 0 if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
