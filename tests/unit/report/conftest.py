"""One result with everything in it that a format has to show."""

from __future__ import annotations

import pytest

from nanolint.diagnostics import Diagnostic, Edit, Fix, Related, Safety, Severity, Span
from nanolint.report.results import FileResult, Results

TEXT = "# 124M\nbatch_size = 64\nblock_size = 1024\n\ngradient_accumulation_steps = 5 * 8\n"


def span(part: str, text: str = TEXT) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


@pytest.fixture
def oom() -> Diagnostic:
    batch, factor = span("64"), span("5 *")
    return Diagnostic(
        code="NL102",
        name="oversized-logits",
        severity=Severity.ERROR,
        message="batch_size = 64 runs RTX 3060 12GB out of memory",
        span=span("batch_size = 64"),
        gpu="RTX 3060 12GB",
        fix=Fix(
            "Set batch_size = 8 and gradient_accumulation_steps = 320",
            Safety.SAFE,
            (
                Edit(batch.start, batch.end, "8"),
                Edit(factor.start, factor.start + 1, "40"),
            ),
        ),
        notes=("Tried to allocate 6.14 GiB.",),
        related=(Related(span("gradient_accumulation_steps = 5 * 8"), "feeds this"),),
        trust="exact",
    )


@pytest.fixture
def results(oom: Diagnostic) -> Results:
    return Results([FileResult("config/a.py", TEXT, (oom,))])
