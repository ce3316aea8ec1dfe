"""Public models, read from their own files, beside what PyTorch allocates for them: docs/zoo.md.

    python validation/zoo.py --checkouts DIR --python PATH   # trace, read, record, write the page
    python validation/zoo.py                                 # write the page from the recorded rows

DIR has a folder OWNER+NAME for each repository; ``--python`` has a CUDA build of PyTorch 2.13. The
models' files are not part of this repository; the rows name their commits.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.memory.model.read import Unread
from nanolint.memory.recording import allocated_peak
from nanolint.trace.process import PretendedCard
from nanolint.trainers.nanogpt.read import modules_of
from validation.oracle import write
from validation.read_models import Case, entries, first_difference
from validation.record_read import CARD, TORCH

HERE = Path(__file__).parent
TABLE, PAGE = HERE / "recorded" / "zoo.json", HERE.parent / "docs" / "zoo.md"
SIZES: dict[str, Any] = {
    "n_layer": 4,
    "n_head": 4,
    "n_embd": 64,
    "block_size": 64,
    "bias": False,
    "vocab_size": 512,
    "dropout": 0.0,
}
START, END = "<!-- zoo: start -->", "<!-- zoo: end -->"
Row = dict[str, Any]


class Entry(NamedTuple):
    """A model: where it is, and with what its configuration is made beside ``SIZES``."""

    repository: str
    path: str
    cls: str = "GPT"
    config: str = "GPTConfig"
    others: tuple[tuple[str, Any], ...] = ()
    dtype: str = "bfloat16"


ENTRIES = [
    *(
        Entry(repository, "model.py")
        for repository in (
            "karpathy/nanoGPT",
            "Andrei-Aksionov/nanoGPT-Andrej-Karpathy",
            "YpLarryWang/nanoGPT",
            "blank374/nanoGPT",
            "wolfecameron/nanoMoE",
            "danielgrittner/nanoGPT-LoRA",
            "lyh4215/nanoGPT",
            "EleutherAI/nanoGPT-mup",
            "Brukmoon/nanogpt-czech-poetry",
            "quietsmile/nanogpt",
            "SwordElucidator/nanoBackpackLM",
            "sanjeevanahilan/nanoChatGPT",
            "bomxacalaka/nanoGPT",
            "lee-ny/teaching_arithmetic",
            "Liuhong99/Sophia",
            "NVIDIA/ngpt",
            "Cole-Piche782/TransformerMoePublic",
            "Raon1123/reasoning-nanoGPT",
            "ReaLLMASIC/nanoGPT",
            "FengMingquan-sjtu/nanoGPT",
            "chongwei730/nanoGPT",
            "VatsaDev/nanoChatGPT",
            "Farzaanw/nanoGPT-project",
            "Byan13149/nanoGPT",
            "DaizeDong/2025-CS534-nanoGPT",
            "Yangxiaohehehe/nanogpt-learned-order",
        )
    ),
    Entry("SwordElucidator/nanoBackpackLM", "backpack.py", "BackpackLM", "BackpackLMConfig"),
    Entry("Hannibal046/nanoRWKV", "modeling_rwkv.py", "RWKV", "RWKVConfig"),
    Entry("timepointai/nanogpt-prism-shakespeare", "src/model.py"),
    Entry("zyushun/Adam-mini", "examples/gpt2/model.py"),
    Entry("akavi/nanoGPT", "models/model.py"),
    Entry("Hannibal046/nanoRWKV", "modeling_gpt.py"),
]


def case_in(entry: Entry, checkouts: Path) -> Case:
    """The run of a model whose repository lies in ``checkouts``."""
    path = checkouts / entry.repository.replace("/", "+") / entry.path
    known = _fields(path.read_text(encoding="utf-8"), entry.config)
    arguments = {key: value for key, value in SIZES.items() if key in known} | dict(entry.others)
    return Case(
        sources=modules_of(path.parent / "train.py", path.stem, entry.cls),
        folder=path.parent,
        cls=entry.cls,
        config=entry.config,
        arguments=arguments,
        batch_size=2,
        block_size=SIZES["block_size"],
        vocab_size=SIZES["vocab_size"],
        dtype=entry.dtype,
    )


def row_of(entry: Entry, checkouts: Path, python: str, cache: Path) -> Row:
    """Read and trace one model."""
    folder = checkouts / entry.repository.replace("/", "+")
    row: Row = {"repository": entry.repository, "path": entry.path, "class": entry.cls}
    row |= {"commit": _commit(folder), "dtype": entry.dtype, "others": dict(entry.others)}
    case = case_in(entry, checkouts)
    gpu = find(CARD).gpu
    try:
        tape = case.read(gpu, TORCH)
    except Unread as error:
        return row | {"result": "unread", "why": str(error)}
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)
    traced = case.trace(python, cache, card)
    if traced.failure is not None and not traced.complete:
        return row | {"result": "fails", "why": f"{traced.failure.kind}: {traced.failure.message}"}
    miss = first_difference(tape, traced.tape)
    return row | {
        "result": "off" if miss else "exact",
        "why": miss or "",
        "entries": len(entries(traced.tape)),
        "torch_bytes": allocated_peak(traced.tape),
        "read_bytes": allocated_peak(tape),
    }


def _fields(text: str, config: str) -> set[str]:
    """The fields of the class of the configuration."""
    return {
        entry.target.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and node.name == config
        for entry in node.body
        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
    }


def _key(row: Row) -> tuple[str, str, str]:
    return row["repository"], row["path"], row["class"]


def _entry(text: str) -> Entry:
    """The entry called ``OWNER/NAME:PATH``; raises ValueError."""
    for entry in ENTRIES:
        if f"{entry.repository}:{entry.path}" == text:
            return entry
    raise ValueError(text)


def _commit(folder: Path) -> str:
    found = folder / "COMMIT"
    return found.read_text().strip() if found.exists() else ""


def page(rows: list[Row]) -> str:
    """The table, and what it says in all."""
    judged = [row for row in rows if row["result"] in ("exact", "off")]
    exact = sum(row["result"] == "exact" for row in judged)
    unread = sum(row["result"] == "unread" for row in rows)
    errors = [abs(row["read_bytes"] / row["torch_bytes"] - 1) for row in judged]
    lines = [
        START,
        f"Of {len(rows)} rows {unread} could not be read, each with a line that says why; of the "
        f"{len(judged)} that were read and ran, {exact} equal PyTorch's events one by one; the "
        f"worst peak is off by {100 * max(errors, default=0):.2f} %.",
        "",
        "| model | commit | type | result | peak read, PyTorch's (bytes) | what differs, or why |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        name = f"{row['repository']} `{row['path']}` {row['class']}"
        peaks = f"{row['read_bytes']:,}, {row['torch_bytes']:,}" if row in judged else "–"
        why = row["why"].replace("|", "/")
        cells = (name, row["commit"][:7], row["dtype"], row["result"], peaks, why)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, END))


def main() -> int:
    """Record and write the page; without checkouts only the page."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--checkouts", type=Path)
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--only", nargs="+", type=_entry, help="OWNER/NAME:PATH of some of them")
    given = options.parse_args()
    rows: list[Row] = json.loads(TABLE.read_text()) if TABLE.exists() else []
    if given.checkouts:
        found = {_key(row): row for row in rows}
        for entry in given.only or ENTRIES:
            row = row_of(entry, given.checkouts, given.python, given.cache)
            print(row["repository"], row["path"], row["result"], row["why"][:200], flush=True)
            found[_key(row)] = row
            write(TABLE, found.values())
        rows = list(found.values())
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(START)
    PAGE.write_text(head + page(rows) + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
