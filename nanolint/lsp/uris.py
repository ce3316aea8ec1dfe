"""Addresses of documents."""

from __future__ import annotations

from pathlib import Path

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """The file behind an address; None for one that is not on this machine's disk."""
    if not uri.startswith("file:"):
        return None
    found = to_fs_path(uri)
    return None if found is None else Path(found)
