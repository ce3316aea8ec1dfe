"""How far the memory model is from what is known: tables of docs/memory-model.md and README.md.

    python validation/accuracy.py            # print the tables
    python validation/accuracy.py --write    # and put them into the pages

Needs nothing but nanolint: the oracles' results and people's reports are recorded beside this file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.gpu import Gpu, Machine
from nanolint.gpus.lookup import find
from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of
from nanolint.run.run import Attention, Run
from nanolint.script.played import representative
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Tape, summits
from nanolint.tape.torch import takes_oldest_block
from nanolint.tensors.device import Asked
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.verdict import judge
from validation.record_derived import figures
from validation.record_derived import release_of as derived_with
from validation.record_read import CARD, case_of

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "memory-model.md"
README = HERE.parent / "README.md"
GIB, MIB = 1 << 30, 1 << 20

DEFAULT = default_run()
ORACLE_KEYS = (
    "batch_size", "block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dropout", "bias",
    "dtype",
)  # fmt: skip
ORACLES = {
    "eager": "eager oracle",
    "compiled": "compiled oracle",
    "derived": "models of other kinds, read and compiled",
}
RECORDED_RELEASE = "2.13"
COMPILED_CARD = "rtx-4070"  # that the compiled oracle pretends

FINETUNE = {"vocab_size": 50257, "bias": True, "max_iters": 20, "eval_interval": 5}
PRESETS: dict[str, dict[str, Any]] = {
    "xl": {"n_layer": 48, "n_head": 25, "n_embd": 1600, "init_from": "gpt2-xl", **FINETUNE},
    "large": {"n_layer": 36, "n_head": 20, "n_embd": 1280, "init_from": "gpt2-large", **FINETUNE},
    "char": {
        "batch_size": 64, "gradient_accumulation_steps": 1, "block_size": 256, "n_layer": 6,
        "n_head": 6, "n_embd": 384, "vocab_size": 65, "dropout": 0.2,
    },
    "30m": {
        "batch_size": 16, "gradient_accumulation_steps": 4, "block_size": 512, "n_layer": 6,
        "n_head": 6, "n_embd": 384, "dtype": "float16",
    },
}  # fmt: skip


def reported() -> list[dict[str, Any]]:
    """Runs that people have reported, each with its verdict and some with figures."""
    rows: list[dict[str, Any]] = json.loads((HERE / "recorded" / "reported.json").read_text())
    return rows


def run_of(row: dict[str, Any]) -> Run:
    """The run of a reported row."""
    values = dict(row["run"])
    values = {**PRESETS.get(values.pop("preset", ""), {}), **values}
    if "attention" in values:
        values["attention"] = Attention(values["attention"])
    return DEFAULT.having(torch=release_of(row), **values)


def target_of(row: dict[str, Any]) -> Machine:
    """The card of a reported row."""
    card = row["card"]
    total = int(card["total_gib"] * GIB)
    gpu = Gpu(
        name=row["id"],
        vendor="nvidia",
        total_bytes=total,
        nominal_bytes=total,
        sm_count=card["sm_count"],
        compute_capability=tuple(card["compute_capability"]),
        estimated=False,
        source=row["source"],
    )
    return Machine(gpu, in_use_bytes=int(card.get("in_use_gib", 0) * GIB))


def table() -> str:
    """All of it, as Markdown."""
    return "\n\n".join([_oracles(), _releases(), _verdicts(), _figures()])


def _oracles() -> str:
    lines = [
        "| against | configs | what | median error | 95th percentile | worst error |",
        "|---|---|---|---|---|---|",
    ]
    for name, against in ORACLES.items():
        allocated, reserved = errors(name)
        lines += [
            _row(against, "allocated peak", allocated),
            _row(against, "reserved peak", reserved),
        ]
    return "\n".join(lines)


def _releases() -> str:
    """How far the rows of each release of PyTorch are off, at worst."""
    lines = ["| PyTorch | rows | allocated peak | reserved peak |", "|---|---|---|---|"]
    found: dict[tuple[tuple[int, int], str], list[tuple[float, float]]] = {}
    for row in recorded("releases"):
        how = "compiled" if row["compile"] else "eager"
        found.setdefault((release_of(row), how), []).append(_errors(row, "releases"))
    for (release, how), errors in found.items():
        allocated, reserved = (max(each, key=abs) for each in zip(*errors, strict=True))
        version = ".".join(map(str, release))
        lines.append(f"| {version}, {how} | {len(errors)} | {allocated:+.4%} | {reserved:+.4%} |")
    return "\n".join(lines)


def _row(against: str, what: str, errors: list[float]) -> str:
    median, worst = statistics.median(map(abs, errors)), max(errors, key=abs)
    most = statistics.quantiles(map(abs, errors), n=20, method="inclusive")[-1]
    return f"| {against} | {len(errors)} | {what} | {median:.4%} | {most:.4%} | {worst:+.4%} |"


@cache
def errors(name: str) -> tuple[list[float], list[float]]:
    """Relative errors of the allocated and of the reserved peaks against the oracle ``name``."""
    found = [_errors(row, name) for row in recorded(name)]
    return [allocated for allocated, _ in found], [reserved for _, reserved in found]


def _errors(row: dict[str, Any], name: str) -> tuple[float, float]:
    """The relative errors of the allocated and of the reserved peak of one row."""
    if name == "derived":
        found = figures(case_of(row, compile=True).read(find(CARD).gpu, derived_with(row)))
        return found["overall"] / row["overall"] - 1, found["reserved"] / row["reserved"] - 1
    tape = tape_of(row, name)
    peak = max(summit[0] for summit in summits(tape, len(tape.events)).values())
    return peak / row["overall"] - 1, reserved_by(row, tape) / row["reserved"] - 1


def reserved_by(row: dict[str, Any], tape: Tape) -> int:
    """What the allocator of the row's release reserves at the peak of ``tape``."""
    oldest_first = takes_oldest_block(release_of(row))
    return play(tape, oldest_first=oldest_first).peak_reserved_bytes


