"""Both lowerings make the same tree of a text, to the character."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import strategies as st

from nanolint.source import from_ast, from_libcst
from nanolint.source.values import TooComplex
from tests.support.project_tree import CONFIGURATOR_LINE, train_script


def assert_same(text: str) -> None:
    """What from_ast makes of ``text``, if anything, is what from_libcst makes of it."""
    plain = from_ast.lower(text)
    if plain is not None:
        try:
            whole = from_libcst.lower(text)
        except TooComplex:  # where libcst does not give back the text: an indented last comment
            return
        assert plain == whole


PLAIN = """\
\"\"\"A run (of eight).\"\"\"
import time
from base import *   # block_size
from contextlib import nullcontext
\t
# 12 * 1024 = 12,288  \t
batch_size = 4 * 8*block_size # "quotes" and (parentheses)
  # indented
learning_rate=6e-4
wandb_name = 'run-' + name   # naïve ✓
größe = -2 ** 3 // 7 - items # ü
out = "ä" 'ö'
flag = not True
nothing = None
lost = missing * 2
half = dtype
again = batch_size - batch_size
"""

SETTINGS = """\
import os
from torch.distributed import init_process_group, destroy_process_group
dtype = 'bfloat16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'float16'
device = 'cuda' if 1 < 2 <= 3 else 'cpu'
other = 'a' if None is None or missing else dtype
same = dtype
rank = int_of(os.environ.get('RANK', -1), key=[] if False else 2)
deep = a.b.c.d
path = os.path
keys = [k for k, v in globals().items() if not k.startswith('_') and isinstance(v, (int, str))]
"""


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", PLAIN, PLAIN.rstrip()])
def test_plain_text_is_read_without_libcst(text: str) -> None:
    assert from_ast.lower(text) is not None
    assert_same(text)


@pytest.mark.parametrize("text", [PLAIN, SETTINGS.replace("[] if False else 2", "2")])
def test_settings_of_a_script_are_read_without_libcst(text: str) -> None:
    assert from_ast.lower(text) is not None
    assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1; b = 2\n",
        "a = b = 1\n",
        "a, b = 1, 2\n",
        "a: int = 1\n",
        "a += 1\n",
        "a = (1)\n",
        "a = 2 * (3 + 4)\n",
        "a = 1 + \\\n 2\n",
        "a = [1]\n",
        "a = f'{b}'\n",
        "a = '%d' % b\n",
        "a = str(b)\n",
        "a = b'x'\n",
        "a = 1j\n",
        "a = ...\n",
        "a = (b := 2)\n",
        "a = globals\n",
        "if True:\n    a = 1\n",
        "import __main__\n",
        "print(a)\n",
        "del a\n",
        "a = 1\r\nb = 2\r\n",
        "\ufeffa = 1\n",
        "a = 1\f\n",
        "a = \n",
        "a = '\ud800'\n",
        "a = " + "1 + " * 200 + "1\n",
    ],
)
def test_what_is_not_plain_is_left_to_libcst(text: str) -> None:
    assert from_ast.lower(text) is None
    assert_same(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = exec('b = 1')\n",
        "a = f(globals())\n",
        "a = sys.modules\n",
        "a = min(1, 2)\n",
        "a = '{}'.format(1)\n",
        "a = f(*b)\n",
        "a = f(**b)\n",
        "a = f(lambda: 1)\n",
        "a = [k for k in range(3)]\nb = [1]\nc = f(b)\n",
        "from base import *\na = f(b for b in c)\n",
        "a = x.y.z.u.v.w.x\n",
        "a = [exec(k) for k in globals().items()]\n",
        "a = f(g)(h)\n",
        "a = f().b\n",
        "a = 'x' in b\n",
    ],
)
def test_settings_that_take_more_are_read_by_libcst(text: str) -> None:
    assert_same(text)


def test_the_usual_train_script_is_plain_down_to_its_configurator() -> None:
    above = train_script().partition(CONFIGURATOR_LINE)[0]
    assert from_ast.lower(above) is not None
    assert_same(above)


def test_a_long_docstring_is_no_reason_to_import_libcst() -> None:
    text = (
        '"""' + "How to run it on four cards, and on two nodes.\n" * 20 + '"""\nbatch_size = 12\n'
    )
    assert from_ast.lower(text) is not None
    assert_same(text)


NAMES = st.sampled_from(["a", "batch_size", "block_size", "name", "dtype", "größe", "missing"])
ATOMS = st.one_of(
    NAMES,
    st.integers(0, 10**6).map(str),
    st.sampled_from(
        ["1_000", "0x10", "6e-4", ".5", "1e400", "True", "None", "'x'", '"ä#("', "'a' 'b'", "b''"]
    ),
    st.sampled_from(["''", "'\\n'", "r'\\d'", "u'x'", "'%s'", "9" * 30, "f(a)", "a.b", "()", "[]"]),
)
OPERATORS = st.sampled_from(
    [" + ", "-", " * ", "/", "//", " % ", "**", " and ", " or ", " < ", " is ", " in ", " @ ", "<<"]
)


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(parts, OPERATORS, parts).map("".join),
        st.tuples(st.sampled_from(["-", "+", "not ", "~"]), parts).map("".join),
        parts.map("({})".format),
        st.tuples(parts, parts, parts).map(lambda each: "{} if {} else {}".format(*each)),
        parts.map("f({}, key=a.b)".format),
    )


EXPRESSIONS = st.recursive(ATOMS, _joined, max_leaves=6)
COMMENTS = st.sampled_from(["", "  # a (b) 'c", "#", "\t# ü = 3 ", " ", ";", "; b = 1", " \\"])
STATEMENTS = st.one_of(
    st.tuples(NAMES, st.sampled_from(["=", " = ", "  =\t", " += ", ": int = "]), EXPRESSIONS).map(
        "".join
    ),
    st.sampled_from(["'''doc'''", "'''two\nlines'''", "import os.path as p, re", "", "  ", "pass"]),
    st.sampled_from(["from base import *", "from gone import *", "from base import items, X as Y"]),
    st.sampled_from(
        ["f(a)", "if a: b = 1", "from . import x", "  a = 1", "from __future__ import x"]
    ),
)
TEXTS = st.lists(st.tuples(STATEMENTS, COMMENTS).map("".join), max_size=6).map("\n".join)


def test_libcst_is_not_imported_for_a_plain_text() -> None:
    code = (
        "import sys\n"
        "from nanolint.source.parse import parse\n"
        "parse('batch_size = 4 * 8  # sequences\\n')\n"
        "print('libcst' in sys.modules)\n"
    )
    told = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
