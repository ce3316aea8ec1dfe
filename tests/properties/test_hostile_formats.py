"""Tags, depth, digits and aliases in every format: one line says why, and nothing fails."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanolint.lsp.settings_file import NotEditable, with_gpu
from nanolint.source.settings_text import NoSettings, read_json, read_yaml
from nanolint.source.toml_text import read_toml
from tests.support.command import nanolint
from tests.support.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable

DIGITS = st.sampled_from(["9" * 5000, "0x" + "f" * 9000, "1e999999", "-", "0" * 300, "1_" * 50])
WORDS = st.sampled_from(
    ["8", "", "true", "2020-13-45", "nan", "${args}", "'", '"', "\\", "\0", "é"]
)
SCALARS = st.one_of(WORDS, DIGITS, st.text(max_size=6))
KINDS = st.sampled_from(
    ["bool", "int", "float", "timestamp", "binary", "set", "omap", "null", "map", "seq", "x"]
)
TAGGED = st.builds("!!{} {}".format, KINDS, st.sampled_from(["", "x", "-", "''", "[1]", "{a: b}"]))
NESTED = st.builds(
    lambda open_, depth, closed: open_ * depth + closed * depth,
    st.sampled_from(["[", "{", "- ", "? ", "{a: ", '{"a": ', "a.", "[["]),
    st.sampled_from([1, 40, 60, 400, 5000]),
    st.sampled_from(["", "]", "}"]),
)
VALUES = st.one_of(SCALARS, TAGGED, NESTED, st.builds("[{}, {}]".format, SCALARS, TAGGED))


def bomb(levels: int, how: str) -> str:
    """Aliases of aliases: nine times as many at each level."""
    above = (
        f"a{level + 1}: &a{level + 1} {how.format(', '.join([f'*a{level}'] * 9))}"
        for level in range(levels)
    )
    return "\n".join(["a0: &a0 {k: v}", *above, ""])


BOMBS = st.builds(bomb, st.sampled_from([2, 5, 9]), st.sampled_from(["[{}]", "{{<<: [{}]}}"]))
SWEEPS = st.builds(
    "{}program: {}\nmethod: grid\ncommand: {}\nparameters:\n  batch_size: {{values: [{}]}}\n"
    "  {}: {{value: {}}}\n".format,
    st.one_of(st.just(""), BOMBS),
    st.sampled_from(["train.py", "!!int x", "[]"]),
    st.sampled_from(["[python, train.py, '${args}']", "x", "[]", "[[]]", "*a2"]),
    VALUES,
    st.one_of(st.just("lr"), VALUES),
    st.one_of(VALUES, st.just("*a2")),
)
YAML = st.one_of(SWEEPS, BOMBS, VALUES, st.builds("a: {}\nb: {}\n".format, VALUES, VALUES))
TOML = st.builds(
    "{} = {}\n".format,
    st.one_of(
        st.sampled_from(["gpu", "target", "world-size", "severity.NL1", "in-use", '""']),
        st.builds(lambda n: ".".join(["a"] * n), st.sampled_from([3, 60, 5000])),
    ),
    st.one_of(VALUES, st.builds("[{{gpu = {}}}]".format, VALUES)),
)
JSON = st.one_of(
    VALUES,
    st.builds('{{"cells": [{{"cell_type": "code", "source": {}}}]}}'.format, VALUES),
    st.builds('{{"version": 1, "findings": {}}}'.format, VALUES),
)
SHELL = st.builds("python train.py --batch_size={} {}\n".format, VALUES, VALUES)


@pytest.mark.parametrize(
    ("name", "texts", "command"),
    [
        ("sweep.yaml", YAML, ("check", "sweep.yaml")),
        ("nanolint.toml", TOML, ("settings",)),
        ("a.ipynb", JSON, ("check", "a.ipynb")),
        ("known.json", JSON, ("check", "a.py", "--baseline", "known.json")),
        ("run.sh", SHELL, ("check", "run.sh")),
    ],
    ids=["sweep", "settings", "notebook", "baseline", "shell"],
)
def test_whatever_a_file_holds_there_is_no_internal_error(
    name: str,
    texts: st.SearchStrategy[str],
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("n_embd = 384\nn_head = 5\nbatch_size = 2\n", encoding="utf-8")
    (tmp_path / "train.py").write_text("print(1)\n", encoding="utf-8")

    @settings(examples(20), suppress_health_check=list(HealthCheck))
    @given(text=texts)
    def tried(text: str) -> None:
        Path(name).write_bytes(text.encode(errors="replace"))
        done = nanolint(*command)  # which refuses a traceback
        assert "internal error" not in done.out + done.err
        assert done.status in (0, 1, 2)

    tried()


@pytest.mark.parametrize(
    ("read", "texts"),
    [(read_yaml, YAML), (read_json, JSON), (read_toml, TOML)],
    ids=["YAML", "JSON", "TOML"],
)
def test_a_reader_refuses_with_a_line_of_its_own(
    read: Callable[[str], object], texts: st.SearchStrategy[str]
) -> None:
    @examples(30)
    @given(text=texts)
    def tried(text: str) -> None:
        try:
            read(text)
        except NoSettings as error:
            assert "\n" not in str(error)

    tried()


@examples(25)
@given(text=TOML)
def test_so_does_the_editor_that_writes_a_card_into_settings(text: str) -> None:
    with suppress(NotEditable):
        with_gpu(Path("nanolint.toml"), text, "rtx-4070")
