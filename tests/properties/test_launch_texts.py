"""No text, however broken, makes a reader of launch lines fail or point outside of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolint.errors import Refused
from nanolint.launches.files import find_launches
from tests.support.effort import examples

PIECES = st.sampled_from(
    [
        *("python", "train.py", " ", "\n", "\t", ";", "&&", "||", "|", "&", "(", ")", "{", "}"),
        *("$", "((", "))", "[[", "]]", "$(", "${", "$((", "`", '"', "'", "\\", "#", "<<", "<<-"),
        *("<<<", "EOF", ">", "2>&1", "if ", "then ", "else ", "elif ", "fi ", "for ", "in ", "do "),
        *("done ", "while ", "case ", "esac ", ";;", "function ", "f() ", "A=", "A+=(", "B=1"),
        *(
            "--b=$B",
            "=(",
            "export ",
            "local ",
            "shift ",
            "set -- ",
            "eval ",
            "bash -c ",
            "srun -n ",
        ),
        *("torchrun ", "-m ", "#SBATCH -n 4", "cd ", "$@", "$1", "${A:-", "{1..3}", "*", "é", "\0"),
        *("\r\n", "%%bash", "!", "FROM x", "CMD ", "RUN ", "ENV ", "WORKDIR /", "[", "]", "t:"),
        *("ifdef ", "endif", "$$", ":="),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=40).map("".join))
NAMES = ("run.sh", "Makefile", "Dockerfile", "sweep.yaml", "x.ipynb")


@pytest.mark.parametrize("name", NAMES)
@examples(120)
@given(text=TEXTS)
def test_no_text_breaks_a_reader(name: str, text: str) -> None:
    given_text = text
    if name.endswith(".ipynb"):
        given_text = json.dumps({"cells": [{"cell_type": "code", "source": text}]})
    try:
        found = list(find_launches(name, given_text))
    except (ValueError, Refused) as error:
        assert "\n" not in str(error)
        return
    for each in found:
        assert 1 <= each.row <= text.count("\n") + 1
        assert "\n" not in each.reason
        for argument in each.launch.arguments if each.launch else ():
            place = argument.place
            assert place is None or 0 <= place.start < place.end <= len(given_text)
            for piece in argument.pieces:
                assert 0 <= piece.start < piece.end <= len(given_text)
                assert piece.at + piece.length <= len(argument.text)
                if piece.is_exact:
                    word = argument.text[piece.at : piece.at + piece.length]
                    assert given_text[piece.start : piece.end] == word
