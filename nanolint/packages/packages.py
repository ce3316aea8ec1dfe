"""Packages that scripts use next to torch, as their users would write them; the interpreter reads it.

``words`` are the launch line's flags in their order, each a name and a value; ``scaler_pieces``
allocates what a gradient scaler does, ``reducer`` does with gradients what DDP does.
"""

import inspect

import torch
from torch import nn


class Arguments:
    def __contains__(self, name):
        return hasattr(self, name)


class GradScaler:
    def __init__(
        self,
        device="cuda",
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        self.enabled = enabled
        self.pieces = scaler_pieces()
        self.found = None
        self.scaled = False
        self.unscaled, self.stepped = [], []  # optimizers, since the last update

    def is_enabled(self):
        return self.enabled

    def get_scale(self):
        return 65536.0

    def scale(self, outputs):
        self.scaled = True
        return self.pieces.scale(outputs) if self.enabled else outputs

    def unscale_(self, optimizer):
        if self.enabled:
            self._check(optimizer)
            if optimizer in self.unscaled:
                raise RuntimeError(
                    "unscale_() has already been called on this optimizer since the last update()."
                )
            if optimizer in self.stepped:
                raise RuntimeError("unscale_() is being called after step().")
            self.unscaled.append(optimizer)
            self.found = self.pieces.unscale(optimizer)

    def _check(self, optimizer):
        assert self.scaled, (
            "Attempted step but _scale is None.  This may indicate your script did not use "
            "scaler.scale(loss or outputs) earlier in the iteration."
        )

    def step(self, optimizer, *args, **kwargs):
        if not self.enabled:
            return optimizer.step(*args, **kwargs)
        self._check(optimizer)
        if optimizer in self.stepped:
            raise RuntimeError("step() has already been called since the last update().")
        self.stepped.append(optimizer)
        if self.found is None:
            self.found = self.pieces.unscale(optimizer)
        # Fused ones skip by themselves a step that overflowed; for others the host decides.
        total = self.pieces.found_inf() if optimizer.defaults.get("fused") else None
        optimizer.step(*args, **kwargs)
        del total

    def update(self, new_scale=None):
        assert not self.enabled or self.unscaled or self.stepped or new_scale is not None, (
            "No inf checks were recorded prior to update."
        )
        self.found = None
        self.unscaled, self.stepped = [], []
        self.pieces.updates()

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


class DistributedDataParallel(nn.Module):
    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=None,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list=None,
        batched_grad_copy=False,
        forward_sync_buffers=None,
        lazy_bucket_allocation=False,
    ):
        super().__init__()
        self.module = module
        self.process_group = process_group  # None: all processes, for what is given it too
        self.device_ids, self.output_device, self.dim = device_ids, output_device, dim
        self.broadcast_buffers = True if broadcast_buffers is None else broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view, self.static_graph = gradient_as_bucket_view, static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        renamed = forward_sync_buffers is not None  # this one sends them at the start in any case
        self.sends_buffers = forward_sync_buffers if renamed else self.broadcast_buffers
        others = {
            "process_group": process_group,
            "init_sync": None if init_sync else False,
            "delay_all_reduce_named_params": delay_all_reduce_named_params,
            "mixed_precision": mixed_precision,
            "device_mesh": device_mesh,
            "skip_all_reduce_unused_params": skip_all_reduce_unused_params or None,
            "bucket_cap_mb_list": bucket_cap_mb_list,
        }
        for name, value in others.items():
            if value is not None:
                doubt("the effect of DDP's " + name)
        self.reducer = reducer(
            module,
            renamed or self.broadcast_buffers,
            bucket_cap_mb,
            gradient_as_bucket_view,
            find_unused_parameters,
            static_graph,
            batched_grad_copy,
            lazy_bucket_allocation,
        )

    def forward(self, *args, **kwargs):
        if self.reducer is None:
            return self.module(*args, **kwargs)
        self.reducer.before(self.sends_buffers and self.require_forward_param_sync)
        output = self.module(*args, **kwargs)
        exchanges = torch.is_grad_enabled() and self.require_backward_grad_sync
        self.require_forward_param_sync = exchanges
        self.reducer.after(exchanges)
        return self.sunk(output, []) if self.reducer.sinks() else output

    def sunk(self, output, copies):
        """``_DDPSink``: copies of all tensors; that of one that nothing learns from is dropped."""
        if isinstance(output, torch.Tensor):
            copies.append(output.clone())
            return copies[-1] if output.requires_grad else output
        if isinstance(output, (tuple, list)):
            return type(output)([self.sunk(each, copies) for each in output])
        if isinstance(output, dict):
            return {name: self.sunk(each, copies) for name, each in output.items()}
        if output is not None and not isinstance(output, (int, float, str)):
            doubt("the part of the model's output that DDP copies")
        return output

    def no_sync(self):
        return without_sync(self)


