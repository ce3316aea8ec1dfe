"""A picture of one step: live memory over its events, by component, under the limit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from nanolint.report.picture import DOTS_PER_INCH, SIZE, STYLE, Picture

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.report.plot_subject import Subject


def draw(subject: Subject, path: Path) -> None:
    """Draw ``subject`` into ``path``, as SVG or PNG by its suffix. Raises OSError."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file's name may hold characters that no font has
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        Picture(figure.add_subplot(), subject).draw()
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)
