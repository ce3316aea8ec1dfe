"""Texts made to crash, hang, fill the memory, or be run: each ends soon, and none is run."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 600  # only so that the suite ends; what may be taken is bounded in robustness
MEGABYTES = 500

READ = """
import sys
sys.path.insert(0, sys.argv[1])
from nanolint.source.parse import TooComplex, Unparsable, parse
from nanolint.source.suppressions import find
text = sys.stdin.buffer.read().decode("utf-8")
try:
    module = parse(text)
    find(module.comments, text)
    print("read")
except (TooComplex, Unparsable) as error:
    print(type(error).__name__)
try:  # not getrusage: on Linux its peak starts with that of the process that forked this one
    status = open("/proc/self/status").read()
    print(int(status.split("VmHWM:")[1].split()[0]) >> 10)
except OSError:
    print(0)
"""


def read(text: str) -> str:
    """What becomes of ``text`` in a process of its own."""
    process = subprocess.run(
        [sys.executable, "-c", READ, str(ROOT)],
        input=text.encode(),
        capture_output=True,
        timeout=SECONDS,
    )
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stderr == b""
    outcome, megabytes = process.stdout.decode().split()
    assert int(megabytes) < MEGABYTES
    return outcome


KNOWN_IFS = "a = 1\n" + "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "b = 1\n"

TOO_COMPLEX = {
    "parentheses": "x = " + "(" * 5000 + ")" * 5000,
    "unclosed": "x = " + "[" * 5000,
    "unary": "x = " + "-" * 100_000 + "1",
    "sum": "x = " + "+".join("1" * 100_000),
    "attributes": "x = a" + ".b" * 100_000,
    "f-strings": "x = " + "f'{" * 3000 + "1" + "}'" * 3000,
    "lambdas": "x = " + "lambda a=" * 1000 + "1" + ":1" * 1000,
    "elifs": "if a: pass\n" + "elif a: pass\n" * 9000,
    "patterns": "match x:\n case " + "(" * 24 + "a" + ")" * 24 + ": pass\n",
    "100,000 assignments": "a = 1\n" * 100_000,
    "long list": "x = [" + "1," * 50_000 + "]",
    "too long": "x = '" + "a" * (1 << 20),
}

READABLE = {
    "many patterns": "match x:\n" + " case {1:{1:{1:{1:a}}}}: pass\n" * 2000,
    "10,000 assignments": "a = 1\n" * 10_000,
    "the longest dictionary": "x = {" + "a:b," * 44_000 + "}",
    "the deepest calls": ("x = " + "f(" * 80 + ")" * 80 + "\n") * 11,
    "long comment": "#" * 1_000_000,
    "power tower": "x = 9 ** 9 ** 9 ** 9",
    "giants": "x = 'a' * 10 ** 12\ny = [0] * 10 ** 10",
    "doubling": "x = [0]\n" + "x = [x, x]\n" * 5000,
    "copies": "x = ['a']\n" + "y = str(x) + str([x] * 900)\n" * 2000,
    "chain of names": "".join(f"x{i} = x{i + 1}\n" for i in range(5000)),
    "circle of names": "x = y\ny = x\n" * 2000,
    "changed lists": "l = []\nl.append(l)\n" * 3000,
    "many clouds": "exec('')\na = 1\n" * 4000,
    "codes": "x = 1  # nanolint: ignore[" + "NL101," * 100_000 + "]",
    "suppressions": "x = 1  # nanolint: ignore[NL101]\n" * 8000,
    "form feeds": "x = 1\n\x0c" * 8000,
    "carriage returns": "\r" * 100_000,
    "known ifs": KNOWN_IFS,
}


def test_an_endless_string_is_a_syntax_error() -> None:
    assert read("x = '" + "a" * 1_000_000) == "Unparsable"


CANARY = """
import pathlib
__import__('os').system('echo > {path}')
open({path!r}, 'w').write('x')
exec("open({path!r}, 'w')")
x = [open({path!r}, 'w') for _ in (1,)]
y = f"{{open({path!r}, 'w')}}"
z = min(1, 2, key=lambda _: open({path!r}, 'w'))
w = '{{0.__class__}}'.format(open({path!r}, 'w'))
if open({path!r}, 'w'):
    batch_size = 1
class C(open({path!r}, 'w')):
    v = open({path!r}, 'w')
assert open({path!r}, 'w')
"""


def test_nothing_is_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    assert read(CANARY.format(path=str(canary))) == "read"
    assert not canary.exists()


def test_nothing_is_imported(tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    text = "import trap\nfrom trap import *\nfrom trap import batch_size\n# coding: trap\n"
    process = subprocess.run(
        [sys.executable, "-c", READ, str(ROOT)],
        input=text.encode(),
        capture_output=True,
        timeout=SECONDS,
        cwd=tmp_path,
    )
    assert process.stdout.startswith(b"read")


def test_reading_bytes_loads_no_parser() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import nanolint.source.text, "
        "nanolint.source.scan, nanolint.source.suppressions, nanolint.source.assignments; "
        "sys.exit('libcst' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code, str(ROOT)], timeout=SECONDS)
    assert process.returncode == 0
