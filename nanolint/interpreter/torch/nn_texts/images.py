"""The classes of ``torch.nn`` for images and other signals, written as its users would."""

import torch
from torch.nn import functional as F


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
        kernel = tuple(kernel_size) if isinstance(kernel_size, (tuple, list)) else (kernel_size,)
        if len(kernel) == 1:
            kernel = kernel * self.dimensions
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        if padding_mode != "zeros":
            raise NotImplementedError(f"the padding mode {padding_mode}")
        channels = (out_channels, in_channels // groups)
        if self.transposed:
            channels = (in_channels, out_channels // groups)
        self.weight = Parameter(torch.empty((*channels, *kernel), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    dimensions = 1
    transposed = False

    def reset_parameters(self):
        pass

    def forward(self, input):
        conv = F.conv1d if self.dimensions == 1 else F.conv2d
        settings = self.stride, self.padding, self.dilation, self.groups
        return conv(input, self.weight, self.bias, *settings)


class Conv2d(Conv1d):
    dimensions = 2


class ConvTranspose2d(Conv1d):
    dimensions = 2
    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        settings = stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, kernel_size, *settings)
        self.output_padding = output_padding

    def forward(self, input):
        settings = self.stride, self.padding, self.output_padding, self.groups, self.dilation
        return F.conv_transpose2d(input, self.weight, self.bias, *settings)


class BatchNorm2d(Module):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name in ("weight", "bias"):
            kept = torch.empty(num_features, device=device, dtype=dtype) if affine else None
            self.register_parameter(name, kept if kept is None else Parameter(kept))
        mean, var, count = None, None, None
        if track_running_stats:
            mean = torch.zeros(num_features, device=device, dtype=dtype)
            var = torch.ones(num_features, device=device, dtype=dtype)
            count = torch.tensor(0, dtype=torch.long, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)

    def forward(self, input):
        return F.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum,
            self.eps,
        )


class BatchNorm1d(BatchNorm2d):
    pass


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name in ("weight", "bias"):
            kept = torch.empty(num_channels, device=device, dtype=dtype) if affine else None
            self.register_parameter(name, kept if kept is None else Parameter(kept))

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class MaxPool2d(Module):
    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        return_indices=False,
        ceil_mode=False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input):
        settings = self.kernel_size, self.stride, self.padding, self.dilation
        return F.max_pool2d(input, *settings, self.ceil_mode, self.return_indices)


class AvgPool2d(Module):
    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode)


class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool2d(Module):
    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input):
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class Upsample(Module):
    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
    ):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, input):
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners)


class UpsamplingNearest2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class Dropout2d(Module):
    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p
        self.inplace = inplace

    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)
