"""What cannot be said of a tensor: what its values decide, and what is not modelled."""

from __future__ import annotations


class DataDependent(Exception):
    """An operation whose result's shape follows from values; its text is the operation."""


class NotModelled(Exception):
    """An operation whose memory is not known; its text is the operation."""
