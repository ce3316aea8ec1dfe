"""The library that stands before CUDA, made for one installed PyTorch by the machine's ``cc``.

Nothing of NVIDIA's is used, linked or loaded: what the installed libtorch imports is read from its
files, card.c answers for some of it, and a function that returns 0 for the rest.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nanolint.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SOURCE = Path(__file__).with_name("card.c")
LIBRARY = "libcard.so"
SONAME = "libcuda.so.1"  # so that nobody loads a driver
DRIVER = "libcuda.so"  # which Triton looks for by its file
CUDA_MAJORS = (12, 13)  # whose structures card.c knows

# Names of CUDA's functions, by library: runtime and driver, cuBLAS, ... all start with "cu".
_CALLED = re.compile(r"\b(cu[A-Z]\w+)(?=\()")
_THEIRS = re.compile(r"((__)?cu[A-Za-z]|nccl|nvrtc|nvtx|nvJitLink|nvshmem|nvml)\w*", re.ASCII)
_THEIR_LIBRARIES = re.compile(
    r"lib(cuda|cudart|cublas|cublasLt|cudnn\w*|cufft|cufile|cupti|curand|cusolver|cusparse|"
    r"cusparseLt|nccl|nvJitLink|nvToolsExt|nvrtc|nvshmem_host|nvshmem\w*)\.so[.\d]*"
)
_OWN = ("libtorch", "libc10", "libcaffe2", "libshm")
_LINKED = ("libtorch*.so", "libc10_cuda.so", "libcaffe2_nvrtc.so")

MOST_CHARACTERS = 1 << 20

_DYNAMIC, _DYNSYM = 6, 11
_DT_NEEDED = 1


class CannotBuild(UserError):
    """The library cannot be made for this PyTorch on this machine; one line that says why."""


class Card(NamedTuple):
    """The built library, and a folder in which it also goes by the names of NVIDIA's."""

    library: Path
    folder: Path


def build(torch_folder: Path, cache: Path) -> Card:
    """The library for the PyTorch in ``torch_folder``, from ``cache`` where it was built before.

    Raises CannotBuild for a CPU build, a CUDA that is not known, or without a C compiler.
    """
    version = _read(torch_folder / "version.py")
    cuda = re.search(r"^cuda(?:: [^=]*)? = '(\d+)\.", version, re.MULTILINE)
    if cuda is None:
        raise CannotBuild(f"{torch_folder} is not a CUDA build of PyTorch: pip install torch")
    if int(cuda[1]) not in CUDA_MAJORS:
        raise CannotBuild(
            f"{torch_folder} is built for CUDA {cuda[1]}; nanolint supports 12 and 13"
        )
    found = (path for name in _LINKED for path in sorted((torch_folder / "lib").glob(name)))
    libraries = [path for path in found if path.is_file()]
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in libraries]
    asked = f"{torch_folder.resolve()}{version}{states}{sorted(_asked_by_triton(torch_folder))}"
    key = hashlib.sha256(SOURCE.read_bytes() + asked.encode()).hexdigest()[:16]
    folder = cache / "trace" / key
    if not (folder / LIBRARY).exists():
        _build_into(folder, torch_folder, libraries, int(cuda[1]))
    return Card(folder / LIBRARY, folder)


def _asked_by_triton(torch_folder: Path) -> set[str]:
    """What Triton's own library asks of the driver: it is compiled, and loaded whole, when Inductor
    first looks for the real driver."""
    source = torch_folder.parent / "triton" / "backends" / "nvidia" / "driver.c"
    return set(_CALLED.findall(_read(source))) if source.is_file() else set()


def _read(path: Path) -> str:
    try:
        if not path.is_file():  # what pipes and devices hold is never read
            raise CannotBuild(f"{path}: no such file")
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_CHARACTERS)
    except OSError as error:
        raise CannotBuild(f"{path}: {error.strerror}") from error


