"""Count what nanolint finds in checkouts, by rule: the table of validation/false-positives.md.

    python scripts/count_findings.py CHECKOUT...

Each checkout is one repository. Which findings are false is for a person to say: with ``--list``
every error and warning is printed, to be read beside the code.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from nanolint.cli.main import main as nanolint


def findings(checkout: Path, options: list[str]) -> list[dict[str, Any]]:
    """Everything that nanolint says of the files of one repository."""
    out = io.StringIO()
    nanolint(
        ["--isolated", "--output-format", "json", *options, str(checkout)],
        stdout=out,
        stderr=io.StringIO(),
    )
    found: list[dict[str, Any]] = json.loads(out.getvalue())
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the table; with ``--list`` the findings as well."""
    parser = argparse.ArgumentParser(description="Count findings by rule")
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--gpu", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args(argv)
    options = [f"--gpu={name}" for name in arguments.gpu]
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    files: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    repositories: dict[tuple[str, str, str], set[Path]] = defaultdict(set)
    for checkout in arguments.checkouts:
        for finding in findings(checkout, options):
            rule = (finding["code"], finding["name"], finding["severity"])
            counts[rule] += 1
            files[rule].add(finding["filename"])
            repositories[rule].add(checkout)
            if arguments.list and finding["severity"] != "info":
                place = f"{finding['filename']}:{finding['location']['row']}"
                print(f"{place}: {finding['code']} {finding['message']}")
    print("| rule | severity | findings | files | repositories |\n|---|---|---|---|---|")
    for rule, count in sorted(counts.items()):
        code, name, severity = rule
        where = f"{len(files[rule])} | {len(repositories[rule])}"
        print(f"| {code} {name} | {severity} | {count} | {where} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
