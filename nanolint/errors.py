"""What the user can mend."""

from __future__ import annotations


class UserError(Exception):
    """A mistake in a command line, a settings file or an input; its text is one line."""
