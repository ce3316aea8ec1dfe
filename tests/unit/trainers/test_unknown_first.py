"""A model whose batch is not known is given other tensors beside it: none of them is its batch."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read

HEAD = f"""{MODEL}
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
B, T, V = 16, 64, 1000
"""
LOOP = """
for step in range(100):
    {makes}
    {calls}.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("makes", "calls"),
    [
        ("t = torch.randint(0, 10, (B,))", "model(theirs(), t)"),
        ("t = torch.randint(0, 10, (B,))", "model(torch.bucketize(theirs(), 4), t)"),
        ("hidden = torch.zeros(1, 400)", "model(theirs(), hidden)"),
        ("hidden = torch.zeros(1, 400)", "model(data=theirs(), hidden=hidden)"),
    ],
)
def test_what_stands_behind_an_unknown_batch_is_none(makes: str, calls: str) -> None:
    found = read(HEAD + LOOP.format(makes=makes, calls=calls))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)
    assert isinstance(found.roles[Role.CONTEXT], NotKnown)


CRITERION = """
class Criterion(nn.Module):
    def forward(self, weight, output, targets):
        return torch.nn.functional.cross_entropy(output @ weight, targets)
criterion = Criterion()
"""


def test_what_a_criterion_is_given_is_no_batch() -> None:
    text = HEAD + CRITERION + LOOP.format(
        makes="x = torch.randint(0, V, (B, T)); weight = torch.zeros(V, 400); output = model(x)",
        calls="criterion(weight, output, x.view(-1))",
    )  # fmt: skip
    found = read(text)
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (16, 64)


def test_what_an_embedding_made_is_given_with_targets_like_its_batch() -> None:
    makes = "x = torch.randint(0, V, (B, T)); h = model.wte(x)"
    found = read(HEAD + LOOP.format(makes=makes, calls="model(h, x)"))
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (16, 64)


@pytest.mark.parametrize(
    "makes",
    [
        "x = torch.where(torch.rand(B, T) < 0.5, 0, torch.randint(0, V, (B, T)))",
        "x = torch.where(theirs(), 0, torch.randint(0, V, (B, T)))",
        "x = torch.randint(0, V, (B, T)).masked_fill(theirs(), 0)",
        "x = torch.cat([torch.zeros(B, 1), torch.randint(0, V, (B, T - 1))], dim=1)",
        "x = torch.cat((torch.zeros(B // 2, T), torch.randint(0, V, (B // 2, T))))",
        "x = torch.cat((torch.zeros(B, T - 4), torch.zeros(B, 4)), -1).clamp(0, V)",
    ],
)
def test_what_is_chosen_or_joined_has_its_sizes(makes: str) -> None:
    found = read(HEAD + LOOP.format(makes=makes, calls="model(x, x)"))
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (16, 64)


def test_samples_that_are_joined_are_as_many_as_a_loader_says() -> None:
    found = read(
        HEAD
        + """
class Pairs(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return {"x": torch.cat([torch.tensor([1]), encode(lines[index])])}
    def __len__(self):
        return len(lines)
loader = torch.utils.data.DataLoader(Pairs(), batch_size=B)
for batch in loader:
    model(batch["x"], batch["x"]).backward()
    optimizer.step()
"""
    )
    assert found.value(Role.MICRO_BATCH) == 16
    assert isinstance(found.roles[Role.CONTEXT], NotKnown)
