"""Say for the runs of public checkouts how far they are trusted, and fix a copy of each.

    python scripts/judge_checkouts.py --gpu rtx-4070 CHECKOUT...

A checkout is a folder; what is worked on is a copy of it, without its history. Its ``.commit``,
where there is one, is the commit that the table names. `check` tells the runs; of each repository
every trusted one is in the table, and the first of the others, those that its README starts before
the rest. `explain` and `fit` are asked about each of them. Then the safe fixes are applied, then
the unsafe ones, after which a `--diff` must find nothing more to do. The table goes to stdout, what
went wrong to stderr. The exit status is 1 when anything went wrong.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from try_checkouts import comments, copied, parses

from nanolint.cli.main import main as nanolint

TRUSTED = ("exact", "read", "traced")
NAMED_TRAINERS = re.compile(r"(^|/)(train|gpt|base_train|pretrain|main)\w*\.py$")
COLUMNS = "repository | commit | run | trust | B, T, V, L/H/C, passes | first doubt or reason"
BATCH = ("batch_size", "gradient_accumulation_steps")


@dataclass
class Judged:
    """What was said of one checkout. ``faults`` say what should not have happened."""

    name: str
    commit: str
    rows: list[str] = field(default_factory=list)
    trusts: Counter[str] = field(default_factory=Counter)
    fixed: Counter[str] = field(default_factory=Counter)
    crashes: int = 0
    faults: list[str] = field(default_factory=list)


class Judgement:
    """One checkout's copy, which is also the working folder while it is judged."""

    def __init__(self, name: str, copy: Path, options: list[str], others: int) -> None:
        commit = copy / ".commit"
        named = commit.read_text().strip() if commit.is_file() else "–"
        self.judged = Judged(name, named)
        self._copy = copy
        self._options = ["--isolated", *options]
        self._others = others
        self._files = [path for path in copy.rglob("*.py") if path.is_file()]

    def run(self) -> Judged:
        """Judge the runs, then fix the copy."""
        said = self._ask("check", "--output-format", "json-full", ".")
        runs = json.loads(said)["runs"] if said else []
        self.judged.trusts.update(run["trust"] for run in runs)
        chosen = self._chosen(runs)
        for name in chosen or self._trainers():
            self._row(name)
        before = self._batches(chosen)
        for kind, unsafe in (("safe", []), ("unsafe", ["--unsafe-fixes"])):
            self._fix(kind, ["--fix", *unsafe])
            if kind == "safe" and self._batches(chosen) != before:
                self._fault("a safe fix changed an effective batch")
        if self._ask("check", "--diff", "--unsafe-fixes", "."):
            self._fault("a run after both kinds of fix still has something to change")
        return self.judged

    def _ask(self, command: str, *arguments: str) -> str:
        """What a command prints. A crash of it is counted, and prints nothing."""
        out, problems = io.StringIO(), io.StringIO()
        try:
            status = nanolint([command, *self._options, *arguments], stdout=out, stderr=problems)
        except Exception as error:  # whatever it is, it is what is looked for
            status, problems = 70, io.StringIO(f"internal error: {error!r}")
        self._problems = problems.getvalue()
        if status not in (0, 1, 2) or "internal error" in self._problems:
            self.judged.crashes += 1
            self._fault(f"{command} {' '.join(arguments)}: crash: {self._problems}")
            return ""
        return out.getvalue()

    def _chosen(self, runs: list[dict[str, Any]]) -> list[str]:
        """The trusted runs and the first of the others, those in the README before the rest."""
        readme = "".join(
            path.read_text(errors="replace")
            for path in sorted(self._copy.glob("[Rr][Ee]ad*"))
            if path.is_file()
        )
        trusted = [run["file"] for run in runs if run["trust"] in TRUSTED]
        others = [run["file"] for run in runs if run["trust"] not in TRUSTED]
        others.sort(key=lambda name: name not in readme)
        return [*trusted, *others[: self._others]]

    def _trainers(self) -> list[str]:
        """The scripts of a project without a run that look like its trainers, highest first."""
        names = [path.relative_to(self._copy).as_posix() for path in self._files]
        found = [name for name in names if NAMED_TRAINERS.search(name)]
        return sorted(found or names, key=lambda name: (name.count("/"), name))[: self._others]

    def _row(self, name: str) -> None:
        said = self._ask("explain", "--format", "json", name)
        if not said:
            self.judged.trusts["refused"] += 1
            reason = self._problems.strip().removeprefix("nanolint: ")
            self._tell(name, "refused", "–", reason.removeprefix(f"{name}: "))
            return
        told = json.loads(said)
        fit = self._ask("fit", "--format", "json", name)
        trust = told["trust"]
        if fit and json.loads(fit)["trust"] != trust:
            self._fault(f"{name}: explain and fit trust it differently")
        reasons = [*told["doubts"], *(each["reason"] for each in told["unresolved"])]
        if trust == "unknown":
            reasons.reverse()
        self._tell(name, trust, _taken(told["run"]), reasons[0] if reasons else "")

    def _tell(self, name: str, trust: str, taken: str, reason: str) -> None:
        cells = (self.judged.name, self.judged.commit, name, trust, taken)
        short = " ".join(reason.replace(f"{self._copy}/", "").replace("|", "/").split())
        self.judged.rows.append(f"| {' | '.join(cells)} | {short} |")

    def _batches(self, chosen: list[str]) -> dict[str, object]:
        """The effective batch of each run: as the file says it, and as nanolint takes it."""
        found: dict[str, object] = {}
        for name in chosen:
            said = self._ask("explain", "--format", "json", name)
            run = json.loads(said)["run"] if said else None
            taken = run["effective_batch_size"] if run else None
            found[name] = (_product(self._copy / name, self._copy / "train.py"), taken)
        return found

    def _fix(self, kind: str, options: list[str]) -> None:
        before = {path: path.read_bytes() for path in self._files}
        self._ask("check", *options, ".")
        for path, old in before.items():
            new = path.read_bytes()
            if new == old:
                continue
            self.judged.fixed[kind] += 1
            if parses(old) and not parses(new):
                self._fault(f"{path.name}: not valid Python after a {kind} fix")
            if comments(old) > comments(new):
                self._fault(f"{path.name}: a comment lost by a {kind} fix")

    def _fault(self, what: str) -> None:
        self.judged.faults.append(f"{self.judged.name}: {what}")


