"""Measure what the tests notice: change the code in small ways and see whether one of them fails.

    python scripts/mutation_sample.py choose --count 160    # validation/mutants.json, from a seed
    python scripts/mutation_sample.py reach FOLDER          # one run of all tests, 40 minutes
    python scripts/mutation_sample.py try FOLDER            # a row for each room

``choose`` takes one change of a line at a time, some of each room; the list is in the repository,
so that suites are compared on the same changes. ``reach`` runs the tests once in a copy of the
checkout in which each changed place says that it was reached, by which test. ``try`` puts a change
into a copy and runs the tests that reach it, the fastest first, until one fails or ``--limit``
seconds of CPU time are over. ``--fast`` leaves out what is not in the fast tier. ``--results FILE``
remembers what became of each change, and does not try again what is killed there. Take FOLDER from
a run of the same commit: tests are found by their names.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
LIST = ROOT / "validation" / "mutants.json"
SEED = 48
LIMIT_S = 120  # of CPU time, of which half is for tests, by their seconds: a change may be slow
ENDS = ("killed", "survived", "unreached", "gone")
LEFT_OUT = (
    *("texts/", "nanolint/packages/", "trace/child/", "trace/guard.py", "trace/sandbox.py"),
    "nanogpt/own/",
)

REACHED = """
import os
SEEN = set()
def at(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (number, test) not in SEEN:
        SEEN.add((number, test))
        with open(os.path.join(FOLDER, str(os.getpid())), "a") as file:
            file.write(f"{number}\\t{test}\\n")
"""
TIMES = """
import json, os, pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    before = sum(os.times()[:4])
    yield
    row = item.nodeid, sum(os.times()[:4]) - before
    with open(os.path.join(FOLDER, "times.jsonl"), "a") as file:
        file.write(json.dumps(row) + "\\n")
"""
COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "*"}


@dataclass(frozen=True)
class Mutant:
    """One change: the expression ``before``, on ``line`` of ``path``, becomes ``after``."""

    path: str
    line: int
    column: int
    before: str
    after: str
    text: str

    @property
    def room(self) -> str:
        """The folder below nanolint/, two of them in trainers/."""
        parts = self.path.split("/")[1:-1]
        return "/".join(parts[: 2 if parts[:1] == ["trainers"] else 1]) or "."

    def within(self, source: str, replacement: str) -> str:
        """The file's source with ``replacement`` in the place of the expression.

        The line is the nearest one that has its text: others may have come above it.
        """
        lines = source.splitlines()
        alike = [number for number, line in enumerate(lines) if line == self.text]
        if not alike:
            raise LookupError(f"{self.path}:{self.line}: no longer there: {self.text.strip()}")
        number = min(alike, key=lambda each: abs(each + 1 - self.line))
        line = lines[number].encode()
        start, end = line[: self.column], line[self.column + len(self.before.encode()) :]
        lines[number] = (start + replacement.encode() + end).decode()
        return "\n".join([*lines, ""])


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All changes of the functions of one file, in the order of its text."""
    text = path.read_text("utf-8")
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in _expressions(statement):
                for after in _changed(node):
                    before = ast.get_source_segment(text, node) or ""
                    name = path.relative_to(ROOT).as_posix()
                    if before and "\n" not in before:
                        line = text.splitlines()[node.lineno - 1]
                        yield Mutant(name, node.lineno, node.col_offset, before, after, line)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """All expressions whose place in the text is known: Python 3.11 knows none in an f-string."""
    if isinstance(node, ast.JoinedStr | ast.pattern):
        return
    if isinstance(node, ast.expr):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child)