def _build_into(folder: Path, torch_folder: Path, libraries: Sequence[Path], cuda: int) -> None:
    """Build beside ``folder`` and move it there whole, so that two at once do no harm."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise CannotBuild("no C compiler: nanolint trace needs cc, as in: apt install gcc")
    imported = _asked_by_triton(torch_folder)
    needed: set[str] = set()
    for library in libraries:
        elf = Elf(library)
        imported |= {name for name in elf.symbols(defined=False) if _THEIRS.fullmatch(name)}
        for name in elf.needed():
            if _THEIR_LIBRARIES.fullmatch(name):
                needed.add(name)
            elif name.startswith(_OWN) and not (library.parent / name).exists():
                raise CannotBuild(f"{library} needs {name}: install torch completely")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        made = Path(name) / "card"
        made.mkdir()
        _compile(compiler, made, imported, cuda)
        for alias in sorted(needed | {SONAME, DRIVER}):
            (made / alias).symlink_to(LIBRARY)
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            if not (folder / LIBRARY).exists():
                raise


def _compile(compiler: str, folder: Path, imported: set[str], cuda: int) -> None:
    flags = ["-O1", "-fPIC", "-w", "-fno-builtin", "-pthread", f"-DCUDA_MAJOR={cuda}"]
    _run([compiler, *flags, "-c", str(SOURCE), "-o", "card.o"], folder)
    _run([compiler, "-shared", "-pthread", "card.o", "-o", "defined.so"], folder)
    missing = imported - set(Elf(folder / "defined.so").symbols(defined=True))
    stubs = "".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(missing))
    (folder / "stubs.c").write_text(stubs)
    linked = ["-shared", f"-Wl,-soname,{SONAME}", "card.o", "stubs.c", "-o", LIBRARY]
    _run([compiler, *flags, *linked], folder)
    for scrap in ("card.o", "defined.so", "stubs.c"):
        (folder / scrap).unlink()


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotBuild(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        reason = next(iter(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise CannotBuild(f"{command[0]} cannot compile the card: {reason}")


class Elf:
    """The dynamic part of a 64-bit little-endian ELF file, read without tools.

    Raises CannotBuild for any other file. Layout: System V ABI, chapters 4 and 5.
    """

    def __init__(self, path: Path) -> None:
        self._tables: list[tuple[int, bytes, bytes]] = []  # kind, table, its strings
        with path.open("rb") as file:

            def at(offset: int, nbytes: int) -> bytes:
                file.seek(offset)
                return file.read(nbytes)

            head = at(0, 64).ljust(64, b"\0")
            if head[:6] != b"\x7fELF\x02\x01":
                raise CannotBuild(f"{path}: not a library of 64-bit Linux")
            (offset,), (count,) = (
                struct.unpack_from("<Q", head, 40),
                struct.unpack_from("<H", head, 60),
            )
            if offset + 64 * count > path.stat().st_size:
                raise CannotBuild(f"{path}: cut off; install torch completely")
            sections = list(struct.iter_unpack("<4xI16xQQI20x", at(offset, 64 * count)))
            for kind, start, nbytes, link in sections:
                if kind in (_DYNAMIC, _DYNSYM):
                    _, strings, length, _ = sections[link]
                    self._tables.append((kind, at(start, nbytes), at(strings, length)))

    def _of(self, kind: int) -> Iterator[tuple[bytes, bytes]]:
        return ((table, strings) for found, table, strings in self._tables if found == kind)

    def symbols(self, *, defined: bool) -> Iterator[str]:
        """The dynamic symbols that it defines, or those that it imports."""
        for table, strings in self._of(_DYNSYM):
            for name, _info, _other, section in struct.iter_unpack("<IBBH16x", table):
                if name and (section != 0) == defined:
                    yield _string(strings, name)

    def needed(self) -> Iterator[str]:
        """The names of the libraries that it asks the loader for."""
        for table, strings in self._of(_DYNAMIC):
            for tag, value in struct.iter_unpack("<QQ", table):
                if tag == _DT_NEEDED:
                    yield _string(strings, value)


def _string(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("ascii", "replace")
