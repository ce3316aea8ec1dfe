"""``cached_property`` for which nobody waits.

Before Python 3.12, that of the standard library works out one value at a time, of whatever object
(https://github.com/python/cpython/issues/87634): a thread that reads a model has all others wait
that ask for the same property of another one. Here two threads may work out one value twice.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """That of the standard library without its lock."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
