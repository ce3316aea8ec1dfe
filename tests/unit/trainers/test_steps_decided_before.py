"""Scripts that decide ahead of the step whether they step: by a name, by an argument."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read

HEAD = f"""{MODEL}
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
N = 4
def finish(loss, is_update):
    loss.backward()
    if is_update:
        optimizer.step()
        optimizer.zero_grad()
"""
LOOP = """
for i in range(1000):
    x, y = get_batch(8, 64)
    loss = model(x, y)
    {decides}
"""
STEPS = """loss.backward()
    if {test}:
        optimizer.step()"""


@pytest.mark.parametrize(
    "decides",
    [
        "finish(loss, is_update=(i + 1) % N == 0)",
        "is_update = True if (i + 1) % N == 0 else False\n    finish(loss, is_update)",
        "last = (i + 1) % N == 0\n    " + STEPS.format(test="last"),
        "goes_on = (i + 1) % N != 0\n    " + STEPS.format(test="not goes_on"),
        "last = False\n    if (i + 1) % N == 0:\n        last = True\n    "
        + STEPS.format(test="last"),
    ],
)
def test_every_so_many_passes_is_a_step(decides: str) -> None:
    found = read(HEAD + LOOP.format(decides=decides))
    assert found.value(Role.ACCUMULATION) == 4
    assert found.equation is not None
    assert "N" in {each.key for each in found.equation.depends_on}


@pytest.mark.parametrize("test", ["last", "last and ready(i)"])
def test_what_only_the_run_tells_is_not_known(test: str) -> None:
    decides = "last = asked(i)\n    " + STEPS.format(test=test)
    assert isinstance(read(HEAD + LOOP.format(decides=decides)).roles[Role.ACCUMULATION], NotKnown)
