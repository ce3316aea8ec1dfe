"""Lightning's Trainer in one process on one card: trainer.py, loops/ and core/ of 2.6. Read, never
run.

``doubt`` takes what is not known, ``refused`` ends the reading, ``known`` tells whether something
is, ``unknown`` makes what is not, ``counted`` says how many turns a loop over something has, and
``cards`` how many there are. It is given the names of lightning_modules.py.
"""

import inspect
from functools import partial

import torch

AUTOCAST = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
OWN = {"bf16-true": torch.bfloat16, "16-true": torch.float16, "64-true": torch.float64}
NAMES = {
    "32": "32-true", "16": "16-mixed", "bf16": "bf16-mixed", "64": "64-true", "None": "32-true",
}  # fmt: skip
# Arguments of Trainer by which nothing on the card changes.
QUIET = (
    "benchmark", "default_root_dir", "detect_anomaly", "enable_autolog_hparams", "enable_checkpointing", "enable_model_summary",
    "enable_progress_bar", "enable_version_counter", "limit_predict_batches",
    "limit_test_batches", "log_every_n_steps", "logger", "max_time", "min_epochs", "min_steps",
    "model_registry", "profiler", "reload_dataloaders_every_n_epochs",
    "sync_batchnorm", "use_distributed_sampler",
)  # fmt: skip
# Those that it added to a parser, until 2.0.
FLAGS = {
    "max_epochs": None, "max_steps": -1, "accelerator": "auto", "devices": 1, "strategy": "auto",
    "precision": 32, "accumulate_grad_batches": 1, "gradient_clip_val": None,
    "limit_train_batches": None, "limit_val_batches": None, "val_check_interval": None,
    "check_val_every_n_epoch": 1, "num_sanity_val_steps": None,
}  # fmt: skip


class Result:
    """A value that ``self.log`` keeps: _ResultMetric."""

    def __init__(self, device):
        self.value, self.count = torch.tensor(0.0).to(device), torch.tensor(0).to(device)
        self.defaults = torch.tensor(0.0).to(device), torch.tensor(0).to(device)
        self.last = self.computed = None

    def update(self, value, on_step, on_epoch):
        if value.dtype not in (torch.float32, torch.float64):
            value = value.to(torch.float32)
        if on_step:
            self.last = value.clone()
            if not on_epoch:
                self.value = self.last
                return
        self.value = self.value + value * 1
        self.count = self.count + 1

    def compute(self):
        self.computed = self.value.clone() / self.count


def seed_everything(seed=None, workers=False, verbose=True):
    return seed


