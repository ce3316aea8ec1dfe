"""A data set, a data loader, epochs, a trainer class, SGD with momentum; float32."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 8
CONTEXT = 64
VOCABULARY = 300


class Tokens(Dataset):
    def __init__(self, length):
        self.data = torch.zeros(length, dtype=torch.long)

    def __len__(self):
        return (len(self.data) - 1) // CONTEXT

    def __getitem__(self, place):
        part = self.data[place * CONTEXT : (place + 1) * CONTEXT + 1]
        return part[:-1], part[1:]


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.place = nn.Parameter(torch.zeros(1, CONTEXT, width))
        self.norm = nn.LayerNorm(width)
        self.one = nn.Linear(width, 2 * width)
        self.two = nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, idx):
        x = self.embed(idx) + self.place
        for _ in range(3):
            x = x + self.drop(self.two(torch.relu(self.one(self.norm(x)))))
        return self.head(x)


class Trainer:
    def __init__(self, model, dataset, device):
        self.model = model.to(device)
        self.device = device
        self.loader = DataLoader(dataset, batch_size=BATCH, shuffle=True, drop_last=True)
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(
            model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True
        )
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=100)

    def batch(self, x, y):
        x, y = x.to(self.device), y.to(self.device)
        self.optimizer.zero_grad()
        logits = self.model(x)
        loss = self.loss(logits.flatten(0, 1), y.flatten())
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def train(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            total = 0.0
            for x, y in self.loader:
                total += self.batch(x, y)
            print(epoch, total)


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = Trainer(Net(), Tokens(100_000), device)
    trainer.train(2)
