"""The classes of ``torch.optim`` that a model may want, written as its users would."""

import torch


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = {}
        groups = list(params)
        if not groups or not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.param_groups = []
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group):
        params = group["params"]
        listed = [params] if isinstance(params, torch.Tensor) else list(params)
        self.param_groups.append({**self.defaults, **group, "params": listed})


class AdamW(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, dict(amsgrad=amsgrad, foreach=foreach, fused=fused))


class Adam(AdamW):
    pass
