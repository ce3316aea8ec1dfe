"""The run as it is resolved: each value that decides memory, and the place it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.report.explanation import attention_word
from nanolint.report.printer import printable
from nanolint.run.settled import Layer
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.keys import KEYS

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.run.run import Run
    from nanolint.run.settled import Origin, Resolution, Setting
    from nanolint.source.text import LineIndex

# What decides how much memory a run needs, in the order in which people think of it.
SHOWN = (
    *("batch_size", "gradient_accumulation_steps", "block_size"),
    *("n_layer", "n_head", "n_embd", "vocab_size", "dropout", "bias"),
    *("dtype", "compile", "init_from", "device"),
)
# Shown only where they are not nanoGPT's own: few people ever touch them.
SHOWN_IF_SET = ("eval_only", "eval_iters", "grad_clip")

LONGEST_VALUE = 24


@dataclass(frozen=True, slots=True)
class Row:
    """A key, its value as Python writes it, and where it came from."""

    key: str
    value: str
    origin: str


def rows(resolution: Resolution, lines: LineIndex, target: Machine | None) -> list[Row]:
    """The values of ``resolution`` on ``target``; ``lines`` are those of the file at hand."""
    settings = resolution.settings
    keys = [key for key in SHOWN if key in settings]
    keys += [key for key in SHOWN_IF_SET if key in settings and _is_changed(settings[key])]
    table = [_row(settings[key], lines) for key in keys]
    if resolution.run is not None:
        table += _derived(resolution.run, target)
    return table


def render(case: Case, lines: LineIndex, printer: Printer) -> None:
    """Write the table, and what is judged in the place of what it says."""
    resolution = case.resolution
    table = rows(resolution, lines, case.target)
    widest_key = max(len(row.key) for row in table)
    widest_value = max(len(row.value) for row in table)
    printer.line(("The run", "bold"))
    for row in table:
        printer.line(
            f"  {row.key:<{widest_key}}  {row.value:<{widest_value}}  ", (row.origin, "dim")
        )
    if resolution.in_float16:
        printer.line((f"counted in float16: {case.gpu_name} has no bfloat16 (NL203)", "yellow"))


def _row(setting: Setting, lines: LineIndex) -> Row:
    value = setting.value
    if isinstance(value, Known):
        return Row(setting.key, _shortened(repr(value.value)), place(setting.origin, lines))
    return Row(setting.key, "?", "not known before the run")


def _derived(run: Run, target: Machine | None) -> list[Row]:
    """What follows from several values at once."""
    known = run.block_size != 0  # else only a reading of the script tells it
    tokens = f"sequences a step{f', {run.tokens_per_iter:,} tokens' if known else ''}"
    simulated = Row(
        "simulated GPUs", str(run.sizes.simulated_gpus), "times the accumulation, by train.py"
    )
    return [
        Row("world size", str(run.world_size), "processes, one GPU each"),
        *([simulated] if run.sizes.simulated_gpus > 1 else []),
        Row("attention", attention_word(run, target), "the kernel that PyTorch picks"),
        Row("effective batch", f"{run.effective_batch_size:,}", tokens),
    ]


def place(origin: Origin, lines: LineIndex) -> str:
    """Where a value came from, in a few words; ``lines`` are those of the file at hand."""
    if origin.layer is Layer.FILE and origin.span is not None:
        return f"line {lines.position(origin.span.start)[0]}"
    if origin.layer is Layer.TRAIN_SCRIPT and origin.path is not None:
        return f"{printable(origin.path.name)}'s default"
    if origin.layer is Layer.GPU:
        return "chosen for this GPU"
    if origin.layer is Layer.LAUNCHED and origin.path is not None:
        return printable(origin.path.name)
    if origin.layer is Layer.DATASET:
        return "the dataset" + (f", {printable(origin.path.name)}" if origin.path else "")
    if origin.layer is Layer.CHECKPOINT:
        return "the checkpoint"
    if origin.layer in (Layer.IMPORT, Layer.OVERRIDE):
        return f"the {origin.layer.value}"
    return str(origin.layer.value)


def _is_changed(setting: Setting) -> bool:
    return setting.value != KEYS[setting.key].default


def _shortened(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."