def recorded(name: str) -> list[dict[str, Any]]:
    """The rows of the oracle ``name``."""
    rows: list[dict[str, Any]] = json.loads((HERE / "recorded" / f"{name}.json").read_text())
    return rows


def run_of_row(row: dict[str, Any], name: str) -> tuple[Run, Gpu | None]:
    """A recorded row's run, and its card."""
    run, gpu, _ = _recorded_with(row, name, {})
    return run, gpu


def tape_of(row: dict[str, Any], name: str, *, whole: bool = False, **changes: Any) -> Tape:
    """A recorded row's run, as it is read from nanoGPT's texts, with ``changes`` to the run.

    ``whole`` reads each turn of its loops, also those that repeat the one before.
    """
    run, gpu, kernels = _recorded_with(row, name, changes)
    run, tape = run if whole else representative(run), Tape()
    write_own(run, kernels, Asked(card_of(gpu)), tape, compiled=run.compile, whole=whole)
    return tape


def phase_peaks(tape: Tape) -> dict[str, int]:
    """The most bytes that are allocated in each phase."""
    return {phase.value: peak for phase, (peak, _) in summits(tape, len(tape.events)).items()}


def _recorded_with(
    row: dict[str, Any], name: str, changes: dict[str, Any]
) -> tuple[Run, Gpu | None, Kernels]:
    """A row's run, its card, and its sizes.

    The eager rows stop after two steps, before a later evaluation. Rows with ``workspace`` false
    are older: they have no workspace of cuBLAS's, and not what the optimizer's step allocates.
    Rows that name no release of PyTorch are of RECORDED_RELEASE.
    """
    run = DEFAULT.having(
        **{key: row[key] for key in ORACLE_KEYS},
        gradient_accumulation_steps=row["grad_accum"],
        attention=Attention(row["attention"]),
        compile=row.get("compile", name == "compiled"),
        max_iters=1 if name == "eager" else DEFAULT.max_iters,
        torch=release_of(row),
    )
    run = run.having(**changes)
    card = row.get("card", COMPILED_CARD if name == "compiled" else None)
    gpu = find(card).gpu if card else None
    kernels = Kernels.of(run, gpu)
    if not row.get("workspace", True):
        kernels = kernels._replace(workspace_bytes=0)
    return run, gpu, kernels


