"""Public models, read from their own files, beside what PyTorch allocates for them (zoo.md).

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_peak
from nanolint.run.program import SourceText
from nanolint.trace.process import Asked, PretendedCard, Request, Tracer
from nanolint.trace.traced import read
from nanolint.trainers.script.sources import sources as sources_of
from validation.oracle import write
from validation.read_models import STEPS, TRAIN, Case, entries, first_difference
from validation.record_read import CARD, TORCH
from validation.zoo_models import ENTRIES, SECOND, SIZES, Entry

HERE = Path(__file__).parent
PAGE = HERE / "zoo.md"
ZOOS = {
    "zoo": ENTRIES,
    "zoo_second": SECOND,
}  # by the name of the recorded table
Row = dict[str, Any]
Traces = Callable[[Asked], dict[str, Any]]


def row_of(entry: Entry, checkouts: Path, tracer: Traces, scratch: Path) -> Row:
    """Read and trace one model."""
    folder = checkouts / entry.repository.replace("/", "+")
    row: Row = {"repository": entry.repository, "path": entry.path, "class": entry.cls}
    row |= {"commit": commit(folder), "dtype": entry.dtype, "others": dict(entry.others)}
    case = case_in(entry, checkouts, scratch)
    traced = read(tracer(Asked([str(TRAIN), json.dumps(case.said())])))
    if traced.failure is not None and not traced.complete:
        why = f"{traced.failure.kind}: {traced.failure.message}"
        return row | {"result": "fails", "why": why}
    try:
        tape = case.read(find(CARD).gpu, TORCH)
    except Unread as error:
        return row | {"result": "unread", "why": str(error)}
    miss = first_difference(tape, traced.tape)
    return row | {
        "result": "off" if miss else "exact",
        "why": miss or "",
        "entries": len(entries(traced.tape)),
        "torch_bytes": allocated_peak(traced.tape),
        "read_bytes": allocated_peak(tape),
    }


def case_in(entry: Entry, checkouts: Path, scratch: Path) -> Case:
    """The run of a model whose repository lies in ``checkouts``."""
    folder = checkouts / entry.repository.replace("/", "+")
    return case_of(entry, folder, scratch / words(entry).replace("/", "-"))


def case_of(entry: Entry, folder: Path, scratch: Path) -> Case:
    """The run of an entry; of a script its definitions alone are put into ``scratch``."""
    path = folder / entry.path
    root = folder / entry.root if entry.root else path.parent
    text = path.read_text(encoding="utf-8")
    scratch.mkdir(parents=True, exist_ok=True)
    for name in entry.hollow:
        _hollow(scratch, name)
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    sources = tuple(each for _, each in sources_of(f"import {module}", root / "train.py")[1:])
    if entry.is_script:
        text = definitions(text, entry.without)
        (scratch / path.name).write_text(text, encoding="utf-8")
        sources = (SourceText(module, path.name, text), *sources[1:])
    cls, config = entry.cls, entry.config
    known = _fields(text, config)
    arguments = {key: value for key, value in SIZES.items() if key in known} | dict(entry.others)
    if entry.built:
        around = AROUND.format(module=module, built=entry.built, loss=entry.loss)
        (scratch / "around.py").write_text(around, encoding="utf-8")
        sources = (SourceText("around", "around.py", around), *sources)
        cls, config, arguments = "Around", None, {}
    return Case(
        sources=(*sources, *(SourceText(each, "", ABSENT) for each in entry.absent)),
        folder=root,
        cls=cls,
        config=config,
        arguments=arguments,
        batch_size=2,
        block_size=SIZES["block_size"],
        vocab_size=SIZES["vocab_size"],
        dtype=entry.dtype,
        first=scratch,
    )


def _hollow(folder: Path, name: str) -> None:
    for part in name.split("."):
        folder /= part
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(HOLLOW, encoding="utf-8")


def definitions(text: str, without: tuple[str, ...] = ()) -> str:
    """A script without what it does: imports but of ``without``, functions, classes, constants."""
    lines = text.splitlines()
    kept = [""] * len(lines)
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(without):
            continue
        if isinstance(node, DEFINES) or _is_constant(node):
            decorators = getattr(node, "decorator_list", [])
            start = min(each.lineno for each in (node, *decorators)) - 1
            kept[start : node.end_lineno] = lines[start : node.end_lineno]
    return "\n".join(kept)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
ABSENT = "raise ImportError"
HOLLOW = """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    nothing = lambda *_, **__: None
    return type(name, (), {"__init__": nothing, "__getattr__": lambda *_: nothing})
