#!/usr/bin/env python3
"""What a change does to real projects: ``scripts/ecosystem.py BASE CHECKOUT...``.

Judges each checkout with nanolint as it is at the git revision BASE and as it is in this working
tree, and prints, as Markdown, every finding and every run's trust that came or went. Nothing is
written into the checkouts, nothing of theirs is run. Exit status 1 where anything differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = ("--isolated", "--gpu", "rtx-4070", "--output-format", "json-full", "--fail-on=never")


def judged(nanolint: Path, checkout: Path) -> set[str]:
    """A line for each finding and each run, the same for the same outcome."""
    start = "import sys; sys.path[:0] = sys.argv[1:3]; sys.argv[1:3] = []; sys.argv[0] = 'nanolint'"
    code = f"{start}; from nanolint.cli.main import entry_point; entry_point()"
    paths = (str(nanolint), str(nanolint / "rules"))
    command = (sys.executable, "-c", code, *paths, *OPTIONS, ".")
    ended = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    try:
        found = json.loads(ended.stdout)
    except ValueError:
        last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
        return {f"failed with status {ended.returncode}: {last}"}
    findings = {
        f"{each['filename']}:{each['location']['row']} {each['code']} {each['severity']}: "
        f"{each['message']}"
        for each in found["findings"]
    }
    runs = {f"{each['file']} on {each['gpu']}: {each['trust']}" for each in found["runs"]}
    return findings | runs


def main(base: str, *checkouts: str) -> int:
    """Compare; returns the exit status."""
    differs = False
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        worktree = ("git", "-C", str(ROOT), "worktree")
        subprocess.run((*worktree, "add", "--quiet", "--detach", str(before), base), check=True)
        try:
            for checkout in map(Path, checkouts):
                old, new = judged(before, checkout), judged(ROOT, checkout)
                print(f"## {checkout.name}: {len(new - old)} came, {len(old - new)} went\n")
                for sign, lines in (("-", old - new), ("+", new - old)):
                    for line in sorted(lines):
                        print(f"    {sign} {line}")
                print()
                differs |= old != new
        finally:
            subprocess.run((*worktree, "remove", "--force", str(before)), check=True)
    return int(differs)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: scripts/ecosystem.py BASE CHECKOUT...")
    sys.exit(main(*sys.argv[1:]))
