"""Replace a file's content whole or not at all; an interrupt waits while that is half done."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Refused, Unusable
from nanolint.files import door
from nanolint.files.door import read_bytes, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Unwritable(Refused):
    """A file that was not replaced, and why, in a few words."""


def replace(path: Path, new: bytes, *, expected: bytes, within: Path | None = None) -> None:
    """Make ``new`` the content of ``path``, provided that it is still ``expected``.

    Links are followed, but not out of the folder ``within`` if given; mode and owner are kept. A
    file of several names (hard links) is refused: a new one would take the place of one of them.
    Raises Unwritable, and then leaves the file as it was and nothing beside it.
    """
    real = Path(os.path.realpath(path))
    try:
        if within is not None and path.is_symlink() and not real.is_relative_to(within.resolve()):
            raise Unwritable(f"the link leads out of the project; name {real} itself")
        names = real.stat().st_nlink
        if names > 1:
            raise Unwritable(f"the file has {names} names (hard links) and would lose this one")
        if not os.access(real, os.W_OK):  # renaming over it would succeed all the same
            raise Unwritable("the file is read-only")
        with waiting():  # with a temporary file that only this code knows of
            temporary = _written_beside(real, new)
            try:
                if read_bytes(real) != expected:
                    raise Unwritable("the file changed while it was checked; run nanolint again")
                temporary.replace(real)
                door.forget(path)
                door.forget(real)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink()
                raise
            _sync_folder(real.parent)
    except Unusable as error:
        raise Unwritable(str(error)) from error
    except OSError as error:
        raise Unwritable(reason(error)) from error


def replace_all(changes: Sequence[tuple[Path, bytes, bytes]], within: Path | None = None) -> None:
    """Replace what each path holds now by what it is to hold: all of them, or none.

    Raises Unwritable, with the name of the file where there are several.
    """
    done: list[tuple[Path, bytes, bytes]] = []
    for path, expected, new in changes:
        try:
            replace(path, new, expected=expected, within=within)
        except Unwritable as error:
            for other, before, after in reversed(done):
                replace(other, before, expected=after, within=within)
            raise Unwritable(f"{path}: {error}" if len(changes) > 1 else str(error)) from error
        done.append((path, expected, new))


def _written_beside(real: Path, content: bytes) -> Path:
    """A synced temporary file with ``content`` and the mode and owner of ``real``."""
    import tempfile

    before = real.stat()
    descriptor, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tmp", dir=real.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only the owner's groups, or root, may
                os.chown(name, before.st_uid, before.st_gid)
        Path(name).chmod(stat.S_IMODE(before.st_mode))  # after chown, which clears setuid bits
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Keep SIGINT and SIGTERM waiting until the block has ended.

    Python hands signals to the main thread alone; in another nothing is to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)
