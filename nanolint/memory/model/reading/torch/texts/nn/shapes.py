"""What ``torch.nn`` has for paddings, convolutions and shapes, written as its users would."""

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


class Conv1d(Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        kernel = kernel_size if isinstance(kernel_size, int) else kernel_size[0]
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = (kernel,)
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        if padding_mode != "zeros":
            raise NotImplementedError(f"the padding mode {padding_mode}")
        shape = (out_channels, in_channels // groups, kernel)
        self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return F.conv1d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
        )


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
