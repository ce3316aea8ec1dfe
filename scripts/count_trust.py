"""Count how far the runs of public checkouts are trusted: the tables of docs/derivatives.md.

    python scripts/count_trust.py CHECKOUT... --json counts.json
    python scripts/count_trust.py --merge a.json b.json --json counts.json

Each checkout is a folder and is asked about by one process, `check --output-format json-full .`;
nothing in it is changed. Every run has its trust and its first doubt or reason. A checkout that
takes longer than the limit (in seconds of the processor) is reported as such, and has no runs.
With ``--only`` the JSON keeps what it says of all other checkouts. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

TRUSTED = ("exact", "read", "traced")
TRUSTS = (*TRUSTED, "doubted", "unknown")
PLACE = re.compile(r" \(\S+:\d+\)$")
SHOWN = 200  # characters of a reason in the table
CHECK = ("-m", "nanolint", "check", "--isolated", "--output-format", "json-full")

Counted = dict[str, Any]


def count(checkout: Path, gpu: str, limit: int) -> Counted:
    """What nanolint says of the runs of one checkout, and the seconds of the processor it took."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    found: Counted = {"repository": checkout.name.replace("+", "/", 1), "commit": _commit(checkout)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *CHECK, "--gpu", gpu, "."],
        cwd=checkout,
        env={**os.environ, "COLUMNS": "400"},
        preexec_fn=bound,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found["seconds"] = round(taken, 1)
    if done.returncode not in (0, 1):
        late = taken >= limit - 1
        found["stopped"] = f"over {limit} s" if late else done.stderr.strip()[-400:]
        return {**found, "runs": []}
    runs = json.loads(done.stdout)["runs"]
    return {**found, "runs": [_run(each) for each in runs]}


def _run(said: dict[str, Any]) -> dict[str, Any]:
    reasons = said["doubts"] or [""]
    return {
        "file": said["file"],
        "trust": said["trust"],
        "bytes": said["process_bytes"],
        "reason": " ".join(reasons[0].split()),
    }


def _commit(checkout: Path) -> str:
    for name in (".commit", "COMMIT"):
        if (checkout / name).is_file():
            return (checkout / name).read_text().split()[0][:7]
    return "–"


def table(counted: list[Counted]) -> str:
    """All of it as Markdown: the sum, a row per repository, and the reasons by number of runs."""
    rows = [f"| repository | commit | {' | '.join(TRUSTS)} | s | |", "|---|---|" + "---|" * 7]
    total: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for each in counted:
        trusts = Counter(run["trust"] for run in each["runs"])
        total += trusts
        for run in each["runs"]:
            if run["trust"] not in TRUSTED:
                reasons[run["trust"], PLACE.sub("", run["reason"])[:SHOWN]] += 1
        cells = [str(trusts[trust] or "") for trust in TRUSTS]
        stopped = each.get("stopped", "" if each["runs"] else "no run")
        named = f"{each['repository']} | {each['commit']}"
        rows.append(f"| {named} | {' | '.join(cells)} | {each['seconds']} | {stopped} |")
    trusted = sum(total[trust] for trust in TRUSTED)
    judged = trusted + total["doubted"]
    rows += ["", f"{len(counted)} checkouts, {judged + total['unknown']} runs: {_told(total)}."]
    if judged:
        rows.append(
            f"Not doubted: {trusted} of the {judged} with a verdict ({trusted / judged:.0%})."
        )
    rows += ["", "| trust | first doubt or reason | runs |", "|---|---|---|"]
    for (trust, reason), number in reasons.most_common():
        rows.append(f"| {trust} | {reason.replace('|', '/')} | {number} |")
    return "\n".join(rows)


def _told(total: Counter[str]) -> str:
    return ", ".join(f"{trust} {total[trust]}" for trust in TRUSTS if total[trust])


def main(argv: list[str] | None = None) -> int:
    """Count each checkout, or merge what was counted, and print the tables."""
    parser = argparse.ArgumentParser(description="Count how far runs of checkouts are trusted")
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--gpu", default="rtx-4070")
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor for each")
    parser.add_argument("--json", type=Path, help="where the counts are kept")
    parser.add_argument("--only", action="store_true", help="keep the others that it has")
    parser.add_argument("--merge", nargs="+", type=Path, default=[], help="counts to put together")
    arguments = parser.parse_args(argv)
    kept: dict[str, Counted] = {}
    if arguments.only and arguments.json.is_file():
        arguments.merge.insert(0, arguments.json)
    for each in arguments.merge:
        kept.update({one["repository"]: one for one in json.loads(each.read_text())})
    for checkout in arguments.checkouts:
        one = count(checkout, arguments.gpu, arguments.limit)
        kept[one["repository"]] = one
        print(f"{one['repository']}: {one['seconds']} s", file=sys.stderr, flush=True)
        if arguments.json:
            ordered = sorted(kept.values(), key=lambda each: each["repository"].lower())
            arguments.json.write_text(json.dumps(ordered, indent=1) + "\n")
    counted = sorted(kept.values(), key=lambda each: each["repository"].lower())
    if arguments.json:
        arguments.json.write_text(json.dumps(counted, indent=1) + "\n")
    print(table(counted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
