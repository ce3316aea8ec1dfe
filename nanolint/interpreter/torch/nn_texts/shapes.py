"""The classes of ``torch.nn`` for paddings and shapes, written as its users would."""

import torch
from torch.nn import functional as F


class ConstantPad1d(Module):
    def __init__(self, padding, value=0.0):
        super().__init__()
        self.padding = (padding,) * self.sides if isinstance(padding, int) else padding
        self.value = value

    sides = 2

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)


class ConstantPad2d(ConstantPad1d):
    sides = 4


class ZeroPad1d(ConstantPad1d):
    def __init__(self, padding):
        super().__init__(padding)


class ZeroPad2d(ConstantPad2d):
    def __init__(self, padding):
        super().__init__(padding)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)
