"""The library is made from what an installed torch imports."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from nanolint.trace.build import CannotBuild, Elf, build

if TYPE_CHECKING:
    from pathlib import Path

IMPORTING = """
int cudaMalloc(void**, unsigned long); int cudaNewInThisTorch(void); int unrelated(void);
int use(void) { void* p; return cudaMalloc(&p, 1) + cudaNewInThisTorch() + unrelated(); }
"""

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def torch_folder(folder: Path, cuda: str | None = "13.0") -> Path:
    """A torch that imports one function of CUDA's which nobody has heard of."""
    (folder / "lib").mkdir()
    (folder / "version.py").write_text(f"cuda: Optional[str] = {cuda!r}\n")
    source = folder / "importing.c"
    source.write_text(IMPORTING)
    library = folder / "lib" / "libtorch_cuda.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return folder


def test_a_symbol_of_a_new_torch_gets_a_stub_that_succeeds(tmp_path: Path) -> None:
    card = build(torch_folder(tmp_path), tmp_path / "cache")
    defined = set(Elf(card.library).symbols(defined=True))
    assert {"cudaMalloc", "cudaNewInThisTorch", "cuMemCreate"} <= defined
    assert "unrelated" not in defined
    library = ctypes.CDLL(str(card.library))
    assert library.cudaNewInThisTorch() == 0
    assert (card.folder / "libcuda.so.1").exists()  # so that nobody loads a driver


def test_it_is_built_once(tmp_path: Path) -> None:
    folder = torch_folder(tmp_path)
    first = build(folder, tmp_path / "cache").library.stat().st_mtime_ns
    assert build(folder, tmp_path / "cache").library.stat().st_mtime_ns == first


def test_a_torch_that_is_not_there_whole_is_refused_and_built_for_when_it_is(
    tmp_path: Path,
) -> None:
    folder = torch_folder(tmp_path)
    library = folder / "lib" / "libtorch_cuda.so"
    whole = library.read_bytes()
    library.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CannotBuild, match="cut off"):
        build(folder, tmp_path / "cache")
    library.write_bytes(whole)
    first = build(folder, tmp_path / "cache")
    other = tmp_path / "libc10_cuda.so"
    source = "int cudaOnlyHere(void); int other(void) { return cudaOnlyHere(); }"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{other.name}",
        "-x",
        "c",
        "-",
        "-o",
        str(other),
    ]
    subprocess.run(command, input=source.encode(), check=True)
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,--no-as-needed",
        str(folder / "importing.c"),
        str(other),
    ]
    subprocess.run([*command, "-o", str(library)], check=True)
    with pytest.raises(CannotBuild, match=r"needs .*libc10_cuda\.so"):
        build(folder, tmp_path / "cache")
    other.rename(folder / "lib" / other.name)
    second = build(folder, tmp_path / "cache")
    assert second.folder != first.folder
    assert "cudaOnlyHere" in Elf(second.library).symbols(defined=True)


def test_memory_is_counted_and_has_nothing_behind_it(tmp_path: Path) -> None:
    card = ctypes.CDLL(str(build(torch_folder(tmp_path), tmp_path / "cache").library))
    pointer, free, total = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
    card.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
    assert card.cudaMalloc(ctypes.byref(pointer), 1 << 42) == 0  # 4 TiB
    assert ctypes.string_at(pointer.value or 0, 8) == bytes(8)
    card.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
    assert free.value == 0 < total.value
    assert card.cudaMalloc(ctypes.byref(pointer), 1 << 45) == 2  # out of memory


@pytest.mark.parametrize(
    ("cuda", "reason"), [(None, "not a CUDA build"), ("11.8", "nanolint supports 12 and 13")]
)
def test_another_torch_is_refused(tmp_path: Path, cuda: str | None, reason: str) -> None:
    with pytest.raises(CannotBuild, match=reason):
        build(torch_folder(tmp_path, cuda), tmp_path / "cache")


def test_a_folder_without_a_torch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotBuild, match=r"version\.py"):
        build(tmp_path, tmp_path / "cache")


def test_without_a_compiler_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = torch_folder(tmp_path)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotBuild, match="needs cc"):
        build(folder, tmp_path / "cache")


def test_a_compiler_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CannotBuild, match="false cannot compile the card"):
        build(torch_folder(tmp_path), tmp_path / "cache")
    assert os.listdir(tmp_path / "cache" / "trace") == []  # noqa: PTH208


def test_what_is_no_elf_file_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "libtorch.so"
    text.write_text("GROUP ( libc10.so )")
    with pytest.raises(CannotBuild, match="64-bit Linux"):
        Elf(text)
