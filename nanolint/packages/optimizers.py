"""``torch.optim``, written as its users would: the interpreter reads this text, nothing imports it.

As torch/optim/adam.py and sgd.py: what a step makes, in their order. ``kept``, ``made``,
``in_range`` and ``torch`` are handed in.
"""

import torch
from collections import defaultdict


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = defaultdict(dict)
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.param_groups = []
        for group in groups:
            self.add_param_group(group)
        made(self)

    def add_param_group(self, group):
        params = group["params"]
        listed = [params] if isinstance(params, torch.Tensor) else list(params)
        if listed and isinstance(listed[0], tuple):  # since PyTorch 2.6
            group["param_names"] = [name for name, _ in listed]
            listed = [p for _, p in listed]
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        group["params"] = listed
        seen = {p for other in self.param_groups for p in other["params"]}
        for p in listed:
            if not isinstance(p, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if p in seen:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()

    def state_dict(self):
        state, groups, place = {}, [], 0
        for group in self.param_groups:
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = list(range(place, place + len(group["params"])))
            for p in group["params"]:
                if p in self.state:
                    state[place] = self.state[p]
                place += 1
            groups.append(packed)
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        if loaded(self, state_dict):
            return
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        state, parameters = defaultdict(dict), {}
        for group, packed in zip(self.param_groups, saved):
            if len(group["params"]) != len(packed["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match "
                    "the size of optimizer's group"
                )
            parameters.update(zip(packed["params"], group["params"]))
        for place, kept in state_dict["state"].items():
            p = parameters[place]
            state[p] = {name: as_state(p, name, value) for name, value in kept.items()}
        self.state = state


def as_state(p, name, value):
    if not isinstance(value, torch.Tensor) or name == "step":
        return value
    return value.to(dtype=p.dtype, device=p.device)


def uses_foreach(group, params):
    if group["foreach"] is not None or group["fused"] is not None:  # fused=False chooses, too
        return bool(group["foreach"]) and not group["fused"]
    for p in params:
        if not p.is_cuda:
            return False
    return len(params) > 0


def by_type(tensors):
    found = {}
    for place, tensor in enumerate(tensors):
        found.setdefault((tensor.is_cuda, tensor.dtype), []).append(place)
    return found.values()


class Adam(Optimizer):
    decoupled = False

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        defaults = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            fused=fused,
        )
        in_range(defaults)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        if closure is not None:
            with torch.enable_grad():
                closure()
        for group in self.param_groups:
            self.step_group(group)

    def step_group(self, group):
        params = [p for p in group["params"] if p.grad is not None]
        for p in [p for p in params if not self.state.get(p)]:
            on_card = group["capturable"] or group["fused"]
            state = self.state[p]
            state["step"] = kept(p, "Adam step", (), on_card)
            state["exp_avg"] = kept(p, "Adam first moment")
            state["exp_avg_sq"] = kept(p, "Adam second moment")
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = kept(p, "Adam largest second moment")
        if group["fused"]:
            return
        if uses_foreach(group, params):
            for places in by_type(params):
                self.step_together([params[place] for place in places], group)
        else:
            self.step_each(params, group)

    def step_together(self, params, group):
        grads = [p.grad for p in params]
        seconds = [self.state[p]["exp_avg_sq"] for p in params]
        if group["maximize"]:
            grads = torch._foreach_neg(grads)
        if group["weight_decay"] != 0 and not self.decoupled:
            if not group["maximize"]:
                grads = torch._foreach_add(grads, params)
        del grads
        denominators = torch._foreach_sqrt(seconds)

    def step_each(self, params, group):
        for p in params:  # the names of one parameter live until those of the next
            grad = p.grad if not group["maximize"] else -p.grad
            if group["weight_decay"] != 0 and not self.decoupled:
                grad = grad.add(p)
            denominator = (self.state[p]["exp_avg_sq"].sqrt() / 2.0).add_(1e-8)


class AdamW(Adam):
    decoupled = True

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
        settings = lr, betas, eps, weight_decay, amsgrad
        more = dict(foreach=foreach, maximize=maximize, capturable=capturable, fused=fused)
        super().__init__(params, *settings, **more)


class SGD(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        defaults = dict(
            lr=lr,
            momentum=momentum,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            foreach=foreach,
            fused=fused,
        )
        in_range(defaults)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            together = uses_foreach(group, params)
            sizes = by_type(params) if together else [[place] for place in range(len(params))]
            for places in sizes:
                self.step_some([params[place] for place in places], group)

    def step_some(self, params, group):
        grads = [p.grad for p in params]
        if group["fused"]:
            if group["momentum"] != 0:
                self.buffers(params)
            return
        if group["maximize"]:
            grads = torch._foreach_neg(grads)
        if group["weight_decay"] != 0:
            grads = torch._foreach_add(grads, params)
        if group["momentum"] != 0:
            buffers = self.buffers(params)
            if group["nesterov"]:
                grads = torch._foreach_add(grads, buffers)

    def buffers(self, params):
        for p in params:
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = kept(p, "momentum")
        return [self.state[p]["momentum_buffer"] for p in params]
