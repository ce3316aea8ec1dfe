"""What commands answered before, kept in a folder: one small file for each.

A file holds plain text under its own digest. What is torn, planted by somebody else or written by
another version is no answer; nothing in a file is ever executed. A folder that cannot be written
keeps nothing, and nobody is told.
"""

# A cached answer is to come at once, so this module works without pathlib and contextlib.
from __future__ import annotations

import os
from itertools import groupby

from nanolint.disk import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.disk import Reads

FORMAT = "nanolint answer 1"
MOST_FILES = 256
MOST_BYTES = 8 << 20  # of one answer
UNFINISHED = ".tmp"  # where a process was killed while it wrote
HEXADECIMAL = frozenset("0123456789abcdef")

TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This directory was made by nanolint; see https://bford.info/cachedir/
"""


class Answer:
    """What a command wrote, to which stream, in order; its exit status; and what it had read."""

    def __init__(self, status: int, told: Sequence[tuple[str, str]], reads: Reads) -> None:
        self.status = status
        self.told = told
        self.reads = reads


class Answers:
    """The folder. Makes itself when there is something to keep."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def get(self, key: str) -> Answer | None:
        """The answer that was kept under ``key``, if it is whole and our own."""
        try:
            with open(os.path.join(self._folder, key), "rb") as file:
                if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                    return None
                seal, _, content = file.read(MOST_BYTES + 100).partition(b"\n")
            if seal != _seal(key, content):
                return None
            return _unpacked(content)
        except (OSError, ValueError, IndexError):
            return None

    def prepare(self) -> None:
        """Make the folder, before anything looks at what is around it."""
        try:
            if os.path.isdir(self._folder):
                return
            os.makedirs(self._folder)
            for name, text in (("CACHEDIR.TAG", TAG), (".gitignore", "*\n")):
                with open(os.path.join(self._folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
        except OSError:
            pass

    def put(self, key: str, answer: Answer) -> None:
        """Keep ``answer``. Whoever reads meanwhile sees the old file or the new one, whole."""
        content = _packed(answer)
        if len(content) > MOST_BYTES:
            return
        path = os.path.join(self._folder, key)
        beside = f"{path}.{os.getpid()}{UNFINISHED}"
        try:
            self._make_room()
            with open(beside, "xb") as file:
                file.write(_seal(key, content) + b"\n" + content)
            os.replace(beside, path)
        except OSError:
            try:
                os.unlink(beside)
            except OSError:
                pass

    def _make_room(self) -> None:
        """Drop the oldest files once there are too many."""
        with os.scandir(self._folder) as scan:
            kept = [entry for entry in scan if _is_ours(entry.name)]
        kept.sort(key=lambda entry: entry.stat().st_mtime_ns)
        for entry in kept[: max(0, len(kept) - MOST_FILES + 1)]:
            os.unlink(entry.path)


def _is_ours(name: str) -> bool:
    """Whether we may delete it: the folder may be one that the user has other files in."""
    key, dot, _ = name.partition(".")
    return (
        len(key) == 32 and HEXADECIMAL.issuperset(key) and name.endswith(UNFINISHED if dot else key)
    )


def _seal(key: str, content: bytes) -> bytes:
    """A digest that holds for this content under this key only."""
    return digest(f"{FORMAT}\0{key}\0".encode() + content).encode()


def _packed(answer: Answer) -> bytes:
    """The answer as a row of texts, each led by its length."""
    told = [(s, "".join(text for _, text in each)) for s, each in groupby(answer.told, _stream)]
    texts = [str(answer.status), str(len(told))]
    for each in told:
        texts += each
    for question, found in answer.reads.items():
        texts += (str(len(question)), found)
        texts += (f"{'i' if isinstance(each, int) else 's'}{each}" for each in question)
    return "".join(f"{len(text)}:{text}" for text in texts).encode("utf-8", "surrogatepass")


def _stream(told: tuple[str, str]) -> str:
    return told[0]


def _unpacked(content: bytes) -> Answer:
    """What ``_packed`` packed. Raises ValueError or IndexError."""
    texts = _texts(content.decode("utf-8", "surrogatepass"))
    told = [(texts[at], texts[at + 1]) for at in range(2, 2 + 2 * int(texts[1]), 2)]
    reads: Reads = {}
    at = 2 + 2 * len(told)
    while at < len(texts):
        count, answer = int(texts[at]), texts[at + 1]
        parts = texts[at + 2 : at + 2 + count]
        question = tuple(int(each[1:]) if each[0] == "i" else each[1:] for each in parts)
        reads[question] = answer
        at += 2 + count
    return Answer(int(texts[0]), told, reads)


def _texts(packed: str) -> list[str]:
    texts = []
    at = 0
    while at < len(packed):
        colon = packed.index(":", at)
        end = colon + 1 + int(packed[at:colon])
        texts.append(packed[colon + 1 : end])
        at = end
    return texts
