"""What programs and rule packs may build on: documented, typed, and importable as it stands.

These take seconds each.
"""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import nanolint

if TYPE_CHECKING:
    from typing_extensions import assert_type

    from nanolint.diagnostics import Diagnostic

    assert_type(nanolint.lint_text(""), tuple[Diagnostic, ...])
    assert_type(nanolint.fix_text("", unsafe=True), str)
    assert_type(nanolint.explain("", gpu="t4"), dict[str, Any])
    assert_type(nanolint.__version__, str)


def test_the_examples_of_the_package_hold() -> None:
    outcome = doctest.testmod(nanolint)
    assert outcome.attempted
    assert not outcome.failed