"""
AROUND = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import {module} as project
from {module} import *


class Settings:
    def __init__(self, **settings):
        for name, value in settings.items():
            setattr(self, name, value)


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = {built}

    def forward(self, idx, targets):
        model = self.model
        return self.outputs({loss})

    def outputs(self, logits, loss=None):
        if loss is None:
            return logits
        if loss.dim():
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), loss.view(-1))
        return logits, loss
"""


def _fields(text: str, config: str | None) -> set[str]:
    """The fields of the class of the configuration, if it is a dataclass of the same file."""
    return {
        entry.target.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and node.name == config
        for entry in node.body
        if isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)
    }


def _tracer(python: str, cache: Path, folder: Path, packages: Path | None = None) -> Tracer:
    """PyTorch, imported once for all rows; ``packages`` has what some models import besides."""
    gpu = find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)
    environment = {} if packages is None else {"PYTHONPATH": str(packages)}
    request = Request(
        python, [str(TRAIN)], card=card, steps=STEPS, folder=folder, environment=environment
    )
    return Tracer(request, cache)


def words(entry: Entry) -> str:
    return f"{entry.repository}:{entry.path}:{entry.cls}"


def _key(row: Row) -> tuple[str, str, str]:
    return row["repository"], row["path"], row["class"]


def _entry(text: str) -> Entry:
    """The entry called ``OWNER/NAME:PATH:CLASS``; raises ValueError."""
    for entry in (*ENTRIES, *SECOND):
        if words(entry) == text:
            return entry
    raise ValueError(text)


def commit(folder: Path) -> str:
    found = folder / "COMMIT"
    return found.read_text().strip() if found.exists() else ""


def page(rows: list[Row], name: str = "zoo") -> str:
    """The table, and what it says in all."""
    judged = [row for row in rows if row["result"] in ("exact", "off")]
    exact = sum(row["result"] == "exact" for row in judged)
    unread = sum(row["result"] == "unread" for row in rows)
    errors = [abs(row["read_bytes"] / row["torch_bytes"] - 1) for row in judged]
    lines = [
        f"<!-- {name}: start -->",
        f"Of {len(rows)} rows {unread} could not be read, each with a line that says why; of the "
        f"{len(judged)} that were read and ran, {exact} equal PyTorch's events one by one; the "
        f"worst peak is off by {100 * max(errors, default=0):.2f} %.",
        "",
        "| model | commit | type | result | peak read, PyTorch's (bytes) | what differs, or why |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        model = f"{row['repository']} `{row['path']}` {row['class']}"
        peaks = f"{row['read_bytes']:,}, {row['torch_bytes']:,}" if row in judged else "–"
        why = row["why"].replace("|", "/")
        cells = (model, row["commit"][:7], row["dtype"], row["result"], peaks, why)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, f"<!-- {name}: end -->"))


def main() -> int:
    """Record and write the page; without checkouts only the page."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--checkouts", type=Path)
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--packages", type=Path, help="a folder with einops")
    options.add_argument("--only", nargs="+", type=_entry, help="OWNER/NAME:PATH:CLASS of some")
    options.add_argument("--zoo", choices=tuple(ZOOS), default="zoo", help="which of them")
    given = options.parse_args()
    name = given.zoo
    if given.checkouts:
        found = {_key(row): row for row in _recorded(name)}
        scratch = Path(tempfile.mkdtemp())
        tracer = _tracer(given.python, given.cache, scratch, given.packages)
        for entry in given.only or ZOOS[name]:
            row = row_of(entry, given.checkouts, tracer, scratch)
            print(words(entry), row["result"], row["why"][:200], flush=True)
            found[_key(row)] = row
            write(_table(name), found.values())
    text = PAGE.read_text(encoding="utf-8")
    for each in ZOOS:
        head, _, rest = text.partition(f"<!-- {each}: start -->")
        text = head + page(_recorded(each), each) + rest.partition(f"<!-- {each}: end -->")[2]
    PAGE.write_text(text, encoding="utf-8")
    return 0


def _table(name: str) -> Path:
    return HERE / "recorded" / f"{name}.json"


def _recorded(name: str) -> list[Row]:
    rows: list[Row] = json.loads(_table(name).read_text()) if _table(name).exists() else []
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
