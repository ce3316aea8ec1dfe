"""How long the end of a sequence is, and what lists hold that a loop adds to."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read

HEAD = f"""{MODEL}
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
n = 64
"""
LOOP = """
for i in range(1000):
    x = {x}
    model(x, x).backward()
    optimizer.step()
"""
DATA = "torch.randint(0, 9, (8, 100))"


@pytest.mark.parametrize(
    ("cut", "rows", "columns"),
    [
        ("[:, -64:]", 8, 64),
        ("[:, -n:]", 8, 64),
        ("[-4:, :n]", 4, 64),
        ("[:, -200:]", 8, 100),
        ("[:, -n:-1]", 8, 63),
        ("[:, -n:i]", 8, None),
        ("[:, 36:]", 8, 64),
        ("[:, :-36]", 8, 64),
    ],
)
def test_the_end_of_a_tensor(cut: str, rows: int, columns: int | None) -> None:
    found = read(HEAD + LOOP.format(x=f"{DATA}{cut}"))
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (rows, columns)


SAMPLES = """
tokens = [int(each) for each in open("tokens.txt").read().split()]
samples, start = [], 0
while start < len(tokens) - n:
    samples.append(tokens[start : start + n])
    start += 32
if start < len(tokens):
    samples.append(tokens[len(tokens) - {last}:])
"""


@pytest.mark.parametrize(("last", "context"), [("n", 64), ("32", None)])
def test_a_list_that_a_loop_fills_has_what_its_items_have_alike(
    last: str, context: int | None
) -> None:
    x = "torch.tensor([list(each) for each in samples[i * 4 : (i + 1) * 4]])"
    found = read(HEAD + SAMPLES.format(last=last) + LOOP.format(x=x))
    assert found.value(Role.CONTEXT) == context


def test_a_table_of_a_list_that_loops_fill_has_no_sure_entry() -> None:
    found = read(
        HEAD
        + """
sizes = [dict(name="small", width=48)]
for family in [dict(name="large-{}", width=96)]:
    for kind in ("base", "chat"):
        copy = family.copy()
        copy["name"] = family["name"].format(kind)
        sizes.append(copy)
by_name = {each["name"]: each for each in sizes}
width = by_name["small"]["width"]
"""
        + LOOP.format(x="torch.randint(0, 9, (8, width))")
    )
    assert isinstance(found.roles[Role.CONTEXT], NotKnown)
