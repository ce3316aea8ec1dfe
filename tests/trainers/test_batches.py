"""Batches that scripts make in ways of their own, and who decides how often they step."""

from __future__ import annotations

import pytest

from nanolint.run.equation import NotKnown
from nanolint.run.roles import Role
from tests.trainers.written_scripts import MODEL, read, script

HEAD = f"{MODEL}\nmodel = Net(Config())\noptimizer = torch.optim.AdamW(model.parameters())\n"


def test_rows_are_yielded_when_there_are_enough() -> None:
    found = read(
        HEAD
        + """
device_batch_size, passes = 4, 8
def collate(batch):
    rows, columns = len(batch), max(len(ids) for ids in batch)
    x = torch.full((rows, columns), 0)
    return x.to("cuda"), x
def batches(documents, size):
    batch = []
    while True:
        for document in documents:
            batch.append(tokenize(document))
            if len(batch) == size:
                yield collate(batch)
                batch = []
loader = iter(batches(load(), device_batch_size))
for step in range(100):
    for _ in range(passes):
        x, y = next(loader)
        model(x, y).backward()
    optimizer.step()
"""
    )
    assert found.value(Role.MICRO_BATCH) == 4
    assert isinstance(found.roles[Role.CONTEXT], NotKnown)
    assert found.value(Role.ACCUMULATION) == 8


BATCHES = {
    "offsets that are broadcast": """
def get_batch(rows, width):
    offsets = torch.randint(0, 1000, (rows,))
    at = offsets[:, None] + torch.arange(width)[None, :]
    return data[at], data[at + 1]
""",
    "a loop over a tensor": """
def get_batch(rows, width):
    xs, ys = [], []
    for i in torch.randint(1000, (rows,)):
        xs.append(data[i : i + width])
        ys.append(data[i + 1 : i + 1 + width])
    return torch.stack(xs), torch.stack(ys)
""",
}


@pytest.mark.parametrize("what", BATCHES)
def test_a_batch_of_another_kind_has_its_size(what: str) -> None:
    found = read(
        script(
            f"data = torch.from_numpy(np.load('x.npy'))\nB, T, passes = 8, 512, 4\n{BATCHES[what]}"
        )
    )
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (8, 512)


REFUSED = {
    "raised by a function": """
def check(total, rows, width):
    if total % (rows * width):
        raise ValueError("no multiple")
check(total, B, T)
""",
    "left by a function that asks another": """
def fits(total, rows, width):
    return total % (rows * width) == 0
def check():
    if not fits(total, B, T):
        sys.exit("no multiple")
check()
""",
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize(("rows", "broken"), [(8, 0), (6, 1)])
def test_a_function_refuses(what: str, rows: int, broken: int) -> None:
    settings = f"import sys\ntotal, B, T = 2**16, {rows}, 512\n{REFUSED[what]}"
    equation = read(script(f"{settings}passes = total // (B * T)\n")).equation
    assert equation is not None
    assert len(list(equation.broken())) == broken


ENGINE = """
for step in range(100):
    x, y = get_batch(8, 512)
    with {block}:
        loss = model(x, y)
        {engine}.backward(loss)
        optimizer.step()
"""


def test_accelerate_steps_in_every_nth_block() -> None:
    head = f"{HEAD}from accelerate import Accelerator\na = Accelerator({{}})\n"
    every = head.format("gradient_accumulation_steps=4")
    loop = ENGINE.format(block="a.accumulate(model)", engine="a")
    assert read(every + loop).value(Role.ACCUMULATION) == 4
    assert read(head.format("") + loop).value(Role.ACCUMULATION) == 1
    plain = ENGINE.format(block="a.autocast()", engine="a")
    assert read(every + plain).value(Role.ACCUMULATION) == 1


def test_how_often_deepspeed_steps_is_in_its_own_configuration() -> None:
    head = f"{HEAD}import deepspeed\nengine, *_ = deepspeed.initialize(model=model)\n"
    found = read(head + ENGINE.format(block="torch.no_grad()", engine="engine"))
    assert isinstance(found.roles[Role.ACCUMULATION], NotKnown)