class Trainer:
    def __init__(
        self, accelerator="auto", strategy="auto", devices="auto", precision=None, callbacks=None,
        fast_dev_run=False, max_epochs=None, max_steps=-1, limit_train_batches=None,
        limit_val_batches=None, overfit_batches=0.0, val_check_interval=None,
        check_val_every_n_epoch=1, num_sanity_val_steps=None, accumulate_grad_batches=1,
        gradient_clip_val=None, gradient_clip_algorithm=None, inference_mode=True, num_nodes=1, **others,
    ):  # fmt: skip
        for name, each in others.items():
            if name not in QUIET and (not known(each) or each not in (None, False)):
                doubt(f"the argument {name} of Lightning's Trainer")
        given = (accelerator, strategy, devices, precision, max_steps, accumulate_grad_batches)
        if not all(map(known, given)):
            refused("what Lightning's Trainer is given is not known")
        on_card = accelerator in ("auto", "gpu", "cuda") and torch.cuda.is_available()
        count = len(devices) if isinstance(devices, (list, tuple)) else devices
        if on_card and (cards() if count in ("auto", -1, "-1") else int(count)) > 1:
            refused("Lightning on several cards is not known")
        if on_card and (strategy not in ("auto", None) or num_nodes != 1):
            refused("a strategy of Lightning is not known")
        self.device = torch.device("cuda:0" if on_card else "cpu")
        self.precision = NAMES.get(str(precision), str(precision))
        if self.precision not in (*AUTOCAST, *OWN, "32-true"):
            refused("a precision of Lightning is not known")
        if fast_dev_run:
            max_epochs, max_steps, num_sanity_val_steps = 1, int(fast_dev_run), 0
            limit_train_batches = limit_val_batches = int(fast_dev_run)
        if overfit_batches:
            limit_train_batches = limit_val_batches = overfit_batches
        self.max_steps = max_steps
        self.max_epochs = max_epochs
        if max_epochs is None:
            self.max_epochs = 1000 if max_steps == -1 else -1
        self.limit_train_batches = 1.0 if limit_train_batches is None else limit_train_batches
        self.limit_val_batches = 1.0 if limit_val_batches is None else limit_val_batches
        self.val_check_interval = 1.0 if val_check_interval is None else val_check_interval
        self.check_val_every_n_epoch = check_val_every_n_epoch
        self.num_sanity_val_steps = 2 if num_sanity_val_steps is None else num_sanity_val_steps
        self.accumulate_grad_batches = accumulate_grad_batches
        self.gradient_clip_val = gradient_clip_val
        self.gradient_clip_algorithm = gradient_clip_algorithm
        callbacks = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
        if not all(map(known, callbacks)):
            doubt("what a callback of Lightning does")
        self.callbacks = [each for each in callbacks if known(each) and each is not None]
        self.scaler = torch.amp.GradScaler("cuda") if self.precision == "16-mixed" else None
        self.global_step = self.current_epoch = 0
        self.is_global_zero = True
        self.world_size = self.num_devices = self.num_nodes = 1
        self.global_rank = self.local_rank = 0
        self.should_stop = self.sanity_checking = self.logs_steps = False
        self.optimizers = self.schedulers = ()
        self.results, self.kept = {}, {}

    def __getattr__(self, name):
        return unknown(f"{name} of Lightning's Trainer")

    # Gone since 2.0.

    @staticmethod
    def add_argparse_args(parser, **others):
        doubt("an older Lightning, which has add_argparse_args,")
        for name, default in FLAGS.items():
            kind = int if default is None else type(default)
            parser.add_argument(f"--{name}", default=default, type=kind)
        return parser

    @classmethod
    def from_argparse_args(cls, args, **others):
        named = {name: each for name, each in vars(args).items() if name in FLAGS}
        return cls(**{**named, **others})

    # Hooks.

    def tell(self, event, *given):
        for each in self.callbacks:
            getattr(each, event)(self, self.model, *given)
        return getattr(self.model, event)(*given)

    def results_of(self, name, device):
        key = (self.logs_steps, name)
        if key not in self.results:
            self.results[key] = Result(device)
        return self.results[key]

    def in_precision(self):
        dtype = AUTOCAST.get(self.precision, torch.float32)
        on = self.precision in AUTOCAST
        return torch.autocast(self.device.type, dtype=dtype, enabled=on, cache_enabled=False)

    def on_card(self, batch):
        batch = self.model.on_before_batch_transfer(batch, 0)
        batch = self.model.transfer_batch_to_device(batch, self.device, 0)
        return self.model.on_after_batch_transfer(batch, 0)

    def asked(self, hook, batch, batch_idx):
        """Calls a step of the module with the arguments that it takes."""
        function = getattr(self.model, hook)
        takes = inspect.signature(function).parameters
        given = (batch, batch_idx) if "batch_idx" in takes or len(takes) > 1 else (batch,)
        with self.in_precision():
            return function(*given)

    # Training.

    def fit(
        self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None,
        weights_only=None,
    ):  # fmt: skip
        if not known(model):
            refused("what Lightning trains is not known")
        if isinstance(train_dataloaders, LightningDataModule):
            train_dataloaders, datamodule = None, train_dataloaders
        if known(ckpt_path) and ckpt_path is not None:
            doubt("what a run of Lightning takes that goes on from a checkpoint")
        self.model = self.lightning_module = model
        self.datamodule = datamodule
        model.__dict__["trainer"] = self
        source = model
        if datamodule is not None:
            source = datamodule
            datamodule.trainer = self
            for name in ("transfer_batch_to_device", "on_before_batch_transfer"):
                if hasattr(datamodule, name):
                    doubt(f"what {name} of a data module does")
            datamodule.prepare_data()
            datamodule.setup("fit")
        else:
            model.prepare_data()
        self.tell("setup", "fit")
        model.configure_model()
        if self.precision in OWN:
            model.to(OWN[self.precision])
        model.to(self.device)
        self.take(model.configure_optimizers())
        self.tell("on_fit_start")
        loader = source.train_dataloader() if train_dataloaders is None else train_dataloaders
        if isinstance(loader, (list, tuple)) and len(loader) == 1:
            loader = loader[0]
        if isinstance(loader, (list, tuple, dict)):
            refused("several loaders of Lightning are not known")
        self.val_dataloaders = val_dataloaders
        if val_dataloaders is None and hasattr(model, "validation_step"):
            self.val_dataloaders = source.val_dataloader()
        self.validates = self.limit_val_batches != 0 and hasattr(model, "validation_step")
        self.validates = self.validates and self.val_dataloaders is not None
        if self.validates and self.num_sanity_val_steps:
            self.sanity_checking = True
            self.evaluate(self.num_sanity_val_steps)
            self.sanity_checking = False
            self.results = {}
        model.train()
        self.tell("on_train_start")
        each = limit(counted(loader), self.limit_train_batches)
        epochs = self.max_epochs
        if epochs == -1:
            epochs = (
                1 if each is None else -(-self.max_steps * self.accumulate_grad_batches // each)
            )
        for epoch in range(epochs):
            self.current_epoch = epoch
            self.tell("on_train_epoch_start")
            self.run_epoch(loader, each)
            for scheduler, interval in self.schedulers:
                if interval == "epoch":
                    model.lr_scheduler_step(scheduler, None)
            if self.validates and self.val_check_interval == 1.0:
                if (epoch + 1) % self.check_val_every_n_epoch == 0:
                    self.validate_within()
            self.tell("on_train_epoch_end")
            if self.is_over():
                break
        self.tell("on_train_end")
        self.tell("on_fit_end")

    def take(self, found):
        """Takes the result of configure_optimizers: core/optimizer.py."""
        schedulers = []
        if isinstance(found, dict):
            schedulers = [found["lr_scheduler"]] if "lr_scheduler" in found else []
            found = [found["optimizer"]]
        elif isinstance(found, (list, tuple)) and found and isinstance(found[0], dict):
            schedulers = [each["lr_scheduler"] for each in found if "lr_scheduler" in each]
            found = [each["optimizer"] for each in found]
        elif isinstance(found, (list, tuple)) and found and isinstance(found[0], (list, tuple)):
            found, schedulers = found
        elif not isinstance(found, (list, tuple)):
            found = [found]
        self.optimizers = list(found)
        if len(self.optimizers) > 1 and self.model.automatic_optimization:
            raise RuntimeError(
                "Training with multiple optimizers is only supported with manual optimization. "
                "Remove the `optimizer_idx` argument from `training_step`, set "
                "`self.automatic_optimization = False` and access your optimizers in "
                "`training_step` with `opt1, opt2, ... = self.optimizers()`."
            )
        self.schedulers = [
            (each["scheduler"], each.get("interval", "epoch"))
            if isinstance(each, dict)
            else (each, "epoch")
            for each in (schedulers if isinstance(schedulers, (list, tuple)) else [schedulers])
        ]

    def is_over(self):
        return self.should_stop or self.global_step >= self.max_steps > 0

    def run_epoch(self, loader, count):
        every = self.val_check_interval if self.validates else 0
        if not isinstance(every, int):
            every = 0 if every == 1.0 or count is None else max(1, int(count * every))
        accumulates = self.accumulate_grad_batches
        for batch_idx, batch in enumerate(loader):
            batch = self.on_card(batch)
            self.logs_steps = True
            self.tell("on_train_batch_start", batch, batch_idx)
            is_step = accumulates == 1 or (batch_idx + 1) % accumulates == 0
            if count is not None and batch_idx + 1 == count:
                is_step = True
            output = self.run_batch(batch, batch_idx, is_step)
            if is_step:
                for scheduler, interval in self.schedulers:
                    if interval == "step":
                        self.model.lr_scheduler_step(scheduler, None)
                self.global_step += 1
            self.tell("on_train_batch_end", output, batch, batch_idx)
            output = None
            self.kept = {key: each.last for key, each in self.results.items()}
            self.logs_steps = False
            if every and (batch_idx + 1) % every == 0:
                self.validate_within()
            if self.is_over():
                break
            if count is not None and batch_idx + 1 >= count:
                break

    def run_batch(self, batch, batch_idx, is_step):
        if not self.model.automatic_optimization:
            return self.asked("training_step", batch, batch_idx)
        optimizer, result = self.optimizers[0], {}
        closure = partial(self.closure, batch, batch_idx, optimizer, result)
        if is_step:
            self.model.optimizer_step(self.current_epoch, batch_idx, optimizer, closure)
        else:
            closure()
        return result

    @torch.enable_grad()
    def closure(self, batch, batch_idx, optimizer, result):
        output = self.asked("training_step", batch, batch_idx)
        if output is None:
            return None
        if isinstance(output, dict):
            result.update(output)
            output = output["loss"]
        loss = output / self.accumulate_grad_batches
        output = None
        result["loss"] = loss.detach().clone()
        if batch_idx % self.accumulate_grad_batches == 0:
            self.tell("on_before_zero_grad", optimizer)
            self.model.optimizer_zero_grad(self.current_epoch, batch_idx, optimizer)
        self.backward(self.model, loss)
        return result["loss"]

    def backward(self, model, loss):
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        self.tell("on_before_backward", loss)
        model.backward(loss)
        self.tell("on_after_backward")

    def step(self, optimizer, closure):
        if self.scaler is not None:
            closure()
            self.scaler.unscale_(optimizer)
            self.clip(optimizer)
            self.scaler.step(optimizer)
            self.scaler.update()
            return
        optimizer.step(closure=partial(self.whole, optimizer, closure))

    def whole(self, optimizer, closure):
        loss = closure()
        self.clip(optimizer)
        return loss

    def clip(self, optimizer):
        self.tell("on_before_optimizer_step", optimizer)
        self.model.configure_gradient_clipping(
            optimizer, self.gradient_clip_val, self.gradient_clip_algorithm
        )

    # Evaluation.

    def validate_within(self):
        self.model.on_validation_model_zero_grad()
        self.evaluate(self.limit_val_batches)
        self.model.train()

    def evaluate(self, most):
        loaders = self.val_dataloaders
        if not isinstance(loaders, (list, tuple)):
            loaders = [loaders]
        with torch.no_grad():
            self.model.eval()
            self.tell("on_validation_start")
            self.tell("on_validation_epoch_start")
            for loader in loaders:
                count = limit(counted(loader), most)
                for batch_idx, batch in enumerate(loader):
                    if count is not None and batch_idx >= count:
                        break
                    batch = self.on_card(batch)
                    self.tell("on_validation_batch_start", batch, batch_idx)
                    output = self.asked("validation_step", batch, batch_idx)
                    self.tell("on_validation_batch_end", output, batch, batch_idx)
            self.tell("on_validation_epoch_end")
            for (is_training, _), each in self.results.items():
                if not is_training:
                    each.compute()
            self.tell("on_validation_end")

    def quiet(self, *given, **named):
        return unknown("what Lightning's Trainer gives after the training")

    test = predict = validate = save_checkpoint = quiet


def limit(count, most):
    """How many of so many batches are taken; None if nobody knows it."""
    if isinstance(most, int):
        return most if count is None else min(count, most)
    return None if count is None else int(count * most)
