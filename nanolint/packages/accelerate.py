"""accelerate in one process on one card, as it is since 0.20: accelerator.py, data_loader.py,
optimizer.py, utils/operations.py. Read, never run.

``refused`` ends the reading, ``assumed`` takes what is taken to be so, ``processes`` says how many
there are, ``unheard`` makes what is not known, and ``known`` tells whether something is. What it
prepares is in prepared.py.
"""

import os
from contextlib import contextmanager, nullcontext

import torch

# Settings that decide nothing in one process.
QUIET = ("log_with", "project_dir", "project_config", "rng_types", "even_batches", "logging_dir")
QUIET += ("step_scheduler_with_optimizer", "dispatch_batches", "use_seedable_sampler")
HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class GradientAccumulationPlugin:
    def __init__(self, num_steps=1, **options):
        self.num_steps = num_steps


class Accelerator:
    def __init__(
        self,
        device_placement=True,
        split_batches=False,
        mixed_precision=None,
        gradient_accumulation_steps=1,
        cpu=False,
        dataloader_config=None,
        deepspeed_plugin=None,
        fsdp_plugin=None,
        megatron_lm_plugin=None,
        gradient_accumulation_plugin=None,
        dynamo_backend=None,
        kwargs_handlers=None,
        **options,
    ):
        if processes() > 1:
            refused("nanolint does not model accelerate with several processes")
        given = [deepspeed_plugin, fsdp_plugin, megatron_lm_plugin, dynamo_backend]
        given += [each for name, each in options.items() if name not in QUIET]
        for each in given:
            if not known(each) or each is not None:
                refused("nanolint does not model accelerate with plugins")
        if not known(kwargs_handlers) or not known(mixed_precision):
            refused("nanolint does not know the configuration of accelerate")
        for each in kwargs_handlers or []:
            if not known(each) or not isinstance(each, Kept):
                refused("nanolint does not know the configuration of accelerate")
        if mixed_precision is None:
            mixed_precision = os.environ.get("ACCELERATE_MIXED_PRECISION")
            if not known(mixed_precision):
                refused("nanolint does not know the configuration of accelerate")
        if mixed_precision is None:
            assumed("accelerate is configured for no mixed precision")
            mixed_precision = "no"
        if mixed_precision != "no" and mixed_precision not in HALVES:
            refused("nanolint does not model accelerate with " + str(mixed_precision))
        self.mixed_precision = mixed_precision
        self.half = HALVES.get(mixed_precision)
        if gradient_accumulation_plugin is not None:
            gradient_accumulation_steps = gradient_accumulation_plugin.num_steps
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.device = torch.device("cpu" if cpu else "cuda")
        self.device_placement = device_placement
        self.scaler = None
        if mixed_precision == "fp16" and not cpu:
            self.scaler = torch.cuda.amp.GradScaler()
        self.passes = 0
        self.sync_gradients = True
        self.optimizers = []
        self.state = self
        self.process_index = self.local_process_index = 0
        self.num_processes = 1
        self.is_main_process = self.is_local_main_process = self.is_last_process = True
        self.use_distributed = False
        self.distributed_type = "NO"
        self.trackers = []

    def prepare(self, *given, device_placement=None):
        found = tuple([self.prepared(each) for each in given])
        return found if len(found) > 1 else found[0]

    def prepared(self, each):
        if not known(each):  # a scheduler
            return each
        if isinstance(each, torch.nn.Module):
            return self.prepare_model(each)
        if isinstance(each, torch.optim.Optimizer):
            return self.prepare_optimizer(each)
        if isinstance(each, torch.utils.data.DataLoader):
            return self.prepare_data_loader(each)
        if hasattr(each, "get_last_lr"):
            return self.prepare_scheduler(each)
        return each

    def prepare_model(self, model, device_placement=None, evaluation_mode=False):
        if hasattr(model, "_orig_mod"):
            refused("nanolint does not model accelerate with a compiled model")
        if self.half is not None:
            model.forward = cast(model.forward, self.half)
        if self.device_placement if device_placement is None else device_placement:
            model = model.to(self.device)
        return model

    def prepare_optimizer(self, optimizer, device_placement=None):
        made = AcceleratedOptimizer(optimizer, self)
        self.optimizers.append(made)
        return made

    def prepare_data_loader(self, loader, device_placement=None, **options):
        return LoaderShard(loader, self.device if self.device_placement else None)

    def prepare_scheduler(self, scheduler):
        return AcceleratedScheduler(scheduler, self)

    def backward(self, loss, **options):
        loss = loss / self.gradient_accumulation_steps
        if self.scaler is not None:
            self.scaler.scale(loss).backward(**options)
        else:
            loss.backward(**options)

    @contextmanager
    def accumulate(self, *models):
        self.passes += 1
        self.sync_gradients = self.passes % self.gradient_accumulation_steps == 0
        yield

    @contextmanager
    def no_sync(self, model):
        yield

    def autocast(self, *given, **options):
        if self.half is None:
            return nullcontext()
        return torch.autocast("cuda", dtype=self.half)

    def unscale_gradients(self, optimizer=None):
        if self.scaler is not None:
            for each in self.optimizers:
                self.scaler.unscale_(each.optimizer)

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        self.unscale_gradients()
        return torch.nn.utils.clip_grad_norm_(list(parameters), max_norm, norm_type=norm_type)

    def clip_grad_value_(self, parameters, clip_value):
        self.unscale_gradients()
        torch.nn.utils.clip_grad_value_(parameters, clip_value)

    def unwrap_model(self, model, *given, **options):
        return model

    def gather(self, tensor, *given, **options):
        return tensor

    gather_for_metrics = reduce = pad_across_processes = gather

    def get_state_dict(self, model, unwrap=True):
        return model.state_dict()

    def free_memory(self, *given):
        return given

    clear = free_memory

    def quiet(self, *given, **options):
        pass

    print = log = wait_for_everyone = init_trackers = end_training = quiet
    save = save_model = save_state = register_for_checkpointing = quiet
    register_save_state_pre_hook = register_load_state_pre_hook = quiet

    def on_main_process(self, function):
        return function

    on_local_main_process = on_last_process = on_main_process

    @contextmanager
    def main_process_first(self):
        yield

    local_main_process_first = main_process_first

    def load_state(self, *given, **options):
        refused("the data that accelerate loads is not known")

    def get_tracker(self, *given, **options):
        return unheard("a tracker of accelerate")

    def skip_first_batches(self, loader, num_batches=0):
        return loader


class Kept:
    """Settings of what is asked for more than one process alone, or to write a log."""

    def __init__(self, *given, **options):
        pass


def set_seed(*given, **options):
    pass


def get_logger(*given, **options):
    return unheard("logging.accelerate")