class DataParallel(nn.Module):
    """With one card it hands on what it is given."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        if device_ids is None or len(device_ids) != 1:
            assumed("nn.DataParallel splits batches over all cards; assuming one card")

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class Process:
    """multiprocessing.Process: one that trains is read when it is started."""

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, **options):
        self.target, self.name = target, name
        self.args, self.kwargs = args, kwargs or {}

    def run(self):
        if self.target is not None:
            self.target(*self.args, **self.kwargs)

    def start(self):
        if is_read(self.run if self.target is None else self.target):
            self.run()

    def join(self, *args):
        pass

    terminate = kill = close = join
    exitcode = 0


class Progress:
    """tqdm's bar; how far it is nobody asks of it."""

    def __init__(self, iterable=None, desc=None, total=None, *args, **kwargs):
        self.iterable = iterable
        self.desc = desc
        if total is not None:
            self.total = total

    def __getattr__(self, name):
        return unheard("tqdm's " + name)

    def __iter__(self):
        return iter(self.iterable)

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *given):
        pass

    def write(self, *args, **kwargs):
        pass

    def format_sizeof(*args, **kwargs):
        return unheard("how tqdm writes a number")

    format_interval = format_num = format_meter = format_sizeof
    update = set_description = set_description_str = set_postfix = set_postfix_str = write
    close = refresh = reset = clear = display = unpause = write


def trange(*bounds, **kwargs):
    return Progress(range(*bounds))


def start(component, *args, **kwargs):
    """fire.Fire, tyro.cli: the launch line's flags are the parameters."""
    return started(component, "")


def started(component, command):
    """The same after the word ``command``; any other word may set anything."""
    given = {}
    for name, value in words:
        if name.startswith("*"):
            if name[1:] != command:
                return unheard("what the word " + name[1:] + " sets")
            continue
        name = name.lstrip("-").replace("-", "_")
        if "." in name:  # of a part of what is made
            return unheard("what --" + name + " sets")
        if value is None and name.startswith("no_"):
            given[name[3:]] = False
        else:
            given[name] = True if value is None else plain(value)
    return component(**given)


class Typer:
    """An app of typer: a function is started whose parameters are the launch line's flags."""

    def __init__(self, *args, **kwargs):
        self.commands = {}
        self.is_group = False

    def command(self, name=None, *args, **kwargs):
        def add(function):
            self.commands[name or function.__name__.replace("_", "-")] = function
            return function

        return add

    def callback(self, *args, **kwargs):
        self.is_group = True
        return lambda function: function

    def add_typer(self, *args, **kwargs):
        self.is_group = True

    def __call__(self, *args, **kwargs):
        command = ""
        if self.is_group or len(self.commands) != 1:
            alone = [name[1:] for name, _ in words if name[1:] in self.commands]
            command = alone[0] if len(alone) == 1 else None
        if command is None:
            return unheard("what a launch line of typer starts")
        function = self.commands[command] if command else list(self.commands.values())[0]
        parameters = inspect.signature(function).parameters
        for name, _ in words:
            own = name.lstrip("-").replace("-", "_").removeprefix("no_")
            if not name.startswith("*") and own not in parameters:
                return unheard("which parameter " + name + " sets")
        return started(function, command)


def typer_option(default=..., *names, **settings):
    return unheard("the required value of an option") if default is ... else default


def plain(text):
    if not isinstance(text, str):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False, "None": None}.get(text, text)