def _taken(run: dict[str, Any] | None) -> str:
    """The sizes that nanolint judged the run by; passes are those of one process."""
    if run is None:
        return "–"
    sizes = [run[key] for key in ("batch_size", "block_size", "vocab_size")]
    shape = "/".join(str(run[key]) for key in ("n_layer", "n_head", "n_embd"))
    passes = run["effective_batch_size"] // (run["batch_size"] * run["world_size"])
    return ", ".join(map(str, [*sizes, shape, passes]))


def _product(config: Path, script: Path) -> int | None:
    """Micro-batch times accumulation by the plain assignments of the two files, else None."""
    values = {**_numbers(script), **_numbers(config)}
    if not all(key in values for key in BATCH):
        return None
    return values[BATCH[0]] * values[BATCH[1]]


def _numbers(path: Path) -> dict[str, int]:
    """What a file assigns to the two keys at its top level, where that is products of integers."""
    if not path.is_file() or not parses(path.read_bytes()):
        return {}
    found: dict[str, int] = {}
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            number = _number(statement.value)
            if statement.targets[0].id in BATCH and number is not None:
                found[statement.targets[0].id] = number
    return found


def _number(expression: ast.expr) -> int | None:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, int):
        return expression.value
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
        left, right = _number(expression.left), _number(expression.right)
        return None if left is None or right is None else left * right
    return None


def judge(checkout: Path, options: list[str], others: int) -> Judged:
    """What is said of a copy of ``checkout``."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(checkout.resolve(), Path(os.path.realpath(folder)))
        os.chdir(copy)
        try:
            return Judgement(checkout.name.replace("+", "/"), copy, options, others).run()
        finally:
            os.chdir(home)


def main(argv: list[str] | None = None) -> int:
    """Judge each checkout and print the table, row by row, and what all of them add up to."""
    parser = argparse.ArgumentParser(description="Say how far runs of checkouts are trusted")
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--gpu", action="append", default=[])
    parser.add_argument("--others", type=int, default=3, help="runs shown that are not trusted")
    arguments = parser.parse_args(argv)
    options = [f"--gpu={name}" for name in arguments.gpu]
    trusts: Counter[str] = Counter()
    fixed: Counter[str] = Counter()
    crashes = faults = 0
    print(f"| {COLUMNS} |\n|{'---|' * (COLUMNS.count('|') + 1)}", flush=True)
    for checkout in arguments.checkouts:
        judged = judge(checkout, options, arguments.others)
        trusts += judged.trusts
        fixed += judged.fixed
        crashes += judged.crashes
        faults += len(judged.faults)
        for line in judged.faults:
            print(line, file=sys.stderr, flush=True)
        if judged.rows:
            print("\n".join(judged.rows), flush=True)
    told = ", ".join(f"{trust} {count}" for trust, count in sorted(trusts.items()))
    print(f"\n{len(arguments.checkouts)} repositories. All runs of them: {told or 'none'}.")
    print(
        f"Files changed: {fixed['safe']} by safe fixes, {fixed['unsafe']} more by unsafe ones. "
        f"Crashes: {crashes}. Faults: {faults}."
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
