"""The first look at public runs: what nanolint says of each launch line of ``first_look.toml``.

    python -m validation.first_look CHECKOUTS

``CHECKOUTS`` has a folder ``owner/name`` for each repository at its commit, without data. The
table goes to stdout, a line for each run to stderr. Each is judged for an RTX 4090, cold.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = ("sure", "an error", "in doubt", "not checked", "no run")
SECONDS = 300
SHELL = "sh "  # of a shell file, which is checked itself


def outcome(folder: Path, line: str) -> tuple[str, str]:
    """The kind of what is said of a launch line, and its words."""
    command = [sys.executable, "-m", "nanolint", "check", "--gpu", "rtx-4090", "--isolated"]
    command += ["--output-format", "json-full"]
    command += [line.removeprefix(SHELL)] if line.startswith(SHELL) else ["--", *shlex.split(line)]
    environment = {**os.environ, "NANOLINT_CACHE": ""}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "not checked", "it takes too long"
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return "not checked", done.stderr.strip()
    why = str(found["next"]["why"])
    trusts = [each["trust"] for each in found["runs"]]
    if "the run stops" in why or "no flag" in why:
        return "an error", why
    if trusts and set(trusts) <= {"read", "traced", "exact"}:
        return "sure", why
    if "doubted" in trusts:
        return "in doubt", why
    return ("not checked" if trusts else "no run"), why


def main(checkouts: Path) -> None:
    """Prints the table."""
    text = (Path(__file__).parent / "first_look.toml").read_text(encoding="utf-8")
    every: Counter[str] = Counter()
    print("| style | repositories | runs |", " | ".join(KINDS), "|")
    print("|---" * (len(KINDS) + 3) + "|")
    for style, repositories in tomllib.loads(text).items():
        counts: Counter[str] = Counter()
        for each in repositories:
            for run in each["runs"]:
                folder = checkouts / each["repository"] / run["folder"]
                kind, why = outcome(folder, run["line"])
                counts[kind] += 1
                print(f"{each['repository']}: {kind}: {why}", file=sys.stderr)
        every += counts
        cells = (counts.total(), *(counts[kind] for kind in KINDS))
        print("|", " | ".join(map(str, (style, len(repositories), *cells))), "|", flush=True)
    print("| all | |", " | ".join(map(str, (every.total(), *(every[k] for k in KINDS)))), "|")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
