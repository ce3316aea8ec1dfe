"""Batches that scripts make in ways of their own, and who decides how often they step."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read, script

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
    "a generator of numpy's": """
import numpy as np
class Batches:
    def __init__(self):
        self.rng = np.random.default_rng(1337)
    def get(self, rows, width):
        starts = self.rng.integers(0, 1000, size=rows)
        x = torch.stack([torch.from_numpy(data[i : i + width]) for i in starts])
        y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + width]) for i in starts])
        return x, y
get_batch = Batches().get
""",
    "numpy's count behind its bounds": """
import numpy as np
def get_batch(rows, width):
    starts = np.random.randint(0, 1000, rows)
    x = torch.stack([data[i : i + width] for i in starts])
    return x, torch.stack([data[i + 1 : i + 1 + width] for i in starts])
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


SAYS_ITSELF = """
import deepspeed
config = {config}
engine, *_ = deepspeed.initialize(model=model, config=config)
for step in range(100):
    x, y = get_batch(engine.{method}(), 512)
    loss = engine(x, y)
    engine.backward(loss)
    engine.step()
"""


@pytest.mark.parametrize(
    ("config", "micro_batch"),
    [
        ({"train_micro_batch_size_per_gpu": 16, "gradient_accumulation_steps": 4}, 16),
        ({"train_batch_size": 64, "gradient_accumulation_steps": 4}, 16),
        ({"train_batch_size": 64}, 64),
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 8}, 8),
    ],
)
def test_deepspeed_says_its_micro_batch(config: dict[str, int], micro_batch: int) -> None:
    """As deepspeed/runtime/config.py, ``_set_batch_related_parameters``, works it out."""
    says = SAYS_ITSELF.format(config=config, method="train_micro_batch_size_per_gpu")
    found = read(HEAD + says)
    assert found.value(Role.MICRO_BATCH) == micro_batch
    assert found.equation is not None
    passes = config.get("gradient_accumulation_steps", config.get("train_batch_size", 0) // 8)
    if "gradient_accumulation_steps" in config or len(config) == 2:
        assert found.value(Role.ACCUMULATION) == passes


def test_of_a_configuration_without_sizes_none_is_made_up() -> None:
    says = SAYS_ITSELF.format(config={"bf16": True}, method="train_micro_batch_size_per_gpu")
    assert isinstance(read(HEAD + says).roles[Role.MICRO_BATCH], NotKnown)


@pytest.mark.parametrize("kept", ["X", "X[:end]", "X[end:]"])
def test_rows_of_what_nobody_knows_are_no_contexts(kept: str) -> None:
    """What is cut out of an unknown tensor has as many dimensions as that, however many."""
    found = read(
        HEAD
        + f"""
from torch.utils.data import DataLoader, TensorDataset
X = torch.load("tokens.pt", weights_only=True)
end = int(0.8 * len(X))
for x, y in DataLoader(TensorDataset({kept}, {kept}), batch_size=500):
    model(x.cuda(), y.cuda()).backward()
    optimizer.step()
"""
    )
    assert found.value(Role.MICRO_BATCH) == 500
    assert isinstance(found.roles[Role.CONTEXT], NotKnown)
