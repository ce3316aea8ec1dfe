"""Read every stored version of public training scripts, and prove each fix of every one.

``survey_trainers.py MIRRORS RECORD`` takes the repositories of ``judge_trainers.py``, reads each
different version of each script on any branch or pull request, for one process and for eight, and
appends a JSON object a version to RECORD: what was read, what was not and why, what each fix keeps,
and the last line of an error where nanolint has one. Versions that stand in RECORD are not read
again. ``--table`` and ``--fixes`` print validation/trainers.md's tables of a RECORD.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from judge_trainers import ROLES, checkout, git_of, read, versions  # noqa: E402
from prove_trainer_fixes import WORLDS, proven  # noqa: E402

SCRIPTS = (
    ("karpathy/build-nanogpt", "train_gpt2.py"),
    ("karpathy/nanochat", "scripts/base_train.py"),
    ("karpathy/nanochat", "scripts/mid_train.py"),
    ("karpathy/nanochat", "scripts/chat_sft.py"),
    ("karpathy/llm.c", "train_gpt2.py"),
    ("karpathy/llama2.c", "train.py"),
    ("KellerJordan/modded-nanogpt", "train_gpt2.py"),
    ("karpathy/autoresearch", "train.py"),
)


def main() -> None:
    """Read what is not in the record yet, or print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("record", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT", help="of owner/name:script")
    parser.add_argument("--table", action="store_true", help="print the table of the record")
    parser.add_argument("--fixes", action="store_true", help="print what the fixes keep")
    options = parser.parse_args()
    rows = read_record(options.record)
    if options.table or options.fixes:
        stored = {
            each: len(versions(git_of(options.mirrors, each[0]), each[1])) for each in SCRIPTS
        }
        print(table(rows, stored) if options.table else fixes_table(rows))
        return
    done = {(row["repository"], row["script"], row["commit"]) for row in rows}
    left = [
        (commit, repository, script)
        for repository, script in SCRIPTS
        if options.only in f"{repository}:{script}"
        for commit in versions(git_of(options.mirrors, repository), script)
        if (repository, script, commit) not in done
    ]
    with options.record.open("a", encoding="utf-8") as record:
        for commit, repository, script in sorted(left):  # of all scripts by turns
            row = surveyed(options.mirrors, repository, script, commit)
            print(json.dumps(row), file=record, flush=True)


def surveyed(mirrors: Path, repository: str, script: str, commit: str) -> dict[str, Any]:
    """What comes of one version."""
    row: dict[str, Any] = {"repository": repository, "script": script, "commit": commit}
    git = git_of(mirrors, repository)
    started = time.process_time()
    try:
        with checkout(git, commit, script) as path:
            for world in WORLDS:
                found = read(path, world)
                if world != WORLDS[0] and (found is None or found.equation is None):
                    break  # there is nothing to fix
                row[f"world {world}"] = {
                    "python": found is not None,
                    "values": {
                        name: found.value(role) if found is not None else None
                        for name, role in ROLES.items()
                    },
                    "missing": [
                        [str(role), str(reason)]
                        for role, reason in (found.missing if found is not None else ())
                    ],
                    "fixes": Counter(proven(git, commit, script, world, found)),
                }
    except Exception:
        row["crash"] = traceback.format_exc()
    row["seconds"] = round(time.process_time() - started, 2)
    return row


def read_record(path: Path) -> list[dict[str, Any]]:
    """The rows so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def fixes_table(rows: list[dict[str, Any]]) -> str:
    """A row for each script and number of processes: what comes of the fixes."""
    lines = [
        "| script | processes | versions | fixes that keep the step | others |",
        "|---|---|---|---|---|",
    ]
    for repository, script in SCRIPTS:
        here = [row for row in rows if (row["repository"], row["script"]) == (repository, script)]
        for world in WORLDS:
            outcomes: Counter[str] = Counter()
            for row in here:
                outcomes.update(row.get(f"world {world}", {}).get("fixes", {}))
            read_for = sum(f"world {world}" in row for row in here)
            kept = outcomes.pop("kept", 0)
            told = ", ".join(f"{each}: {times}" for each, times in outcomes.most_common())
            lines.append(f"| {repository}:{script} | {world} | {read_for} | {kept:,} | {told} |")
    return "\n".join(lines)


def table(rows: list[dict[str, Any]], stored: dict[tuple[str, str], int]) -> str:
    """A row for each script: versions, crashes, values, fixes."""
    lines = [
        "| script | versions read, of | crashes | all three values | two | one | none | no Python "
        "| fixes that keep the step | that do not |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for repository, script in SCRIPTS:
        here = [row for row in rows if (row["repository"], row["script"]) == (repository, script)]
        known = Counter(_known(row) for row in here if "crash" not in row)
        fixes: Counter[str] = Counter()
        for row in here:
            for world in WORLDS:
                fixes.update(row.get(f"world {world}", {}).get("fixes", {}))
        wrong = sum(times for each, times in fixes.items() if each.startswith("WRONG"))
        cells = [
            f"{repository}:{script}",
            f"{len(here)} of {stored[repository, script]:,}",
            sum("crash" in row for row in here),
            *(known[each] for each in (3, 2, 1, 0, None)),
            fixes["kept"],
            wrong,
        ]
        shown = (f"{each:,}" if isinstance(each, int) else each for each in cells)
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def _known(row: dict[str, Any]) -> int | None:
    """How many of the three values are known for one process, None of a text that is no Python."""
    found = row[f"world {WORLDS[0]}"]
    if not found["python"]:
        return None
    return sum(value is not None for value in found["values"].values())


if __name__ == "__main__":
    main()
