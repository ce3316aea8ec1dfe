"""``explain --plot``: a picture whose text tells the run, the limit and what fails.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.stories.cli.test_plot import texts

if TYPE_CHECKING:
    from pathlib import Path


def test_a_traced_run_is_drawn_from_its_tape(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from nanolint.gpus.lookup import find
    from nanolint.report.picture import draw, subject_of_tape
    from nanolint.trace.traced import read
    from nanolint.trace.verdict import TracedVerdict
    from tests.unit.trace.messages import message

    traced = read(message())
    for gpu, told in (("1GiB", "for PyTorch"), ("rtx-4090", "peak: ")):
        verdict = TracedVerdict(traced, find(gpu))
        draw(subject_of_tape(traced.tape, "python train.py", verdict), tmp_path / "traced.svg")
        picture = texts(str(tmp_path / "traced.svg"))
        assert "python train.py" in picture and told in picture