def _changed(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign = COMPARISONS[type(node.ops[0])]
        yield f"({ast.unparse(node.left)} {sign} {ast.unparse(node.comparators[0])})"
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        sign = ARITHMETIC[type(node.op)]
        yield f"({ast.unparse(node.left)} {sign} {ast.unparse(node.right)})"
    elif isinstance(node, ast.BoolOp):
        sign = " or " if isinstance(node.op, ast.And) else " and "
        yield "(" + sign.join(f"({ast.unparse(value)})" for value in node.values) + ")"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"bool({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield str(not node.value)
        elif isinstance(node.value, int):
            yield str(node.value + 1)
    elif isinstance(node, ast.IfExp):
        yield f"({ast.unparse(node.orelse)})"


def choose(count: int) -> list[Mutant]:
    """A few changes of each room, more of the larger ones; at most one in a function's line."""
    chance = random.Random(SEED)
    rooms: dict[str, list[Mutant]] = {}
    for path in sorted(ROOT.glob("nanolint/**/*.py")):
        if not any(part in path.as_posix() for part in LEFT_OUT):
            for mutant in mutants_of(path):
                rooms.setdefault(mutant.room, []).append(mutant)
    total = sum(map(len, rooms.values()))
    chosen: list[Mutant] = []
    for found in rooms.values():
        share = max(3, round(count * len(found) / total))
        chosen += chance.sample(found, min(share, len(found)))
    places = {(one.path, one.line): one for one in chosen}
    return sorted(places.values(), key=lambda one: (one.path, one.line))


def copy(folder: Path) -> Path:
    """A copy of the checkout with an environment of its own, which imports the copy."""
    subprocess.run(("git", "clone", "-q", str(ROOT), str(folder)), check=True)
    command = (sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv"))
    subprocess.run(command, check=True)
    packages = next(Path(sys.prefix).glob("lib/python*/site-packages"))
    own = next((folder / ".venv").glob("lib/python*/site-packages"))
    lines = (folder, folder / "rules", packages)
    own.joinpath("copy.pth").write_text("\n".join(map(str, lines)), "utf-8")
    for name in ("pytest", "mypy", "nanolint"):
        module = "nanolint.cli.main" if name == "nanolint" else name
        script = folder / ".venv" / "bin" / name
        call = "from nanolint.cli.main import entry_point; entry_point()"
        run = f'-c "{call}"' if name == "nanolint" else f"-m {module}"
        script.write_text(f'#!/bin/sh\nexec {folder}/.venv/bin/python {run} "$@"\n', "utf-8")
        script.chmod(0o755)
    return folder


def reach(kept: Path, mutants: list[Mutant], *, fast: bool) -> None:
    """Run the tests in a copy whose changed places say that they were reached."""
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        clone = copy(Path(temporary, "clone"))
        where = f"FOLDER = {str(kept)!r}\n"  # not in the environment, which some tests empty
        clone.joinpath("nanolint/reached_by.py").write_text(where + REACHED, "utf-8")
        clone.joinpath("times_of.py").write_text(where + TIMES, "utf-8")
        for number, mutant in sorted(enumerate(mutants), key=lambda one: -one[1].column):
            path = clone / mutant.path
            said = f"(reached_by.at({number}) or ({mutant.before}))"
            with contextlib.suppress(LookupError, FileNotFoundError):
                path.write_text(mutant.within(path.read_text("utf-8"), said), "utf-8")
        future = "from __future__ import annotations\n"
        for name in {mutant.path for mutant in mutants}:
            path = clone / name
            if not path.exists():
                continue
            own = f"{future}from nanolint import reached_by\n"
            path.write_text(path.read_text("utf-8").replace(future, own, 1), "utf-8")
        command = (
            str(clone / ".venv/bin/pytest"),
            "-p",
            "times_of",
            "-q",
            "--tb=short",
            *([] if fast else ["tests"]),
        )
        rows = "sample" if fast else "all"
        environment = os.environ | {"NANOLINT_ROWS": rows, "PYTHONPATH": str(clone)}
        subprocess.run(command, cwd=clone, env=environment, check=False)


def tests_of(kept: Path) -> dict[int, list[tuple[float, str]]]:
    """For each mutant its tests with their seconds of CPU time, the fastest first."""
    seconds: Counter[str] = Counter()
    for line in kept.joinpath("times.jsonl").read_text("utf-8").splitlines():
        test, taken = json.loads(line)
        seconds[test] += taken
    found: dict[int, set[str]] = {}
    for path in kept.iterdir():
        if path.name.isdigit():
            for line in path.read_text("utf-8").splitlines():
                number, _, test = line.partition("\t")
                found.setdefault(int(number), set()).add(test)
    return {
        number: sorted((seconds[test], test) for test in tests if test in seconds)
        for number, tests in found.items()
    }


def fast_tests(clone: Path) -> set[str]:
    """The names of the fast tier's tests."""
    command = (str(clone / ".venv/bin/pytest"), "--collect-only", "-q", "-n0")
    listed = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True)
    return {line for line in listed.stdout.splitlines() if "::" in line}


def tried(clone: Path, mutant: Mutant, tests: list[tuple[float, str]], limit: float) -> str:
    """Returns "killed by TEST", "survived", "unreached", or "gone" if its line was changed."""
    if not tests:
        return "unreached"
    path = clone / mutant.path
    original = path.read_text("utf-8") if path.exists() else ""
    try:
        changed = mutant.within(original, mutant.after)
    except LookupError:
        return "gone"
    path.write_text(changed, "utf-8")
    try:
        taken, chosen = 0.0, list[str]()
        for seconds, test in tests:
            taken += seconds
            if chosen and (taken > limit / 2 or len(chosen) == 400):
                break
            chosen.append(test)
        listed = clone / "chosen.txt"
        listed.write_text("\n".join(chosen), "utf-8")
        limited = f"ulimit -t {limit:.0f}; exec .venv/bin/pytest -x -q -n0 -p no:cacheprovider"
        done = subprocess.run(
            ("bash", "-c", f"{limited} --tb=line -rfE @chosen.txt"),
            cwd=clone,
            env=os.environ | {"NANOLINT_ROWS": "all"},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        named = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        said = done.stdout + done.stderr
        if done.returncode in (4, 5) and not named and "while loading conftest" not in said:
            raise LookupError(said)  # pytest knows no test of one of these names
        if done.returncode == 0:
            return "survived"
        return f"killed by {named[0].split(' - ')[0]}" if named else f"killed ({done.returncode})"
    finally:
        path.write_text(original, "utf-8")


def table(mutants: list[Mutant], results: dict[int, str]) -> str:
    """A row for each room, the sum last."""
    lines = [f"| {' | '.join(('room', 'changes', *ENDS))} |", "|---|---|---|---|---|---|"]
    for room in [*sorted({mutant.room for mutant in mutants}), "all"]:
        ends = [results[number].split()[0] for number, mutant in enumerate(mutants)
                if number in results and room in (mutant.room, "all")]  # fmt: skip
        counted = Counter(ends)
        cells = (room, len(ends), *(counted[end] for end in ENDS))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    chosen = commands.add_parser("choose")
    chosen.add_argument("--count", type=int, default=160)
    reached = commands.add_parser("reach")
    reached.add_argument("folder", type=Path)
    reached.add_argument("--fast", action="store_true", help="the tests of the fast tier alone")
    trial = commands.add_parser("try")
    trial.add_argument("folder", type=Path)
    trial.add_argument("--fast", action="store_true", help="the tests of the fast tier alone")
    trial.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS")
    trial.add_argument("--results", type=Path, help="a JSON file: what became of each change")
    arguments = parser.parse_args()
    if arguments.command == "choose":
        rows = [asdict(mutant) for mutant in choose(arguments.count)]
        LIST.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
        return
    mutants = [Mutant(**row) for row in json.loads(LIST.read_text("utf-8"))]
    if arguments.command == "reach":
        reach(arguments.folder.resolve(), mutants, fast=arguments.fast)
        return
    tests = tests_of(arguments.folder)
    clones: SimpleQueue[Path] = SimpleQueue()
    kept: Path | None = arguments.results
    results: dict[int, str] = {}
    if kept and kept.exists():
        results = {int(at): end for at, end in json.loads(kept.read_text("utf-8")).items()}
    with tempfile.TemporaryDirectory() as temporary, contextlib.suppress(KeyboardInterrupt):
        for number in range(2):
            clones.put(copy(Path(temporary, str(number))))
        allowed = fast_tests(Path(temporary, "0")) if arguments.fast else None

        def one(number: int) -> None:
            if results.get(number, "").startswith("killed"):
                return
            clone = clones.get()
            own = [row for row in tests.get(number, []) if allowed is None or row[1] in allowed]
            results[number] = tried(clone, mutants[number], own, arguments.limit)
            clones.put(clone)
            if kept:
                kept.write_text(json.dumps(results, indent=1, sort_keys=True), "utf-8")
            place = f"{mutants[number].path}:{mutants[number].line}"
            print(number, place, results[number], file=sys.stderr, flush=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, range(len(mutants))))
    print(table(mutants, results))


if __name__ == "__main__":
    main()
