"""Change one line of a trainer, and hold what nanolint says of each such script to PyTorch.

    python -m validation.one_line CHECKOUTS --python PYTHON --seed 2 --each 40 --half 1
    python -m validation.one_line --page

CHECKOUTS has ``owner+name`` folders, git checkouts of the trainers in recorded/one_line_bases.json;
those that are not there are left out, and none of them is in this repository. PYTHON has a CUDA
build of PyTorch. It is started once for a trainer, on the card that ``nanolint trace`` pretends to,
and a copy of its process runs each changed script for three steps, with ``torch.compile`` left out.
Values are not computed there: an index that only a value takes beyond its table has no truth.

``--half 0`` takes the trainers in which nanolint's errors are looked for, ``--half 1`` those that
are set aside. The rows are added to recorded/one_line.json, of which ``--page`` writes the figures.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from validation.one_line_child import SECONDS, STEPS

HERE = Path(__file__).parent
TABLE, PAGE = HERE / "recorded" / "one_line.json", HERE / "one_line.md"
BASES = HERE / "recorded" / "one_line_bases.json"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"
CHILD = HERE.resolve() / "one_line_child.py"
CARD = "a100-80gb"
MOST_SECONDS = 3 * SECONDS  # of a check, beside a trainer that PyTorch runs
OF_STOPS = ("NL001", "NL415", "NL417")
EXPLAIN = ("NL2", "NL3", "NL4")  # rules that name the cause, without the line that raises
SELECT = "NL001,NL1,NL2,NL3,NL414,NL415,NL417,NL6"  # the verdict, and what may explain a stop

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = dict[str, Any]
Spot = tuple[int, int, int, int, str]  # operator, line, columns, what stands there instead

LAYERS = re.compile(r"(Linear|Embedding|LayerNorm|RMSNorm|Parameter|zeros|ones|randn)$")
SIZES = re.compile(r"head|embd|embed|dim|hidden|block|seq|context|ctx|width|d_model|vocab", re.I)
DROPPED = {"contiguous": 5, "long": 7, "to": 8, "cuda": 8}  # calls, with their operators
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Assert)


def spots(text: str) -> Iterator[Spot]:
    """Every change of one line, by the numbers of the operators in one_line.md."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) and node.lineno == node.end_lineno:  # type: ignore[attr-defined]
            for operator, at, new in _changes(node):
                yield operator, at.lineno, at.col_offset, at.end_col_offset or 0, new
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
            for node in ast.walk(loop):
                if isinstance(node, ast.Expr) and node.lineno == node.end_lineno:
                    for number, at, new in _changes(node.value):
                        if number in (7, 16) and at is node.value:
                            late = f"({new}) if {loop.target.id} == 1 else ({ast.unparse(at)})"
                            yield 20, at.lineno, at.col_offset, at.end_col_offset or 0, late


def _changes(node: Any) -> Iterator[tuple[int, Any, str]]:
    say = ast.unparse
    if isinstance(node, ast.Call):
        yield from _of_call(node, say(node.func))
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 16:
        yield 1, node, str(node.value * 2)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if node.attr in ("T", "mT"):
            yield 3, node, say(node.value)
        if len(node.attr) > 3:
            yield 16, node, f"{say(node.value)}.{node.attr[:-1]}"
    elif isinstance(node, ast.Slice) and node.upper is not None:
        for sign in "+-":
            yield 6, node.upper, f"{say(node.upper)} {sign} 1"
    elif isinstance(node, ast.Assign):
        yield from _of_assignment(node)
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield 17, node.value, say(node.value.elts[0])
        yield 17, node.value, f"{say(node.value)[:-1].lstrip('(')}, None"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and len(node.id) > 2:
        yield 16, node, node.id[:-1]
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        if isinstance(node.slice.value, str):
            yield 16, node.slice, repr(f"{node.slice.value}s")
    elif isinstance(node, ast.Assert):
        yield 19, node.test, f"not ({say(node.test)})"
        for each in ast.walk(node.test):
            if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod):
                yield 19, each.right, f"({say(each.right)} + 1)"
    if isinstance(node, SIMPLE):
        yield 18, node, "pass"
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield 13, node, f"with torch.no_grad(): {say(node)}"


