"""Change a project's files by chance, and hold what is read of each to a trace of it.

    python validation/mutations.py CHECKOUT --python path/to/python --count 40 --seed 1

takes a git checkout of karpathy/nanoGPT. Each time one or two places of train.py or model.py become
another number, operator, name or attribute, or a statement goes, comes twice, or changes places.
Where nanolint's verdict is sure, PyTorch is traced on the same files, and both must allocate and
reserve the same; a script that fails is counted as such. The rows go to
validation/recorded/mutations.json, and it ends with 1 if any differs.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TABLE = HERE / "recorded" / "mutations.json"
STAND_IN = HERE / "stand_ins" / "forks.py"
FILES = ("train.py", "model.py", "configurator.py")
CARD = "a100-80gb"
SMALL = {
    "n_layer": 2, "n_head": 3, "n_embd": 192, "block_size": 256, "batch_size": 4,
    "gradient_accumulation_steps": 3, "max_iters": 3, "eval_iters": 2, "eval_interval": 2,
    "dropout": 0.1,
}  # fmt: skip
SURE = ("exact", "read")
Row = dict[str, Any]


def mutated(text: str, draw: random.Random) -> tuple[str, str] | None:
    """The text with one place changed, and which; None where nothing there can be."""
    tree = ast.parse(text)
    change = draw.choice((_number, _operator, _name, _attribute, _keyword, _statement))
    said = change(list(ast.walk(tree)), draw)
    return None if said is None else (ast.unparse(ast.fix_missing_locations(tree)), said)


def _number(nodes: list[ast.AST], draw: random.Random) -> str | None:
    found = [
        each
        for each in nodes
        if isinstance(each, ast.Constant) and isinstance(each.value, int | float)
    ]
    node = draw.choice(found)
    old = node.value
    if isinstance(old, bool):
        node.value = not old
    else:
        assert isinstance(old, int | float)
        node.value = draw.choice((0, 1, 2, 2 * old, old + 1))
    return f"line {node.lineno}: {old} to {node.value!r}"


def _operator(nodes: list[ast.AST], draw: random.Random) -> str | None:
    node = draw.choice([each for each in nodes if isinstance(each, ast.BinOp)])
    old = ast.unparse(node)
    node.op = draw.choice((ast.Add(), ast.Sub(), ast.Mult(), ast.Div(), ast.FloorDiv()))
    return f"line {node.lineno}: {old} to {ast.unparse(node)}"


def _name(nodes: list[ast.AST], draw: random.Random) -> str | None:
    found = [x for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)]
    node, other = draw.sample(found, 2)
    old, node.id = node.id, other.id
    return f"line {node.lineno}: {old} to {node.id}"


def _attribute(nodes: list[ast.AST], draw: random.Random) -> str | None:
    found = [each for each in nodes if isinstance(each, ast.Attribute)]
    node, other = draw.sample(found, 2)
    old, node.attr = ast.unparse(node), other.attr
    return f"line {node.lineno}: {old} to {ast.unparse(node)}"


def _keyword(nodes: list[ast.AST], draw: random.Random) -> str | None:
    node = draw.choice([x for x in nodes if isinstance(x, ast.Call) and x.keywords])
    gone = node.keywords.pop(draw.randrange(len(node.keywords)))
    return f"line {node.lineno}: {ast.unparse(node.func)} without {gone.arg}"


def _statement(nodes: list[ast.AST], draw: random.Random) -> str | None:
    bodies = [getattr(each, part, None) for each in nodes for part in ("body", "orelse")]
    body: list[ast.stmt] = draw.choice([each for each in bodies if isinstance(each, list) and each])
    at = draw.randrange(len(body))
    said = f"line {body[at].lineno}: {ast.unparse(body[at]).splitlines()[0]}"
    how = draw.choice(("gone", "twice", "later"))
    if how == "gone":
        body[at] = ast.Pass()
    elif how == "twice":
        body.insert(at, copy.deepcopy(body[at]))
    elif at + 1 < len(body):
        body[at], body[at + 1] = body[at + 1], body[at]
    else:
        return None
    return f"{said} ({how})"


def asked(folder: Path, command: list[str], *line: str) -> Row:
    """What a command of nanolint's says of ``line``; its error, where it fails."""
    words = [sys.executable, "-m", "nanolint", *command]
    words += ["--gpu", CARD, "--format", "json", "--", "python", "train.py", *line]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    try:
        found: Row = json.loads(done.stdout)
    except ValueError:
        return {"error": done.stderr.strip()[-200:]}
    return found


def compared(folder: Path, python: str, *, compiled: bool) -> Row:
    """What is read of the files in ``folder``, and what is traced where that is sure."""
    line = [f"--{key}={value}" for key, value in {**SMALL, "compile": compiled}.items()]
    release = ["--torch-version", "2.13"]
    read = asked(folder, ["explain", "--isolated", *release], *line)
    row: Row = {"compiled": compiled, "trust": read.get("trust"), "read": _peak(read)}
    if row["trust"] in SURE and row["read"] is not None:
        traced = asked(
            folder, ["trace", "--python", python, "--before", str(STAND_IN), "--yes"], *line
        )
        row |= {"traced": _peak(traced), "error": traced.get("error", "").rpartition("\n")[2]}
    return row


def _peak(found: Row) -> list[int] | None:
    peak = found.get("peak") or {}
    return [peak["allocated_bytes"], peak["reserved_bytes"]] if peak else None


def verdict(row: Row) -> str:
    """Which of the lines below a row counts for."""
    if "traced" not in row:
        return "no sure verdict"
    if row["traced"] is None:
        return "sure, and the script fails"
    return "sure and equal" if row["read"] == row["traced"] else "sure and not equal"


def main() -> int:
    """Draw, compare, write the rows, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", required=True, help="one that has a CUDA build of PyTorch 2.13")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    rows: list[Row] = []
    while len(rows) < options.count:
        name = draw.choice(FILES[:2])
        found = mutated((options.checkout / name).read_text("utf-8"), draw)
        if found is None:
            continue
        text, said = found
        with tempfile.TemporaryDirectory() as folder:
            for file in FILES:
                shutil.copy(options.checkout / file, folder)
            Path(folder, name).write_text(text, encoding="utf-8")
            compiled = draw.random() < 1 / 3
            row = {"file": name, "change": said}
            row |= compared(Path(folder), options.python, compiled=compiled)
        rows.append(row)
        print(f"{verdict(row)}: {name}, {said}", flush=True)
    known: list[Row] = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else []
    changes = {(each["file"], each["change"]) for each in rows}
    rows += [each for each in known if (each["file"], each["change"]) not in changes]
    rows.sort(key=lambda row: (row["file"], row["change"]))
    TABLE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    for what, count in Counter(map(verdict, rows)).items():
        print(f"{count} of {len(rows)}: {what}")
    return int(any(verdict(row) == "sure and not equal" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
