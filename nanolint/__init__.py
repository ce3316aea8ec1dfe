"""nanolint: a linter and fixer for nanoGPT-style training configs.

    >>> import nanolint
    >>> sizes = "block_size = 1024\\nn_layer = 12\\nn_head = 12\\nn_embd = 768\\n"
    >>> config = sizes + "batch_size = 16\\ngradient_accumulation_steps = 32\\n"
    >>> [finding.code for finding in nanolint.lint_text(config, gpu="rtx-3060")]
    ['NL102']
    >>> nanolint.fix_text(config, gpu="rtx-3060").removeprefix(sizes)
    'batch_size = 8\\ngradient_accumulation_steps = 64\\n'
    >>> nanolint.explain(config, gpu="rtx-3060")["fits"]
    False

Nothing is executed and nothing is written. ``path`` says where a text stands, whether or not there
is such a file: the project and the settings around it count. Without it there are neither, and
nanoGPT's own defaults stand in for what the text does not set: where that is a size, the run is in
doubt.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from nanolint.diagnostics import Diagnostic

__all__ = ["__version__", "explain", "fix_text", "lint_text"]

__version__ = "0.1.0"


def lint_text(
    text: str, *, path: str | PathLike[str] | None = None, gpu: str | None = None
) -> tuple[Diagnostic, ...]:
    """What is found in ``text``, in the order of the text.

    ``gpu`` is a card as on the command line (``"rtx-4070"``, ``"8xA100-40GB"``, ``"12GB"``).
    Raises nanolint.errors.UserError for a card or settings that cannot be used.
    """
    from nanolint.linting.texts import lint_text as lint

    return lint(text, path, gpu)


def fix_text(
    text: str,
    *,
    path: str | PathLike[str] | None = None,
    gpu: str | None = None,
    unsafe: bool = False,
) -> str:
    """``text`` with all safe fixes applied; with ``unsafe`` also those that change the run.

    Raises as ``lint_text``.
    """
    from nanolint.linting.texts import fix_text as fix

    return fix(text, path, gpu, unsafe=unsafe)


def explain(
    text: str, *, path: str | PathLike[str] | None = None, gpu: str | None = None
) -> dict[str, Any]:
    """Where the memory of the run goes: the object that ``nanolint explain --format json`` prints.

    Sizes are bytes. Raises nanolint.errors.UserError also where ``text`` holds no run, and for
    more than one card.
    """
    from nanolint.report.explanation import explain_text

    return explain_text(text, path, gpu)
