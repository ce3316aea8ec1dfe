"""Known findings: written down once, so that from then on only new ones count."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.errors import Unusable
from nanolint.files.door import read_bytes, reason
from nanolint.files.repository import place_below
from nanolint.report.results import fingerprints

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.report.results import FileResult, Results

VERSION = 1  # another number when fingerprints are made in another way


def write_baseline(path: Path, results: Results) -> None:
    """Write the findings of ``results`` to ``path``; raises UsageError."""
    known: dict[str, dict[str, list[str]]] = {}
    for file in results.files:
        for diagnostic, fingerprint in zip(file.diagnostics, fingerprints(file), strict=True):
            found = known.setdefault(_place(file.name, path), {}).setdefault(diagnostic.code, [])
            if fingerprint not in found:  # one config may be judged for several launches
                found.append(fingerprint)
    for rules in known.values():
        for found in rules.values():
            found.sort()
    text = json.dumps({"version": VERSION, "findings": known}, indent=2, sort_keys=True)
    try:
        path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"--write-baseline: {path}: {reason(error)}") from error


def without_known(results: Results, path: Path) -> Results:
    """``results`` without the findings that stand in ``path``; raises UsageError."""
    known = _read(path)
    files = [
        _without(file, known.get(_place(file.name, path), frozenset())) for file in results.files
    ]
    left_out = sum(len(file.diagnostics) for file in results.files)
    left_out -= sum(len(file.diagnostics) for file in files)
    return replace(results, files=files, known=left_out)


def _without(file: FileResult, known: frozenset[str]) -> FileResult:
    new = tuple(
        diagnostic
        for diagnostic, fingerprint in zip(file.diagnostics, fingerprints(file), strict=True)
        if fingerprint not in known
    )
    return replace(file, diagnostics=new)


def _place(name: str, baseline: Path) -> str:
    """The file's name as seen from the baseline's folder, whatever the working folder."""
    return place_below(name, baseline.parent)


def _read(path: Path) -> dict[str, frozenset[str]]:
    """The fingerprints by the name of their file."""
    try:
        content = json.loads(read_bytes(path))
        version, findings = content["version"], content["findings"]
        if version != VERSION:
            raise UsageError(
                f"--baseline: {path}: another version of nanolint wrote it; write it again with "
                f"--write-baseline"
            )
        return {
            name: frozenset(each for found in rules.values() for each in found)
            for name, rules in findings.items()
        }
    except Unusable as error:
        raise UsageError(f"--baseline: {path}: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"--baseline: {path}: not a baseline of nanolint") from error
