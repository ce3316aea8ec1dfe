"""Adapters with dropout on a frozen base, taught by torch.optim.Muon: an attention with a closure in
layers that are alike, and tokens that do not lie in order."""

import torch
from torch import nn
from torch.nn import functional as F

B, T, D, H, L, V, R = 4, 128, 192, 6, 3, 2000, 16


class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.drop = base, nn.Dropout(0.05)
        self.a = nn.Parameter(torch.randn(R, base.in_features, device="cuda") / R)
        self.b = nn.Parameter(torch.zeros(base.out_features, R, device="cuda"))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(self.drop(x), self.a), self.b) * 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))

    def forward(self, x):
        heads = lambda z: z.view(B, -1, H, D // H).transpose(1, 2)  # noqa: E731
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, -1, D))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.attention = nn.LayerNorm(D), nn.LayerNorm(D), Attention()
        self.up, self.down = nn.Linear(D, 3 * D, bias=False), nn.Linear(3 * D, D, bias=False)

    def forward(self, x):
        x = x + self.attention(self.n1(x))
        return x + self.down(F.silu(self.up(self.n2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.layers = nn.Embedding(V, D), nn.ModuleList(Layer() for _ in range(L))
        self.head = nn.Linear(D, V, bias=False)

    def forward(self, x):
        x = self.e(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


model = Model().to("cuda", torch.bfloat16)
model.requires_grad_(False)
for layer in model.layers:
    layer.attention.q, layer.up = Adapted(layer.attention.q), Adapted(layer.up)
optimizer = torch.optim.Muon([p for p in model.parameters() if p.requires_grad], lr=2e-4)
for step in range(20):
    t = torch.randint(V, (B, T + 1), device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(model(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