def _of_assignment(node: ast.Assign) -> Iterator[tuple[int, Any, str]]:
    target, value = ast.unparse(node.targets[0]), node.value
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == target:
        sign = {ast.Add: "+", ast.Mult: "*", ast.Sub: "-", ast.Div: "/"}.get(type(value.op))
        if sign:
            yield 12, node, f"{target} {sign}= {ast.unparse(value.right)}"
    if isinstance(value, ast.Constant) and type(value.value) is int and SIZES.search(target):
        for new in (value.value + 1, value.value * 3, max(1, value.value // 2)):
            yield 9, value, str(new)
    if isinstance(node.targets[0], ast.Tuple):
        yield 17, node.targets[0], f"{target.strip('()')}, one_more"


def _of_call(node: ast.Call, name: str) -> Iterator[tuple[int, Any, str]]:
    say, last = ast.unparse, name.rpartition(".")[2]
    of = say(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    args = [say(each) for each in node.args]
    if LAYERS.search(last):
        for each in node.args:
            for new in (f"2 * ({say(each)})", f"3 * ({say(each)})", f"({say(each)}) // 2"):
                yield 1, each, new
    if last == "Linear" and len(args) == 2:
        yield 2, node.args[0], args[1]
    if last == "transpose" and len(args) == 2:
        yield 3, node, of
        yield 3, node, f"{say(node)}.transpose({', '.join(args)})"
        yield 4, node.args[0], "0"
    if last == "permute" and len(args) > 2:
        yield 4, node, f"{of}.permute({', '.join([args[1], args[0], *args[2:]])})"
    if last in ("view", "reshape"):
        yield 5, node.func, f"{of}.{'view' if last == 'reshape' else 'reshape'}"
    if last in DROPPED and of:
        yield DROPPED[last], node, of
    if of:
        for each in node.args[:1]:
            if isinstance(each, ast.Name) and each.id in ("x", "q", "k", "v", "idx", "logits", "y"):
                for kind in ("float", "half", "double", "long"):
                    yield 7, each, f"{each.id}.{kind}()"
    if last == "masked_fill":
        yield 10, node.args[0], f"({args[0]}).float()"
    if last == "cross_entropy":
        yield 11, node, f"{say(node)[:-1]}, reduction='none')"
    if last == "mean" and of and not args:
        yield 11, node, of
    if last == "backward" and not args:
        yield 13, node, f"({of}.backward(), {of}.backward())"
        yield 13, node, f"{of}.detach().backward()"
    if last in ("AdamW", "Adam", "SGD"):
        for new in ("lr=-1", "betas=(0.9, 95)", "weight_decay=-1", "learning_rate=1"):
            rest = [say(k) for k in node.keywords if k.arg != new.partition("=")[0]]
            yield 14, node, f"{name}({', '.join([*args, *rest, new])})"
        if args:
            again = f"[{{'params': {args[0]}}}, {{'params': list({args[0]})[:1]}}]"
            yield 14, node.args[0], again
    if last in ("unscale_", "step", "update") and "scaler" in of:
        yield 15, node, f"({say(node)}, {say(node)})"
        if last != "step":  # else no step ends, and no run
            yield 15, node, "None"
    for given in node.keywords:
        if given.arg and len(given.arg) > 3 and given.lineno == given.end_lineno:
            yield 16, given, f"{given.arg[:-1]}={say(given.value)}"
        if given.arg == "device":
            yield 8, given, "device='cpu'"


def mutants(base: Row, files: dict[str, str], count: int, seed: int) -> list[Row]:
    """So many changed scripts of a base; operators are drawn first, as some have few places."""
    draw = random.Random(f"{seed} {base['name']} {base['script']}")
    by_operator: dict[int, list[tuple[str, Spot]]] = {}
    for file, text in sorted(files.items()):
        for spot in spots(text):
            by_operator.setdefault(spot[0], []).append((file, spot))
    found: dict[tuple[str, str], Row] = {}
    for _ in range(20 * count if by_operator else 0):
        number = draw.choice(sorted(by_operator))
        file, (_, line, start, stop, new) = draw.choice(by_operator[number])
        rows = files[file].split("\n")
        raw = rows[line - 1].encode()
        rows[line - 1] = (raw[:start] + new.encode() + raw[stop:]).decode()
        text = "\n".join(rows)
        try:
            compile(text, file, "exec")
        except SyntaxError:
            continue
        made = {"file": file, "line": line, "operator": number, "seed": seed, "text": text}
        if text != files[file] and len(found) < count:
            found.setdefault((file, text), {**base, **made, "new": rows[line - 1].strip()})
    return list(found.values())


def truths(base: Row, folder: Path, changed: list[Row], python: str) -> Iterator[Row]:
    """What each changed script does, in its order."""
    from nanolint.files.cache import usual_folder
    from nanolint.trace import process
    from nanolint.trace.guarded import ANSWER, CannotTrace, Guarded

    seconds = SECONDS * (len(changed) + 1)
    argv = [base["script"], *base["words"]]
    request = process.Request(python, argv, folder=folder, seconds=seconds, host_bytes=12 << 30)
    tracer = process.Tracer(request, usual_folder())
    with Guarded(tracer._folders) as guarded:
        order = {
            "answer": f"{guarded.scratch}/{ANSWER}", "folder": str(folder), "argv": argv,
            "seconds": SECONDS, "mutants": [(each["file"], each["text"]) for each in changed],
        }  # fmt: skip
        Path(guarded.scratch, "order").write_text(json.dumps(order))
        command = [python, "-I", "-B", str(CHILD), f"{guarded.scratch}/order"]
        environment = process._environment(request, guarded.scratch, tracer._card)
        with suppress(CannotTrace):  # what is lacking has no truth
            for said in guarded.run(command, environment, {}, seconds, 12 << 30):
                if "truth" in said:
                    yield said["truth"]


def judged(folder: Path, row: Row) -> Row:
    """The answer of ``nanolint check`` with the changed line."""
    path = folder / row["file"]
    before = path.read_text("utf-8")
    path.write_text(row["text"], "utf-8")
    words = ["timeout", str(MOST_SECONDS), sys.executable, "-m", "nanolint", "check", row["script"]]
    words += ["--gpu", CARD, "--select", SELECT, "--output-format", "json-full", "--isolated"]
    words += ["--set", "compile=False"] if "--compile=False" in row["words"] else []
    try:
        with subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as started:
            assert started.stdout is not None
            said = started.stdout.read()
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
        found = json.loads(said)
    except ValueError as error:
        return {"action": "none", "why": str(error)[:300], "errors": [], "doubted": True}
    finally:
        path.write_text(before, "utf-8")
    places = []
    for each in (each for each in found["findings"] if each["severity"] == "error"):
        leads = [one for one in each["related"] if not one["message"].startswith("makes ")]
        all_places = [each, *leads]
        at = [(one.get("filename", each["filename"]), one["location"]["row"]) for one in all_places]
        places.append((each["code"], each["message"], at))
    return {
        "action": found["next"]["action"], "why": found["next"]["why"], "errors": places,
        "doubted": not found["runs"] or any(each["doubts"] for each in found["runs"]),
        "cpu": round(used.ru_utime + used.ru_stime, 2),
    }  # fmt: skip


def verdict(row: Row) -> str:
    """How the two compare, in a word or two."""
    truth, said = row["truth"], row["said"]
    if "error" not in truth or _is_of_chance(truth["error"]):
        return "no truth"
    stops = [each for each in said["errors"] if each[0] in OF_STOPS or each[0].startswith("NL6")]
    if truth["error"] is None:
        if not stops:
            return "runs"
        return "no truth" if all(_is_beyond(each[1]) for each in stops) else "FALSE ERROR"
    if said["action"] in ("change", "edit"):
        place = truth["error"]["place"]
        at = [(Path(file).name, line) for each in stops for file, line in each[2]]
        is_explained = not stops and any(each[0][:3] in EXPLAIN for each in said["errors"])
        hit = is_explained or (place is not None and (Path(place[0]).name, place[1]) in at)
        return "found" if hit else "found elsewhere"
    if said["action"] == "run" and not said["doubted"]:
        return "MISSED"
    return "doubted"


def _is_of_chance(error: Row | None) -> bool:
    """Whether an index is beyond its table that nobody has computed."""
    return (
        error is not None and re.search(r"index -?\d{9,} is out of", error["message"]) is not None
    )


def _is_beyond(message: str) -> bool:
    """Whether an error is of a value, or of a step after those that ran."""
    step = re.search(r"the run stops in (?:the \w+ pass of )?step ([\d,]+)", message)
    is_late = step is not None and int(step[1].replace(",", "")) > STEPS
    return is_late or "device-side assert" in message or "in a later step" in message


def table(key: str, rows: list[Row]) -> list[str]:
    """The figures of one_line.md, by the seed or the operator."""
    kinds = ("found", "found elsewhere", "doubted", "MISSED", "runs", "FALSE ERROR", "no truth")
    lines = [f"| {key} | trainers | {' | '.join(kinds)} | CPU s |", "|---|" + "--:|" * 9]
    for value in sorted({each[key] for each in rows}):
        some = [each for each in rows if each[key] == value]
        counts = Counter(each["verdict"] for each in some)
        trainers = len({(each["name"], each["script"]) for each in some})
        measured = [each["cpu"] for each in some if each["cpu"] is not None]
        cells = " | ".join(str(counts[kind]) for kind in kinds)
        seconds = f"{median(measured):.1f}" if measured else ""
        lines.append(f"| {value} | {trainers} | {cells} | {seconds} |")
    return lines


def compared(base: Row, folder: Path, python: str, each: int, seed: int) -> list[Row]:
    """The rows of one trainer: itself, as operator 0, and so many changed scripts."""
    files = {file: (folder / file).read_text("utf-8") for file in base["files"]}
    text = files[base["script"]]
    whole = {**base, "file": base["script"], "text": text, "operator": 0, "seed": seed}
    rows = [whole, *mutants(base, files, each, seed)]
    copied = folder.with_name(f"{folder.name}~")  # that nanolint reads while PyTorch runs the other
    shutil.copytree(folder, copied, dirs_exist_ok=True)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(lambda: list(truths(base, folder, rows, python)))
        said = [judged(copied, row) for row in rows]
        found = running.result()
    shutil.rmtree(copied)
    for row, truth, answer in zip(rows, found, said, strict=False):
        row |= {"truth": truth, "said": answer}
        row["verdict"] = verdict(row)
    runs = bool(found) and found[0].get("error", True) is None
    return [kept(row) for row in rows[: len(found)]] if runs else []


def kept(row: Row) -> Row:
    """What is recorded: of another's script the place alone, from which the text is made again."""
    truth, said = row["truth"], row["said"]
    error = truth.get("error")
    place, own = error and error["place"], "/" not in row["name"]
    found = {key: row[key] for key in ("name", "script", "file", "operator", "seed", "verdict")}
    return found | {
        "line": row.get("line", 0),
        "new": row.get("new", "") if own else "",
        "raises": error and [error["type"], place and [Path(place[0]).name, place[1]]],
        "action": said["action"],
        "codes": [each[0] for each in said["errors"]],
        "cpu": said.get("cpu", SECONDS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkouts", type=Path, nargs="?")
    parser.add_argument("--python")
    parser.add_argument("--bases", type=Path, default=BASES)
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5, help="changed scripts of a trainer")
    parser.add_argument("--half", type=int, help="0 or 1")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = json.loads(options.out.read_text("utf-8")) if options.out.exists() else []
    for number, base in enumerate(json.loads(options.bases.read_text("utf-8"))):
        folder = (options.checkouts or HERE) / base["name"].replace("/", "+")
        if options.python is None or options.half not in (None, number % 2) or not folder.is_dir():
            continue
        rows += compared(base, folder, options.python, options.each, options.seed)
        options.out.write_text(json.dumps(rows, indent=0) + "\n", "utf-8")
        print(base["name"], base["script"], Counter(each["verdict"] for each in rows), flush=True)
    if options.page:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        lines = [
            *table("seed", [each for each in rows if each["operator"]]),
            "",
            *table("operator", rows),
        ]
        PAGE.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), "utf-8")


if __name__ == "__main__":
    main()
