"""Where rules about training scripts speak in stored versions of public ones: to be read by people.

``find_findings.py MIRRORS CODE`` takes the repositories of ``survey_trainers.py`` and the newest
version of every other script that goes backward, and prints each different finding of the rule,
once for each repository and line of source, with the first commit that has it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from judge_trainers import checkout, git, git_of, versions  # noqa: E402
from survey_trainers import SCRIPTS  # noqa: E402

from nanolint.cli.configuration import Configuration  # noqa: E402
from nanolint.cli.launch import read_sets  # noqa: E402
from nanolint.cli.options import check_parser  # noqa: E402
from nanolint.cli.streams import Streams  # noqa: E402
from nanolint.linting.engine import lint  # noqa: E402
from nanolint.source.text import LineIndex, decode  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAMS = Streams(sys.stdin, sys.stdout, sys.stderr)
# What a text has that the rule can speak of.
MAY_SPEAK = {
    "NL413": re.compile(r"(?s)(?=.*autocast).*(rms_norm|RMSNorm)"),
    "NL414": re.compile(r"\.backward\("),
    "NL415": re.compile(r"(?s)(?=.*\.backward\().*%.*[=!]= *0"),
    "NL416": re.compile(r"(?s)(?=.*window).*scaled_dot_product_attention"),
    "NL417": re.compile(r"(?s)(?=.*\.backward\().*//"),
    "NL418": re.compile(r"require_backward_grad_sync *="),
}
# The lines of a version that decide what the rule says of it.
LOOKS_AT = {
    "NL413": re.compile(r"autocast|rms_norm|RMSNorm|bfloat16\("),
    "NL414": re.compile(r"(?i)depth|n_layer|n_embd|aspect|vocab_size"),
    "NL415": re.compile(r"(?i)batch|accum|^B\b|^T\b|% "),
    "NL416": re.compile(r"(?i)window|scaled_dot_product_attention"),
    "NL417": re.compile(r"(?i)batch|accum|^B\b|^T\b|//"),
    "NL418": re.compile(r"require_backward_grad_sync|\.backward\(|model\("),
}
MOST_SCRIPTS = 20  # of a repository


def main() -> None:
    """Print the findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("code", choices=MAY_SPEAK)
    parser.add_argument("--gpu", default="rtx-4090")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--most", type=int, default=40, help="versions of a script that are checked"
    )
    parser.add_argument("--torch", help="judge for this release, whatever the project has")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--commit", help="of the script that --only names, and no other")
    parser.add_argument("--only", default="", metavar="TEXT", help="of owner/name:script")
    options = parser.parse_args()
    for repository, script, found in texts(options):
        commits = found if options.commit is None else [options.commit]
        seen: set[str] = set()
        alike: dict[str, str] = {}  # versions by what the rule looks at, one of each
        for commit, text in contents(git_of(options.mirrors, repository), script, commits):
            if MAY_SPEAK[options.code].search(text):
                lines = (each.strip() for each in text.splitlines())
                alike.setdefault("\n".join(filter(LOOKS_AT[options.code].search, lines)), commit)
        checked = list(alike.values())[: options.most]
        for commit in checked:
            for row, line, message in findings(options, repository, commit, script):
                if line not in seen:
                    seen.add(line)
                    print(
                        f"{repository}@{commit[:9]}:{script}:{row}\t{line}\t{message}", flush=True
                    )
        if checked:
            told = f"{len(checked)} of {len(alike)} that differ, of {len(commits)} versions"
            print(f"{repository}:{script}: {told}", flush=True)


def texts(options: argparse.Namespace) -> Iterator[tuple[str, str, list[str]]]:
    """Repositories and scripts, each with its commits: the sample's, then all others' newest."""
    named = dict.fromkeys(repository for repository, _ in SCRIPTS)
    for repository, script in SCRIPTS:
        if options.only in f"{repository}:{script}":
            yield repository, script, versions(git_of(options.mirrors, repository), script)
    for folder in sorted(options.mirrors.glob("*/repo")):
        repository = folder.parent.name.replace("+", "/", 1)
        if repository in named or options.only not in repository:
            continue
        grep = ["grep", "-l", "-F", ".backward(", "HEAD", "--", "*.py"]
        try:
            found = git(folder, *grep).splitlines()
        except Exception:
            continue  # none, or no branch
        for each in found[:MOST_SCRIPTS]:
            yield repository, each.removeprefix("HEAD:"), ["HEAD"]


def contents(repository: Path, script: str, commits: list[str]) -> Iterator[tuple[str, str]]:
    """Commits with their texts of a script, by one process of git."""
    asked = "".join(f"{commit}:{script}\n" for commit in commits).encode()
    batch = ["git", "-C", str(repository), "cat-file", "--batch"]
    told = subprocess.run(batch, input=asked, capture_output=True, check=True).stdout
    at = 0
    for commit in commits:
        end = told.index(b"\n", at)
        size = told[at:end].split()[-1]
        at = end + 1
        if size.isdigit():
            yield commit, told[at : at + int(size)].decode(errors="replace")
            at += int(size) + 1


def findings(
    options: argparse.Namespace, repository: str, commit: str, script: str
) -> Iterator[tuple[int, str, str]]:
    """Row, line of source and message of each finding in a version."""
    with checkout(git_of(options.mirrors, repository), commit, script) as path:
        words = [str(path), "--isolated", "--select", options.code]
        words += ["--gpu", f"{options.processes}x{options.gpu}"]
        words += ["--torch-version", options.torch] if options.torch else []
        words += [word for each in options.set for word in ("--set", each)]
        given = check_parser("nanolint", "", "").parse(words, STREAMS)
        plan = Configuration(given, read_sets(given.set)).plan_of(path.parent)
        text = decode(path.read_bytes()).text
        lines = LineIndex(text)
        for each in lint(text, path, plan.setup(path), explicit=True).diagnostics:
            row, _ = lines.position(each.span.start)
            yield row, lines.line(row).strip(), each.line


if __name__ == "__main__":
    main()
