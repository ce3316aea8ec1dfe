"""Check, fix and check again each Python file of checkouts: tables of validation/robustness.md.

    python scripts/try_checkouts.py --gpu rtx-3060 CHECKOUT...

A checkout is a folder; what is worked on is a copy of it, without its history. All fixes are
applied, unsafe ones too. The table goes to stdout, what went wrong to stderr, and with ``--list``
every finding too, to be read beside the code. With ``--named`` every file is judged as if the
user had named it, so that each one is parsed. Times are those of the first check, in seconds of
the processor. The exit status is 1 when anything went wrong.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import shutil
import statistics
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from nanolint.cli.check import DESCRIPTION, USAGE
from nanolint.cli.configuration import Configuration
from nanolint.cli.judging import Work, judge_file
from nanolint.cli.options import check_parser
from nanolint.cli.streams import Streams
from nanolint.files import door
from nanolint.linting.discovery import Candidate

if TYPE_CHECKING:
    from nanolint.report.results import FileResult

LARGEST = 64 << 20  # bytes of a file that is copied; checkpoints and corpora are left behind
COLUMNS = (
    "checkout | files | findings | not checked | files fixed | crashes | unparsable | "
    "comments lost | unstable | median ms | worst ms | total s | slowest file"
)


@dataclass
class Tried:
    """What became of the files of one checkout. ``faults`` say what should not have happened."""

    name: str
    findings: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    not_judged: int = 0
    fixed: int = 0
    crashes: int = 0
    unparsable: int = 0
    comments_lost: int = 0
    unstable: int = 0
    faults: list[str] = field(default_factory=list)

    def row(self) -> str:
        """A row of the table."""
        slowest = max(self.seconds, key=lambda name: self.seconds[name], default="–")
        median = statistics.median(self.seconds.values()) if self.seconds else 0.0
        cells = (
            *(self.name, len(self.seconds), self.findings.total(), self.not_judged, self.fixed),
            *(self.crashes, self.unparsable, self.comments_lost, self.unstable),
            *(f"{median * 1000:.1f}", f"{self.seconds.get(slowest, 0.0) * 1000:.0f}"),
            *(f"{sum(self.seconds.values()):.1f}", slowest),
        )
        return f"| {' | '.join(map(str, cells))} |"


class Trial:
    """One checkout's copy, judged again and again."""

    def __init__(self, name: str, copy: Path, options: list[str], *, named: bool) -> None:
        given = check_parser("try_checkouts", USAGE, DESCRIPTION).parse(
            ["--isolated", *options], Streams(sys.stdin, sys.stdout, sys.stderr)
        )
        self._configuration = Configuration(given, ())
        self._copy = copy
        self._named = named
        self.tried = Tried(name)
        self._files = [path for path in sorted(copy.rglob("*.py")) if _is_regular(path)]

    def run(self) -> Tried:
        """Check all files, fix them all, and fix them all once more."""
        before = {path: path.read_bytes() for path in self._files}
        for path in self._files:
            self._check(path)
        door.forget()
        for path in self._files:
            self._judge(path, Work(fix=True, unsafe=True, write=True))
        door.forget()
        after = {path: path.read_bytes() for path in self._files}
        for path in self._files:
            if after[path] != before[path]:
                self._compare(path, before[path], after[path])
            self._judge(path, Work(fix=True, unsafe=True, write=True))
            if path.read_bytes() != after[path]:
                self.tried.unstable += 1
                self._fault(path, "a second run changes it again")
        door.forget()
        return self.tried

    def _check(self, path: Path) -> None:
        tried, name = self.tried, str(path.relative_to(self._copy))
        start = process_time()
        result = self._judge(path, Work())
        tried.seconds[name] = process_time() - start
        tried.not_judged += result.error is not None or any(
            "not checked" in remark for remark in result.remarks
        )
        for each in result.diagnostics:
            tried.findings[each.code] += 1
            row = result.text.count("\n", 0, each.span.start) + 1
            told = f"{tried.name}/{name}:{row}: {each.code} {each.line}"
            tried.told.append(told)

    def _judge(self, path: Path, work: Work) -> FileResult:
        candidate = Candidate(path, str(path), explicit=self._named)
        result = judge_file(candidate, self._configuration.plan_of(path.parent), work)
        if result.trace is not None:
            self.tried.crashes += 1
            self._fault(path, result.trace)
        return result

    def _compare(self, path: Path, before: bytes, after: bytes) -> None:
        tried = self.tried
        tried.fixed += 1
        if parses(before) and not parses(after):
            tried.unparsable += 1
            self._fault(path, "the fixed file is not valid Python")
        lost = comments(before) - comments(after)
        if lost > 0:
            tried.comments_lost += lost
            self._fault(path, f"{lost} comments lost")

    def _fault(self, path: Path, what: str) -> None:
        self.tried.faults.append(f"{self.tried.name}/{path.relative_to(self._copy)}: {what}")


def _is_regular(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def parses(raw: bytes) -> bool:
    """Whether it is valid Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(raw)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def comments(raw: bytes) -> int:
    """How many comments there are; those of a broken file up to where it breaks."""
    count = 0
    try:
        for token in tokenize.tokenize(io.BytesIO(raw).readline):
            count += token.type == tokenize.COMMENT
    except (SyntaxError, tokenize.TokenError):
        pass
    return count


def copied(checkout: Path, folder: Path) -> Path:
    """A copy of ``checkout`` in ``folder``: no history, no huge files, links as they are."""

    def left_behind(place: str, names: list[str]) -> list[str]:
        paths = [Path(place, name) for name in names]
        return [path.name for path in paths if path.name == ".git" or _is_huge(path)]

    copy = folder / checkout.name
    shutil.copytree(checkout, copy, symlinks=True, ignore=left_behind)
    (copy / ".git").mkdir()  # where the search for a train.py ends
    (copy / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return copy


def _is_huge(path: Path) -> bool:
    return not path.is_symlink() and path.is_file() and path.stat().st_size > LARGEST


def attempt(checkout: Path, options: list[str], *, named: bool) -> Tried:
    """What becomes of a copy of ``checkout``."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(checkout, Path(os.path.realpath(folder)))
        return Trial(checkout.name.replace("+", "/"), copy, options, named=named).run()


def main(argv: list[str] | None = None) -> int:
    """Try each checkout and print the table, row by row."""
    parser = argparse.ArgumentParser(description="Check, fix and re-check whole checkouts")
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--gpu", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--named", action="store_true")
    arguments = parser.parse_args(argv)
    options = [f"--gpu={name}" for name in arguments.gpu]
    found: Counter[str] = Counter()
    faults = 0
    print(f"| {COLUMNS} |\n|{'---|' * (COLUMNS.count('|') + 1)}", flush=True)
    for checkout in arguments.checkouts:
        tried = attempt(checkout, options, named=arguments.named)
        found += tried.findings
        faults += len(tried.faults)
        for line in [*tried.faults, *(tried.told if arguments.list else ())]:
            print(line, file=sys.stderr)
        print(tried.row(), flush=True)
    codes = ", ".join(f"{code} {count}" for code, count in sorted(found.items()))
    print(f"\nFindings: {codes or 'none'}.")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
