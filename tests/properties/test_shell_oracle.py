"""What is followed of a shell script is what a shell does: compared with bash itself."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nanolint.launches.script import find_launches
from tests.support.effort import examples

if TYPE_CHECKING:
    from pathlib import Path

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

NAMES = st.sampled_from(["A", "B", "C"])
PLAIN = st.sampled_from(["1", "2", "64", "x", "a.py", "''"])
VALUES = st.one_of(
    PLAIN,
    NAMES.map("${}".format),
    NAMES.map('"${}"'.format),
    st.tuples(NAMES, PLAIN).map(lambda pair: f"${{{pair[0]}:-{pair[1]}}}"),
    st.tuples(NAMES, PLAIN).map(lambda pair: f'"x${{{pair[0]}}}{pair[1]}"'),
    st.sampled_from(["$((2 * 8))", "$((N / 2))", "'a b'", '"c  d"', "e\\ f", "{1,2}", "{1..3}"]),
)
WORDS = st.lists(VALUES, max_size=3).map(" ".join)
LAUNCHES = WORDS.map(lambda words: f"python train.py {words}")
ASSIGNMENTS = st.tuples(
    NAMES,
    st.one_of(PLAIN, NAMES.map("${}".format), st.sampled_from(["'p q'", '"$A$B"', "$((N + 1))"])),
).map("=".join)
TESTS = st.one_of(
    st.tuples(NAMES, PLAIN).map(lambda pair: f'[ "${pair[0]}" = {pair[1]} ]'),
    NAMES.map(lambda name: f'[ -z "${name}" ]'),
    NAMES.map(lambda name: f'[[ ! -n "${name}" ]]'),
    st.sampled_from(["[ $N -gt 3 ]", "[ $N -le 3 ]", "true", "false"]),
)


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map("\n".join)
    return st.one_of(
        st.tuples(TESTS, body, body).map(lambda t: f"if {t[0]}; then\n{t[1]}\nelse\n{t[2]}\nfi"),
        st.tuples(TESTS, body).map(lambda t: f"if {t[0]}\nthen {t[1]}\nfi"),
        st.tuples(TESTS, inner, inner).map(lambda t: f"{t[0]} && {t[1]} || {t[2]}"),
        st.tuples(NAMES, WORDS, body).map(lambda t: f"for {t[0]} in {t[1]}; do\n{t[2]}\ndone"),
        st.tuples(body, WORDS).map(lambda t: f"f() {{\n{t[0]}\n}}\nf {t[1]}"),
        body.map("(\n{}\n)".format),
        body.map("{{\n{}\n}}".format),
        st.tuples(NAMES, body).map(lambda t: f"case ${t[0]} in\n*) {t[1]}\n;;\nesac"),
        inner.map("{} # a comment".format),
        inner.map("{} \\\n".format),
    )


SCRIPTS = st.lists(
    st.recursive(st.one_of(LAUNCHES, ASSIGNMENTS, ASSIGNMENTS), _blocks, max_leaves=8),
    min_size=1,
    max_size=5,
).map("\n".join)


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose python prints its arguments, one call a line."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "python"
    program.write_text(
        '#!/bin/sh\nshift\nfor word in "$@"; do printf \'<%s>\' "$word"; done\necho\n'
    )
    program.chmod(0o755)
    return folder


@examples(60)
@given(script=SCRIPTS)
def test_what_bash_starts_is_found(bash: Path, script: str) -> None:
    text = f"A=1 B=2 C=x N=4\n{script}\n"
    done = subprocess.run(
        [str(BASH), "-c", text],
        env={"PATH": f"{bash}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assume("syntax error" not in done.stderr)  # a comment has eaten the end of a line
    started = list(dict.fromkeys(done.stdout.splitlines()))
    found = [each.launch for each in find_launches(text)]
    shown = ["".join(f"<{a.text}>" for a in launch.arguments) for launch in found if launch]
    assert None not in found
    if "||" in script:  # a program is not known to succeed: what follows may be started
        assert set(shown) >= set(started)
    else:
        assert list(dict.fromkeys(shown)) == started
