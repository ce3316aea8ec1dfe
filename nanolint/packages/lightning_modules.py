"""Lightning's modules, data modules and callbacks: core/ of 2.6. Read, never run.

``unknown`` makes what is not known, ``known`` tells whether something is, and ``taken`` tells what a function was called with that calls
the one that asks.
"""

import torch
from accelerate.utils import send_to_device


class Hooks:
    """Methods that modules, data modules and callbacks may write anew."""

    def on_event(self, *given, **named):
        pass

    setup = teardown = on_event
    on_fit_start = on_fit_end = on_train_start = on_train_end = on_event
    on_sanity_check_start = on_sanity_check_end = on_exception = on_event
    on_train_epoch_start = on_train_epoch_end = on_event
    on_train_batch_start = on_train_batch_end = on_event
    on_validation_start = on_validation_end = on_event
    on_validation_epoch_start = on_validation_epoch_end = on_event
    on_validation_batch_start = on_validation_batch_end = on_event
    on_before_zero_grad = on_after_backward = on_before_backward = on_event
    on_before_optimizer_step = on_save_checkpoint = on_load_checkpoint = on_event


class Callback(Hooks):
    def __init__(self, *given, **named):
        pass


class Shown(Callback):
    """A callback or a logger that only shows or writes what goes on, or ends it earlier."""

    def __getattr__(self, name):
        return unknown(f"{name} of a callback or a logger of Lightning")


class AttributeDict:
    """``hparams``: a mapping whose keys are attributes, too."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return name in self.__dict__

    def items(self):
        return self.__dict__.items()

    def keys(self):
        return self.__dict__.keys()

    def get(self, name, default=None):
        return self.__dict__.get(name, default)

    def update(self, values):
        self.__dict__.update(values)


class WithHyperparameters:
    def save_hyperparameters(self, *names, ignore=(), frame=None, logger=True):
        ignored = [ignore] if isinstance(ignore, str) else ignore or ()
        values = {name: each for name, each in taken().items() if name not in ignored}
        if names and isinstance(names[0], str):
            values = {name: each for name, each in values.items() if name in names}
        elif names:
            values = names[0] if isinstance(names[0], dict) else vars(names[0])
        self.__dict__["_hparams"] = AttributeDict({**self.__dict__.get("_hparams", {}), **values})

    @property
    def hparams(self):
        return self.__dict__.get("_hparams", AttributeDict({}))


class LightningDataModule(Hooks, WithHyperparameters):
    trainer = None

    def prepare_data(self):
        pass

    def train_dataloader(self):
        return None

    val_dataloader = train_dataloader


class LightningModule(torch.nn.Module, Hooks, WithHyperparameters):
    automatic_optimization = True
    trainer = None

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def global_step(self):
        return 0 if self.trainer is None else self.trainer.global_step

    @property
    def current_epoch(self):
        return 0 if self.trainer is None else self.trainer.current_epoch

    @property
    def logger(self):
        return unknown("the logger of Lightning")

    loggers = logger

    def print(self, *given, **named):
        pass

    def configure_model(self):
        pass

    def train_dataloader(self):
        return None

    val_dataloader = prepare_data = configure_callbacks = train_dataloader

    def log(
        self, name, value, prog_bar=False, logger=None, on_step=None, on_epoch=None,
        reduce_fx="mean", batch_size=None, **others,
    ):  # fmt: skip
        trainer = self.trainer
        if trainer is None:
            return
        if not known(value) or hasattr(value, "compute"):
            return  # a metric of torchmetrics, or of one
        is_training = trainer.logs_steps
        on_step = is_training if on_step is None else on_step
        on_epoch = not is_training if on_epoch is None else on_epoch
        if isinstance(value, torch.Tensor):
            value = value.clone().detach()
        else:
            value = torch.tensor(value, device=self.device, dtype=torch.float32)
        trainer.results_of(name, value.device).update(value.squeeze(), on_step, on_epoch)

    def log_dict(self, dictionary, *given, **named):
        for name, value in dictionary.items():
            self.log(name, value, *given, **named)

    def optimizers(self, use_pl_optimizer=True):
        found = self.trainer.optimizers
        return found[0] if len(found) == 1 else found

    def lr_schedulers(self):
        found = [each for each, _ in self.trainer.schedulers]
        return found[0] if len(found) == 1 else found or None

    def manual_backward(self, loss, *given, **named):
        self.trainer.backward(self, loss)

    def backward(self, loss, *given, **named):
        loss.backward(*given, **named)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        if not gradient_clip_val:
            return
        if gradient_clip_algorithm == "value":
            torch.nn.utils.clip_grad_value_(parameters, gradient_clip_val)
        else:
            torch.nn.utils.clip_grad_norm_(parameters, gradient_clip_val)

    configure_gradient_clipping = clip_gradients

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        self.trainer.step(optimizer, optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        optimizer.zero_grad()

    def lr_scheduler_step(self, scheduler, metric):
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            scheduler.step(unknown("the metric of a schedule"))
        else:
            scheduler.step()

    def on_validation_model_zero_grad(self):
        self.zero_grad()

    def on_before_batch_transfer(self, batch, dataloader_idx):
        return batch

    on_after_batch_transfer = on_before_batch_transfer

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        return send_to_device(batch, device)

    def freeze(self):
        for each in self.parameters():
            each.requires_grad = False
        self.eval()


def is_overridden(method_name, instance, parent=None):
    parent = LightningModule if parent is None else parent
    return getattr(type(instance), method_name, None) is not getattr(parent, method_name, None)
