"""The errors that nanolint raises on purpose; each message is one line.

UserError                  a mistake that the user can mend: a command, a setting, an input
├── UsageError             in a command line                          (nanolint.cli.parser)
├── SettingsError          in a settings file or variable             (nanolint.settings)
├── NoChoice, NotEditable  in what an editor asked for                (nanolint.lsp)
├── Killed                 a process that was ended from outside      (nanolint.cli)
└── Refused                text that is not read
    ├── Unusable           a file that cannot be used
    ├── Unwritable         a file that was not replaced               (nanolint.files)
    ├── Undecodable        bytes that are no text                     (nanolint.source)
    ├── TooComplex         text past the bounds of what is parsed     (nanolint.source)
    └── Unparsable         text that is not valid Python              (nanolint.source)
"""

from __future__ import annotations


class UserError(Exception):
    """A mistake in a command line, a settings file or an input; its text is one line."""


class Refused(UserError):
    """Why a file or a text is not used, in a few words and without its name.

    Written behind the name: ``x.py: larger than 8 MiB``.
    """


class Unusable(Refused):
    """A file that cannot be read, or is not what it should be."""