def release_of(row: dict[str, Any]) -> tuple[int, int]:
    """The release of PyTorch that a row was recorded with."""
    major, minor, *_ = row.get("torch", RECORDED_RELEASE).split(".")
    return int(major), int(minor)


def short() -> str:
    """Four rows, as Markdown: nanoGPT eager and compiled, other scripts, and a real card."""
    from validation import measured

    traced = json.loads((HERE / "derivatives_traced.json").read_text(encoding="utf-8"))
    held = [row for row in traced if row.get("traced")]
    noted = [row for row in held if row["traced_reserved"]]
    repositories = len({row["repository"] for row in held})
    card = [row for each in measured.RECORDINGS for row in measured.errors(each)]
    compiled = sum(row.compiled for row in card)
    rows = [
        ("nanoGPT, eager, by PyTorch on a simulated card", *errors("eager")),
        ("nanoGPT, compiled, by the same", *errors("compiled")),
        (
            f"other scripts of {repositories} public repositories, not doubted, by the same",
            [row["read"] / row["traced"] - 1 for row in held],
            [row["read_reserved"] / row["traced_reserved"] - 1 for row in noted],
        ),
        (
            f"a real GPU: nanoGPT on an H200, {len(card) - compiled} eager, {compiled} compiled",
            [row.allocated for row in card],
            [row.reserved for row in card],
        ),
    ]
    lines = [
        "| compared with | runs | allocated at the peak | reserved |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {what} | {len(allocated)} | {_agreement(allocated)} | {_agreement(reserved)} |"
        for what, allocated, reserved in rows
    ]
    return "\n".join(lines)


def _agreement(errors: Sequence[float]) -> str:
    """How many errors are zero, and how far the others are off."""
    equal, worst = sum(not each for each in errors), 100 * max(errors, key=abs)
    if equal == len(errors):
        return f"all {equal} equal to the byte"
    told = f"{equal} of {len(errors)} equal to the byte"
    if abs(worst) < 1:
        return f"{told}, all within {abs(worst):.2g} %"
    nine = 100 * statistics.quantiles(map(abs, errors), n=10, method="inclusive")[-1]
    return f"{told}, nine in ten within {nine:.2g} %, the worst {worst:+.2g} %"


def _verdicts() -> str:
    rows = [(row, judge(run_of(row), target_of(row))) for row in reported()]
    cells = {
        (real, told): sum(row["fits"] is real and v.fits is told for row, v in rows)
        for real in (True, False)
        for told in (True, False)
    }
    return "\n".join(
        [
            "| reported runs | predicted to fit | predicted to fail |",
            "|---|---|---|",
            f"| did fit | {cells[True, True]} | {cells[True, False]} |",
            f"| ran out of memory | {cells[False, True]} | {cells[False, False]} |",
        ]
    )


def _figures() -> str:
    lines = ["| reported figure | measured | predicted |", "|---|---|---|"]
    for row in reported():
        verdict = judge(run_of(row), target_of(row))
        found = {
            "requested": verdict.oom.requested_bytes if verdict.oom else None,
            "allocated": verdict.oom.allocated_bytes if verdict.oom else None,
            "process": verdict.process_bytes,
        }
        for key, predicted in found.items():
            for unit, size in (("gib", GIB), ("mib", MIB)):
                measured = row.get(f"{key}_{unit}")
                if measured is not None and predicted is not None:
                    name = "GiB" if unit == "gib" else "MiB"
                    places = 2 if unit == "gib" else 0
                    lines.append(
                        f"| {row['what']}: {key} | {measured} {name} "
                        f"| {predicted / size:.{places}f} {name} |"
                    )
    return "\n".join(lines)


def page_with(text: str, generated: str, name: str = "accuracy") -> str:
    """The page with what stands between the markers of that name replaced."""
    start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
    before, rest = text.split(start)
    return f"{before}{start}\n{generated}\n{end}{rest.split(end)[1]}"


def main(argv: list[str] | None = None) -> int:
    """Print the tables; with ``--write`` put them into the pages."""
    parser = argparse.ArgumentParser(description="The memory model's errors")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args(argv)
    for page, name, generated in ((PAGE, "accuracy", table()), (README, "believe", short())):
        print(generated, end="\n\n")
        if arguments.write:
            text = page_with(page.read_text(encoding="utf-8"), generated, name)
            page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
