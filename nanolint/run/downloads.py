"""Texts that scripts download and whose contents are known: tiny Shakespeare."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

# How the address ends that everybody takes it from; what is there has these characters, each at
# least once, and so many altogether.
SHAKESPEARE = "tinyshakespeare/input.txt"
CHARACTERS = "\n !$&',-.3:;?" + ascii_uppercase + ascii_lowercase
COUNT = 1_115_394
