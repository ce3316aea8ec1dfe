"""``einops.layers.torch``, written as its users would: the interpreter reads this text."""

import einops
from torch import nn


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths

    def forward(self, input):
        return einops.rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths

    def forward(self, input):
        if self.reduction == "repeat":
            return einops.repeat(input, self.pattern, **self.axes_lengths)
        return einops.reduce(input, self.pattern, self.reduction, **self.axes_lengths)
