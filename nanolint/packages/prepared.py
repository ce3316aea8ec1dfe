"""A model, an optimizer, a scheduler and a loader that accelerate has prepared: optimizer.py,
scheduler.py, data_loader.py and utils/operations.py. Read, never run.

``refused`` ends the reading.
"""

import torch


def cast(forward, half):
    """The forward pass under autocast, what it returns in float32."""

    def both(*args, **kwargs):
        return in_full(under(forward, half, args, kwargs))

    return both


def under(forward, half, args, kwargs):
    with torch.autocast("cuda", dtype=half):
        return forward(*args, **kwargs)


def in_full(data):
    if isinstance(data, (tuple, list)):
        return type(data)([in_full(each) for each in data])
    if isinstance(data, dict):
        return {name: in_full(each) for name, each in data.items()}
    if isinstance(data, torch.Tensor):
        return data.float() if data.dtype in (torch.float16, torch.bfloat16) else data
    if hasattr(data, "to_tuple"):  # transformers' ModelOutput, which is a mapping
        fields = {name: in_full(getattr(data, name)) for name in data.names}
        return type(data)(**fields)
    if hasattr(data, "get_seq_length"):  # its caches are none
        return data
    if data is not None and not isinstance(data, (int, float, str)):
        refused("nanolint does not model accelerate with this output of the model")
    return data


class AcceleratedOptimizer:
    def __init__(self, optimizer, accelerator):
        self.optimizer = optimizer
        self.accelerator = accelerator

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def state(self):
        return self.optimizer.state

    @property
    def defaults(self):
        return self.optimizer.defaults

    def step(self, closure=None):
        if self.accelerator.sync_gradients:
            if self.accelerator.scaler is not None:
                self.accelerator.scaler.step(self.optimizer)
                self.accelerator.scaler.update()
            else:
                self.optimizer.step()

    def zero_grad(self, set_to_none=None):
        if self.accelerator.sync_gradients:
            if set_to_none is None:
                self.optimizer.zero_grad()
            else:
                self.optimizer.zero_grad(set_to_none=set_to_none)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state)

    def train(self):
        pass

    eval = train


class AcceleratedScheduler:
    def __init__(self, scheduler, accelerator):
        self.scheduler = scheduler
        self.accelerator = accelerator

    def step(self, *given, **options):
        if self.accelerator.sync_gradients:
            self.scheduler.step(*given, **options)

    def get_last_lr(self):
        return self.scheduler.get_last_lr()

    def state_dict(self):
        return self.scheduler.state_dict()

    def load_state_dict(self, state):
        self.scheduler.load_state_dict(state)


class LoaderShard:
    """Batches on the card; the next one is loaded before the one that was asked for is given."""

    def __init__(self, loader, device):
        self.base_dataloader = loader
        self.device = device
        self.dataset = loader.dataset
        self.batch_size = loader.batch_size

    @property
    def total_batch_size(self):
        return self.batch_size

    def __len__(self):
        return len(self.base_dataloader)

    def set_epoch(self, epoch):
        pass

    def __iter__(self):
        loaded = iter(self.base_dataloader)
        current = next(loaded)
        for following in loaded:
            if self.device is not None:
                current = sent(current, self.device)
            yield current
            current = following
        if self.device is not None:
            current = sent(current, self.device)
        yield current


def sent(batch, device):
    if isinstance(batch, dict):
        return {name: sent(each, device) for name, each in batch.items()}
    if isinstance(batch, (tuple, list)):
        return type(batch)([sent(each, device) for each in batch])
    return batch.to(device) if hasattr(batch, "to") else batch
