"""For programs: what to do next, the findings, every run that was judged. A test pins the shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.report.json import as_list
from nanolint.report.next_step import next_step

if TYPE_CHECKING:
    from nanolint.linting.judged import JudgedRun
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results


def render(results: Results, printer: Printer) -> None:
    """Write one JSON object: ``next``, ``findings`` as in ``json``, ``runs``, one for each card."""
    runs = [_run(run, file) for file in results.files for run in file.runs]
    answer = {"next": next_step(results), "findings": as_list(results), "runs": runs}
    printer.stream.write(json.dumps(answer, indent=2) + "\n")


def _run(run: JudgedRun, file: FileResult) -> dict[str, Any]:
    return {
        "file": file.name,
        "launch": file.launch,
        "gpu": run.gpu,
        "fits": run.fits,
        "trust": run.trust,
        "doubts": list(run.doubts),
        "left_open": list(run.left_open),
        "process_bytes": run.process_bytes,
        "usable_bytes": run.usable_bytes,
    }
