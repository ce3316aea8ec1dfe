"""A network that is small, and the loop that trains it: what scripts of tests end with."""

from __future__ import annotations


def net(*forward: str) -> str:
    """The network, with these lines for its forward pass."""
    lines = "".join(f"        {each}\n" for each in forward)
    return f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, 64)
        self.head = nn.Linear(64, 1000, bias=False)
    def forward(self, x, y):
{lines}"""


MODEL = net("x = self.head(self.wte(x))", "return F.cross_entropy(x.view(-1, 1000), y.view(-1))")
NET = f"""{MODEL}model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    x = BATCH.to(device)
    loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def trained_on(batch: str) -> str:
    """The network and its loop over what an expression makes, on the script's ``device``."""
    return NET.replace("BATCH", batch)
