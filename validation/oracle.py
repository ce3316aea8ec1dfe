"""What PyTorch itself allocates in a run of nanoGPT, without a card: the oracle of all tables.

The checkout's own train.py runs, unedited, in an interpreter with a CUDA build of PyTorch, on the
card that only counts (``nanolint/trace``). What lives when is then PyTorch's own doing, from the
dispatcher to the caching allocator, temporaries and cuBLAS's workspaces included.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository

from nanolint.tape.tape import summits
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Row = dict[str, Any]

SCRIPTS = ("train.py", "model.py", "configurator.py")
# How a row's attention is made to be the one: model.py writes it out where PyTorch has none.
ATTENTION = {
    "flash": "",
    "efficient": "import torch; torch.backends.cuda.enable_flash_sdp(False)",
    "math": "import torch; del torch.nn.functional.scaled_dot_product_attention",
}
PHASES = ("eval", "forward", "backward", "optimizer", "eval_late")
EVAL_ITERS = 2  # from its second batch on, every evaluation pass is the same
MOST_MICRO_STEPS = 4  # of a step: the rest are like the ones before
SHAPE = ("batch_size", "block_size", "n_layer", "n_head", "n_embd", "dropout", "bias", "dtype")


class Oracle(NamedTuple):
    """Where nanoGPT lies, whose PyTorch is asked, and what card it is told of."""

    nanogpt: Path
    python: str
    cache: Path
    card: PretendedCard = PretendedCard()

    def run(self, row: Row, *, compile: bool, steps: int, evaluate_late: bool = False) -> Traced:
        """Trace train.py with the settings of ``row`` for so many optimizer steps."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for script in SCRIPTS:
                shutil.copy(self.nanogpt / script, folder)
            data = folder / "data" / "rows"
            data.mkdir(parents=True)
            (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": row["vocab_size"]}))
            before = folder / "before.py"
            before.write_text(ATTENTION[row["attention"]])
            settings = {
                **{key: row[key] for key in SHAPE},
                "gradient_accumulation_steps": min(row["grad_accum"], MOST_MICRO_STEPS),
                "compile": compile,
                "dataset": "rows",
                "eval_iters": EVAL_ITERS,
                "eval_interval": steps - 1 if evaluate_late else 1000,
            }
            request = Request(
                python=self.python,
                argv=["train.py", *(f"--{key}={value}" for key, value in settings.items())],
                before=before,
                card=self.card,
                steps=steps,
                folder=folder,
                seconds=3600,
            )
            found = read(trace(request, self.cache))
        if found.failure is not None:
            raise SystemExit(f"{found.failure}\n{found.printed}")
        return found


def figures(found: Traced) -> Row:
    """The bytes of one row: the most that are requested in each phase, and torch's own peaks.

    What lies before the first evaluation is part of it, as in nanolint's replay.
    """
    summit = summits(found.tape, len(found.tape.events))
    tops = {phase.value: peak for phase, (peak, _) in summit.items()}
    tops["eval"] = max(tops["eval"], tops.pop("setup", 0))
    phases = {name: tops[name] for name in PHASES if name in tops}
    return {
        **phases,
        "overall": max(phases.values()),
        "memory_allocated": found.allocated_bytes,
        "reserved": found.reserved_bytes,
    }


def write(table: Path, rows: Iterable[Row]) -> None:
    """Write ``rows`` as JSON, one a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    table.write_text(f"[\n{lines}\n]\n")


def differences(row: Row, recorded: Row) -> str:
    """Where the table has something else, in words; nothing if it has the same bytes."""
    if json.dumps(row) == json.dumps(recorded):
        return ""
    keys = [key for key in {**row, **recorded} if row.get(key) != recorded.get(key)]
    if not keys:
        return "the keys stand in another order"
    return ", ".join(f"{key}: {row.get(key)}, not {recorded.get(key)}" for key in keys)


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all recorders share."""
    options = argparse.ArgumentParser(description=description.split("\n", 1)[0])
    options.add_argument("nanogpt", type=Path, help="a checkout of nanoGPT")
    options.add_argument(
        "--python", default=sys.executable, help="whose PyTorch is asked: it needs a CUDA build"
    )
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument(
        "--check", action="store_true", help="say where the table differs, write nothing"
    )
    options.add_argument("--rows", nargs="+", default=[], metavar="ROW", help="by name or number")
    return options


def record(
    table: Path,
    configs: list[Row],
    trace_row: Callable[[Row], Row],
    *,
    only: list[str],
    check: bool,
) -> int:
    """Trace the ``configs`` that are asked for, and put them into ``table`` or compare with it.

    A row that is not traced keeps what the table has of it. Returns the exit status.
    """
    rows: list[Row] = json.loads(table.read_text()) if table.exists() else []
    known = {_key(row, configs[0]): row for row in rows}
    names = [str(config.get("name", number)) for number, config in enumerate(configs)]
    if unknown := set(only) - set(names):
        raise SystemExit(f"no such row: {', '.join(sorted(unknown))}")
    status = 0
    for name, config in zip(names, configs, strict=True):
        if only and name not in only:
            continue
        key = _key(config, configs[0])
        row = config | trace_row(config)
        found = differences(row, known.get(key, {}))
        print(f"{name}: {found or 'equal'}", flush=True)
        status |= bool(found)
        known[key] = row
        if not check:
            kept = (_key(each, configs[0]) for each in configs)
            write(table, [known[key] for key in kept if key in known])
    return status if check else 0


def _key(row: Row, config: Row) -> str:
    return json.dumps({key: row[key] for key in config})
