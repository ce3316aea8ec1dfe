"""A machine without a card, as for the other tests of commands."""

from __future__ import annotations

from tests.stories.cli.conftest import bare_machine

__all__ = ["bare_machine"]
