"""A value is pointed at where it stands: in train.py, on the launch line, on the command line.

These take seconds each.
"""

from __future__ import annotations

from tests.stories.cli.test_places import project
from tests.support.command import nanolint


def test_a_value_of_the_command_line_is_underlined_there() -> None:
    outcome = nanolint("--gpu=rtx-3060-12gb", "--", "config/a.py", "--batch_size=512")
    shown = "--> the command line, for config/a.py\n   |\n   | --batch_size=512\n   | ^^^^"
    assert shown in outcome.out
    assert "help: --batch_size=" in outcome.out, "what to pass instead"


__all__ = ["project"]  # fixtures
