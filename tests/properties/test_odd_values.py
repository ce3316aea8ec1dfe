"""Whatever a key is set to, a config is judged: no rule and no replay fails on a value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nanolint.gpus.lookup import find
from nanolint.linting.engine import lint
from nanolint.linting.registry import load
from nanolint.linting.setup import Setup
from nanolint.run.settled import Options
from nanolint.trainers.nanogpt.keys import KEYS
from tests.support.effort import examples

VALUES = [
    *("0", "-1", "1", "7", "2**64", "10**300", "10**1200", "-10**1200", "True", "False", "None"),
    *("1e999", "-1e999", "1e999 - 1e999", "1e308", "-0.0", "1e-320", "0.5", "3.0", "1j", "..."),
    *("''", "'x'", "'\\0'", "'a' * 5000", "b'x'", "[]", "[1]", "()", "(1, 2)", "{}", "{1: 2}"),
    *("'cuda:9999999999999999999'", "'gpt2'", "'resume'", "'cpu'", "'mps'", "'float16'"),
    *("unknown", "f'{unknown}'", "1 if unknown else 2", "not 1", "lambda: 1", "[*()]"),
]
CODES = {rule.code.lower(): rule.code for rule in load().rules}
LINES = st.lists(
    st.tuples(st.sampled_from([*KEYS, "vocab_size"]), st.sampled_from(VALUES)), max_size=6
)


@examples(300)
@given(LINES, st.sampled_from(["1GiB", "12GB", "t4"]), st.sampled_from([1, 8, 10**9]))
def test_no_value_of_any_key_is_too_odd(
    lines: list[tuple[str, str]], card: str, world_size: int
) -> None:
    text = "n_layer = 1\nn_embd = 8\nn_head = 1\n"
    text += "".join(f"{key} = {value}  # 3 * 4 = 12\n" for key, value in lines)
    setup = Setup(load().rules, CODES, (find(card),), Options(world_size=world_size))
    assert lint(text, None, setup).unjudged is None
