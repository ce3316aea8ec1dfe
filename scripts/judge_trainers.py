"""Compare what nanolint finds in public training scripts with what a person read in them.

``judge_trainers.py MIRRORS`` takes a folder of git repositories, ``karpathy+nanochat/repo`` for
karpathy/nanochat, and prints a table of validation/trainers.md. ``--all N`` reads up to N versions
of each script instead, and counts those for which an equation is found; a crash ends it.
``--blind`` takes the scripts that were read before nanolint had seen them; ``--unseen`` others that
nobody had; ``--popular`` those of trainers and courses that many people use; ``--second`` others of
those, which were read after all of these.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from nanolint.files.notes import forget  # noqa: E402
from nanolint.run.described import Role  # noqa: E402
from nanolint.run.settled import Options  # noqa: E402
from nanolint.run.terms import describe  # noqa: E402
from nanolint.trainers.script import resolve  # noqa: E402
from nanolint.trainers.script.surroundings import around_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.described import Described

READ = ROOT / "validation" / "trainers_read.json"
BLIND = ROOT / "validation" / "trainers_blind.json"
UNSEEN = ROOT / "validation" / "trainers_unseen.json"
POPULAR = ROOT / "validation" / "trainers_popular.json"
SECOND = ROOT / "validation" / "trainers_second.json"
ROLES = {
    "micro_batch": Role.MICRO_BATCH,
    "context": Role.CONTEXT,
    "accumulation": Role.ACCUMULATION,
}
KINDS = (".py", ".yaml", ".yml", ".json", ".toml")  # of files that a script is read with
LONGEST = 60  # characters of an equation


def main() -> None:
    """Print the table, or the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--all", type=int, metavar="N")
    parser.add_argument("--blind", action="store_true", help="the scripts that were read before")
    parser.add_argument("--unseen", action="store_true", help="others that nobody had seen")
    parser.add_argument("--popular", action="store_true", help="those that many people use")
    parser.add_argument("--second", action="store_true", help="others that many people use")
    options = parser.parse_args()
    others = {
        BLIND: options.blind,
        UNSEEN: options.unseen,
        POPULAR: options.popular,
        SECOND: options.second,
    }
    chosen = next((each for each, is_asked in others.items() if is_asked), READ)
    rows = json.loads(chosen.read_text("utf-8"))
    if options.all:
        count(options.mirrors, rows, options.all)
    else:
        print("\n".join(table(options.mirrors, rows)))


def table(mirrors: Path, rows: list[dict[str, Any]]) -> Iterator[str]:
    """The rows, each with what was read and what was found where that differs."""
    outcomes: Counter[str] = Counter()
    lines = []
    for row in rows:
        found = described(git_of(mirrors, row["repository"]), row["commit"], row["script"])
        cells = []
        for name, role in ROLES.items():
            value = None if found is None else found.value(role)
            cells.append(cell(row[name], value, outcomes))
        equation = found.equation if found is not None else None
        text = "" if equation is None else describe(equation.passes)
        text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
        where = f"{row['repository']}@{row['commit']}:{row['script']}"
        lines.append(f"| {where} | {' | '.join(cells)} | {f'`{text}`' if text else ''} |")
    yield f"| of {len(rows)} scripts, {3 * len(rows)} values | |"
    yield "|---|---|"
    for name in ("as read", "not known, as read", "not found", "wrong"):
        yield f"| {name} | {outcomes[name]} |"
    yield ""
    yield "| script | micro-batch | context | accumulation | passes |"
    yield "|---|---|---|---|---|"
    yield from lines


def cell(read: int | None, found: object, outcomes: Counter[str]) -> str:
    """One value: ``32``, ``?`` where only a run tells, ``4 (found: ?)`` where they differ."""
    if read == found:
        outcomes["as read" if read is not None else "not known, as read"] += 1
        return "?" if read is None else str(read)
    outcomes["not found" if found is None else "wrong"] += 1
    return f"{'?' if read is None else read} (found: {'?' if found is None else found})"


def count(mirrors: Path, rows: list[dict[str, Any]], most: int) -> None:
    """How many of all stored versions of each script are read, and to what."""
    for repository, script in dict.fromkeys((row["repository"], row["script"]) for row in rows):
        outcomes: Counter[str] = Counter()
        for commit in versions(git_of(mirrors, repository), script)[:most]:
            found = described(git_of(mirrors, repository), commit, script)
            if found is None:
                outcomes["no valid Python"] += 1
            elif found.equation is not None:
                outcomes["equation"] += 1
            else:
                named = {role for role, _ in found.missing}
                known = {role for role in ROLES.values() if role not in named}
                outcomes[f"{len(known)} of 3 values" if known else "no training loop"] += 1
        told = ", ".join(f"{each}: {times}" for each, times in outcomes.most_common())
        print(f"| {repository} | {script} | {sum(outcomes.values())} | {told} |", flush=True)


def versions(repository: Path, script: str) -> list[str]:
    """Commits, on any branch, with versions of a script that are all different."""
    log = git(
        repository, "log", "--all", "--format=commit %H", "--raw", "--no-abbrev", "--", script
    )
    commit, found = "", {}
    for line in log.splitlines():
        if line.startswith("commit "):
            commit = line.split()[1]
        elif line.startswith(":") and set(line.split()[3]) != {"0"}:
            found.setdefault(line.split()[3], commit)
    return sorted(found.values())


def described(
    repository: Path, commit: str, script: str, world: int | None = None
) -> Described | None:
    """What nanolint finds in a script of a commit, with the modules beside it."""
    with checkout(repository, commit, script) as path:
        return read(path, world)


@contextmanager
def checkout(repository: Path, commit: str, script: str) -> Iterator[Path]:
    """A script of a commit on disk, with the modules and settings beside it, for a while."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in stored(repository, commit):
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (Path(folder) / ".git").mkdir(exist_ok=True)
        path = Path(folder) / script
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(git(repository, "show", f"{commit}:{script}"), encoding="utf-8")
        forget()
        yield path


def stored(repository: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """The files of a commit that a script is read with, but those that the repository lacks."""
    names = {}
    for line in git(repository, "ls-tree", "-r", commit).splitlines():
        about, _, name = line.partition("\t")
        _, kind, blob = about.split()
        if kind == "blob" and name.endswith(KINDS):
            names[name] = blob
    asked = "\n".join(names.values()).encode()
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    answers = io.BytesIO(subprocess.run(command, input=asked, capture_output=True).stdout)
    for name in names:
        *_, size = answers.readline().split()  # or "missing"
        if size.isdigit():
            yield name, answers.read(int(size))
            answers.read(1)


def read(path: Path, world: int | None = None) -> Described | None:
    """What nanolint finds in a script, for so many processes."""
    text = path.read_text("utf-8", errors="replace")
    around = around_of(path, Options(world_size=world), None, world or 1)
    return resolve.described(path, text, around)


def git_of(mirrors: Path, repository: str) -> Path:
    """Where the git directory of ``owner/name`` is."""
    return mirrors / repository.replace("/", "+") / "repo"


def git(repository: Path, *arguments: str) -> str:
    """The output of a git command."""
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stdout.decode("utf-8", errors="replace")


if __name__ == "__main__":
    main()
