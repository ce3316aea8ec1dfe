"""More of ``torch.optim``: the interpreter reads this text, nothing imports it.

As torch/optim/rmsprop.py, adagrad.py, nadam.py and adamax.py: their states, and what a step of the
kind that PyTorch chooses on a card (``_multi_tensor_*``, _adafactor.py's ``_single_tensor_*``)
makes, in that order. ``kept`` and
``refused`` are handed in, as is what these share with the others.
"""

import torch


class ByGroup(Optimizer):
    """Begins the states of a group's parameters at their first step, then steps the group."""

    @torch.no_grad()
    def step(self, closure=None):
        if closure is not None:
            with torch.enable_grad():
                closure()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            for p in params:
                if len(self.state[p]) == 0:
                    self.begin(self.state[p], p, group)
            self.step_group(params, group)


class Together(ByGroup):
    """Steps all parameters of one type at once; the counters of steps are the host's."""

    def __init__(self, params, defaults, foreach, plain):
        if foreach is not None and not foreach or not plain:
            refused(f"{type(self).__name__} with these settings")
        in_range(defaults)
        super().__init__(params, dict(defaults, foreach=foreach, fused=None))

    def step_group(self, params, group):
        if uses_foreach(group, params):
            self.step_together(params, group)

    def with_decay(self, params, group, decays=True):
        """The gradients, or what maximizing and weight decay make of them."""
        grads = [p.grad for p in params]
        if group["maximize"]:
            return torch._foreach_neg(grads)
        if group["weight_decay"] != 0 and decays:
            return torch._foreach_add(grads, params)
        return grads


class RMSprop(Together):
    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        defaults = dict(
            lr=lr,
            alpha=alpha,
            weight_decay=weight_decay,
            momentum=momentum,
            centered=centered,
            maximize=maximize,
        )
        super().__init__(params, defaults, foreach, not capturable and not differentiable)

    def begin(self, state, p, group):
        state["square_avg"] = kept(p, "RMSprop second moment")
        if group["momentum"] > 0:
            state["momentum_buffer"] = kept(p, "momentum")
        if group["centered"]:
            state["grad_avg"] = kept(p, "RMSprop first moment")

    def step_together(self, params, group):
        for places in by_type(params):
            alike = [params[place] for place in places]
            grads = None
            grads = self.with_decay(alike, group)
            averages = torch._foreach_sqrt([self.state[p]["square_avg"] for p in alike])


class Adagrad(Together):
    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        defaults = dict(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, maximize=maximize)
        super().__init__(params, defaults, foreach, not differentiable and not fused)
        for group in self.param_groups:
            for p in group["params"]:
                self.begin(self.state[p], p, group)

    def begin(self, state, p, group):
        state["sum"] = kept(p, "Adagrad sum of squares")

    def step_together(self, params, group):
        for places in by_type(params):
            alike = [params[place] for place in places]
            grads = None
            grads = self.with_decay(alike, group)
            roots = torch._foreach_sqrt([self.state[p]["sum"] for p in alike])
            if group["weight_decay"] == 0 and not group["maximize"]:
                numerator = torch._foreach_mul(grads, 1.0)


class NAdam(Together):
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        defaults = dict(
            lr=lr,
            betas=betas,
            weight_decay=weight_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
        )
        super().__init__(params, defaults, foreach, not capturable and not differentiable)

    def begin(self, state, p, group):
        state["exp_avg"] = kept(p, "Adam first moment")
        state["exp_avg_sq"] = kept(p, "Adam second moment")

    def step_together(self, params, group):
        for places in by_type(params):
            alike = [params[place] for place in places]
            grads = None
            grads = self.with_decay(alike, group, not group["decoupled_weight_decay"])
            roots = torch._foreach_sqrt([self.state[p]["exp_avg_sq"] for p in alike])


class Adamax(Together):
    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        defaults = dict(lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize)
        plain = not capturable and not differentiable and has_maximum
        super().__init__(params, defaults, foreach, plain)

    def begin(self, state, p, group):
        state["exp_avg"] = kept(p, "Adam first moment")
        state["exp_inf"] = kept(p, "Adamax largest gradient")

    def step_together(self, params, group):
        for places in by_type(params):
            alike = [params[place] for place in places]
            grads = None
            grads = self.with_decay(alike, group)
            if group["weight_decay"] == 0 and not group["maximize"]:
                grads = torch._foreach_abs(grads)


class Muon(ByGroup):
    """torch/optim/_muon.py, which steps one matrix after the other."""

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.7750, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        defaults = dict(
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
        )
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"torch.Size({list(p.shape)})"
                    )

    def begin(self, state, p, group):
        state["momentum_buffer"] = kept(p, "momentum")

    def step_group(self, params, group):
        for p in params:
            buffer = self.state[p]["momentum_buffer"]
            update = p.grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
            update = orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])


class Adafactor(ByGroup):
    """torch/optim/_adafactor.py, which steps one parameter after the other."""

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        if foreach:
            refused("Adafactor with foreach")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, maximize=maximize))

    def begin(self, state, p, group):
        if p.grad.dim() > 1:
            *rows, _, columns = p.grad.shape
            state["row_var"] = kept(p, "Adafactor rows", (*p.grad.shape[:-1], 1), True, True)
            state["col_var"] = kept(p, "Adafactor columns", (*rows, 1, columns), True, True)
        else:
            state["variance"] = kept(p, "Adafactor second moment")

    def step_group(self, params, group):
        for p in params:
            grad = -p.grad if group["maximize"] else p.grad
            p.norm(2)
            if grad.dim() > 1:
                row_var, col_var = self.state[p]["row_var"], self.state[p]["col_var"]
                row_mean = torch.linalg.vector_norm(grad, dim=-1, keepdim=True)
                col_mean = torch.linalg.vector_norm(grad, dim=-2, keepdim=True)
                var_estimate = row_var @ col_var
                row_var.mean(dim=-2, keepdim=True)
            else:
                grad_squared = grad * grad
                var_estimate = self.state[p]["variance"].clone()
            update = var_estimate
            update.norm(2)


def orthogonal(grad, coefficients, steps, eps):
    a, b, c = coefficients
    found = grad.bfloat16()
    if found is grad and copies:
        found = grad.clone()
    if grad.size(0) > grad.size(1):
        found = found.T
    found.div_(found.norm().clamp(min=eps))
    for _ in range(steps):
        gram = found @ found.T
        update = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        found = torch.addmm(found, update, found, beta=a)
    if grad.size(0) > grad.size(1):
        found = found.T
    return found
