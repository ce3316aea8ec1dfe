"""transformers' Trainer in one process on one card: trainer.py and trainer_callback.py of 5.24.
Read, never run.

``doubt`` takes what is not known, ``refused`` ends the reading, ``known`` tells whether something
is, ``demanded`` ends the reading if it is not, ``unknown`` makes what is not, ``counted`` says how
many turns a loop over something has, ``takes_any`` whether a function takes arguments of any name,
``cards`` how many there are, and ``used`` doubts an older release. It trains by accelerate.
"""

import inspect

import torch
from accelerate import Accelerator
from accelerate.utils import send_to_device
from torch.utils.data import DataLoader

# Methods that a script may write anew, and that are not called here.
NOT_CALLED = (
    "_inner_training_loop", "_maybe_log_save_evaluate", "_run_epoch", "evaluation_loop",
    "get_batch_samples", "prediction_loop",
)  # fmt: skip
SCHEDULES = {
    "linear": "get_linear_schedule_with_warmup",
    "cosine": "get_cosine_schedule_with_warmup",
    "constant_with_warmup": "get_constant_schedule_with_warmup",
}
FUSED_SINCE = (2, 8)  # the release of PyTorch with which AdamW is fused


class TrainerCallback:
    def on_event(self, args, state, control, **kwargs):
        pass

    on_init_end = on_train_begin = on_train_end = on_epoch_begin = on_epoch_end = on_event
    on_step_begin = on_pre_optimizer_step = on_optimizer_step = on_substep_end = on_event
    on_step_end = on_evaluate = on_save = on_log = on_predict = on_prediction_step = on_event


class Quiet(TrainerCallback):
    """One that only shows what goes on, or ends it earlier."""

    def __init__(self, *given, **named):
        pass


EarlyStoppingCallback = DefaultFlowCallback = PrinterCallback = ProgressCallback = Quiet


class TrainerState:
    """TrainerState and TrainerControl, which callbacks are given."""

    def __init__(self, max_steps=0):
        self.global_step = 0
        self.max_steps = max_steps
        self.epoch = 0
        self.is_world_process_zero = self.is_local_process_zero = True
        self.best_metric = self.best_model_checkpoint = None
        self.log_history = []
        self.should_training_stop = self.should_epoch_stop = False
        self.should_save = self.should_evaluate = self.should_log = False

    def __getattr__(self, name):
        return unknown(f"{name} of the state of Trainer")


TrainerControl = TrainerState


class Unscheduled:
    """A schedule whose rates are not known."""

    def step(self):
        pass


class TrainOutput:
    def __init__(self, global_step, training_loss, metrics):
        self.global_step = global_step
        self.training_loss = training_loss
        self.metrics = metrics


class Trainer:
    def __init__(
        self,
        model=None,
        args=None,
        data_collator=None,
        train_dataset=None,
        eval_dataset=None,
        processing_class=None,
        model_init=None,
        compute_loss_func=None,
        compute_metrics=None,
        callbacks=None,
        optimizers=(None, None),
        optimizer_cls_and_kwargs=None,
        preprocess_logits_for_metrics=None,
        tokenizer=None,
    ):
        if tokenizer is not None:
            older("the argument tokenizer of Trainer")
            processing_class = tokenizer
        if cards() > 1:
            refused("transformers' Trainer on several cards is not known")
        args = TrainingArguments() if args is None else args
        if model is None and model_init is None:
            raise RuntimeError("`Trainer` requires either a `model` or `model_init` argument")
        demanded(model)
        demanded(args)
        for each in (compute_loss_func, optimizer_cls_and_kwargs):
            if each is not None:
                doubt("what a Trainer takes that makes its own loss or optimizer")
        for each in NOT_CALLED:
            if hasattr(type(self), each):
                doubt(f"what {each} does that a script writes for Trainer")
        if args.eval_strategy not in (None, "no") and eval_dataset is None:
            raise ValueError(
                f"You have set `args.eval_strategy` to {args.eval_strategy} but you didn't pass an "
                "`eval_dataset` to `Trainer`. Either set `args.eval_strategy` to `no` or pass an "
                "`eval_dataset`. "
            )
        used()
        looked_through(args)
        self.args = args
        half = "fp16" if args.fp16 else "bf16" if args.bf16 else "no"
        self.accelerator = Accelerator(mixed_precision=half, cpu=args.use_cpu)
        self.model_init = model_init
        model = model_init() if model is None else model
        self.model = self.model_wrapped = model.to(args.device)
        names = inspect.signature(model.forward).parameters
        self.columns = [*names, "label", "label_ids"]
        self.counts = getattr(model, "accepts_loss_kwargs", takes_any(model.forward))
        self.shifts = getattr(model, "loss_type", None) == "ForCausalLM"
        self.data_collator = data_collator
        if data_collator is None:
            self.data_collator = default_data_collator
            if processing_class is not None:
                self.data_collator = DataCollatorWithPadding(processing_class)
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.processing_class = self.tokenizer = processing_class
        self.compute_metrics = compute_metrics
        self.preprocess_logits_for_metrics = preprocess_logits_for_metrics
        self.optimizer, self.lr_scheduler = optimizers
        self.callbacks = [each() if isinstance(each, type) else each for each in callbacks or []]
        self.state = self.control = TrainerState(args.max_steps)
        self.is_prepared = False
        if hasattr(model, "config"):
            model.config.use_cache = args.use_cache
        self.tell("on_init_end")

    def tell(self, event, **named):
        for each in self.callbacks:
            getattr(each, event)(
                self.args,
                self.state,
                self.control,
                model=self.model,
                processing_class=self.processing_class,
                optimizer=self.optimizer,
                lr_scheduler=self.lr_scheduler,
                **named,
            )

    def __getattr__(self, name):
        return unknown(f"{name} of Trainer")

    def add_callback(self, callback):
        self.callbacks.append(callback() if isinstance(callback, type) else callback)

    def quiet(self, *given, **named):
        pass

    save_model = save_state = log = log_metrics = save_metrics = push_to_hub = quiet
    create_model_card = remove_callback = pop_callback = store_flos = quiet

    def is_world_process_zero(self):
        return True

    is_local_process_zero = is_world_process_zero

    # Data.

    def collated(self, features):
        first = features[0]
        if self.args.remove_unused_columns and hasattr(first, "items"):
            taken = {name: each for name, each in first.items() if name in self.columns}
            features = [taken] * len(features)
        return self.data_collator(features)

    def loader_of(self, dataset, size, drop_last=False):
        loader = DataLoader(dataset, size, collate_fn=self.collated, drop_last=drop_last)
        return self.accelerator.prepare_data_loader(loader)

    def get_train_dataloader(self):
        args = self.args
        return self.loader_of(self.train_dataset, args.train_batch_size, args.dataloader_drop_last)

    def get_eval_dataloader(self, eval_dataset=None):
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        return self.loader_of(dataset, self.args.eval_batch_size)

    # The optimizer.

    def create_optimizer(self, model=None):
        model = self.model if model is None else model
        if self.optimizer is None:
            decayed = decayed_in(model)
            groups = [
                {
                    "params": [
                        each for name, each in model.named_parameters()
                        if each.requires_grad and (name in decayed) is decays
                    ],
                    "weight_decay": self.args.weight_decay if decays else 0.0,
                }
                for decays in (True, False)
            ]  # fmt: skip
            self.optimizer = optimizer_of(self.args, groups)
        return self.optimizer

    def create_scheduler(self, num_training_steps, optimizer=None):
        args, name = self.args, SCHEDULES.get(self.args.lr_scheduler_type)
        if not known(self.lr_scheduler) or self.lr_scheduler is not None:
            return self.lr_scheduler
        self.lr_scheduler = Unscheduled()
        if name is not None and not args.lr_scheduler_kwargs and num_training_steps:
            share = args.warmup_steps or args.warmup_ratio or 0
            warmup = -int(-share * num_training_steps // 1) if share < 1 else int(share)
            ends = [] if args.lr_scheduler_type == "constant_with_warmup" else [num_training_steps]
            self.lr_scheduler = unknown(f"transformers.{name}")(self.optimizer, warmup, *ends)
        return self.lr_scheduler

    def create_optimizer_and_scheduler(self, num_training_steps):
        self.create_optimizer()
        self.create_scheduler(num_training_steps)

    # Training.

    def train(self, resume_from_checkpoint=None, trial=None, ignore_keys_for_eval=None):
        args = self.args
        if known(resume_from_checkpoint) and resume_from_checkpoint:  # if not, none is there
            doubt("what a run of Trainer takes that is resumed")
        if self.model_init is not None:  # it makes another
            self.optimizer = self.lr_scheduler = None
            self.model = self.model_init()
            self.model = self.model_wrapped = self.model.to(args.device)
        if args.gradient_checkpointing:
            self.model.gradient_checkpointing_enable(args.gradient_checkpointing_kwargs)
        loader = self.get_train_dataloader()
        self.create_optimizer()
        model, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)
        self.is_prepared = True
        self.steps = Steps(loader, args.gradient_accumulation_steps)
        each, steps = counted(self.steps), args.max_steps
        epochs = -int(-args.num_train_epochs // 1)
        if steps > 0 and each is not None and args.eval_strategy == "epoch":
            epochs = -(-steps // each)
        elif steps > 0:
            epochs, self.steps.most = 1, steps
        elif each is not None:
            steps = -int(-args.num_train_epochs * each // 1)
            if args.num_train_epochs % 1 and args.eval_strategy != "epoch":
                epochs, self.steps.most = 1, steps
        for name in ("logging_steps", "eval_steps"):
            share = getattr(args, name)
            if share and share < 1:
                every = -int(-share * steps // 1) if steps > 0 else unknown(f"{name} of Trainer")
                setattr(args, name, every)
        self.create_scheduler(max(steps, 0))
        self.lr_scheduler = self.accelerator.prepare(self.lr_scheduler)
        self.state = self.control = TrainerState(args.max_steps)
        self.tr_loss = torch.tensor(0.0, device=args.device)
        model.zero_grad()
        self.tell("on_train_begin")
        if args.eval_on_start:
            self.evaluate()
        for epoch in range(epochs):
            self.state.epoch = epoch
            self.tell("on_epoch_begin")
            self.run_epoch(model)
            self.tell("on_epoch_end")
            if args.eval_strategy == "epoch" and args.eval_delay <= epoch + 1:
                self.evaluate()
            if self.is_over():
                break
        self.tr_loss.item()
        self.tell("on_train_end")
        found = unknown("the metrics of Trainer")
        return TrainOutput(self.state.global_step, found, found)

    def is_over(self):
        is_last = self.state.global_step >= self.args.max_steps > 0
        return is_last or self.control.should_training_stop

    def run_epoch(self, model):
        args = self.args
        grad_norm = None
        for batches in self.steps:
            items = self.items_in(batches)
            self.passes = len(batches)
            self.tell("on_step_begin")
            for inputs in batches:
                loss = self.training_step(model, inputs, items)
                if args.logging_nan_inf_filter:
                    torch.isnan(loss)
                    torch.isinf(loss)
                self.tr_loss += loss
            grad_norm = None
            most = args.max_grad_norm if args.max_grad_norm > 0 else float("inf")
            grad_norm = self.accelerator.clip_grad_norm_(model.parameters(), most)
            self.tell("on_pre_optimizer_step")
            self.optimizer.step()
            self.tell("on_optimizer_step")
            self.lr_scheduler.step()
            model.zero_grad()
            self.state.global_step += 1
            self.tell("on_step_end")
            self.log_and_evaluate(self.state.global_step, grad_norm)
            if self.control.should_training_stop or self.control.should_epoch_stop:
                break

    def log_and_evaluate(self, done, grad_norm):
        args = self.args
        if (args.logging_first_step and done == 1) or (
            args.logging_strategy == "steps" and done % args.logging_steps == 0
        ):
            self.tr_loss.mean().item()
            self.tr_loss -= self.tr_loss
            grad_norm.item()
            self.tell("on_log", logs={})
        if args.eval_strategy == "steps" and args.eval_delay <= done:
            if done % args.eval_steps == 0 or done == args.max_steps:
                self.evaluate()

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        del inputs
        if num_items_in_batch is None:
            loss = loss / self.passes
        self.accelerator.backward(loss)
        return loss.detach()

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if num_items_in_batch is not None:
            inputs = {**inputs, "num_items_in_batch": num_items_in_batch}
        outputs = model(**inputs)
        if not isinstance(outputs, dict):
            loss = outputs.loss if hasattr(outputs, "to_tuple") else outputs[0]
        else:
            loss = outputs.get("loss")
        if loss is None:
            raise ValueError(
                "The model did not return a loss from the inputs. For reference, the inputs it "
                f"received are {','.join(inputs)}."
            )
        if num_items_in_batch is not None:
            loss *= 1
        return (loss, outputs) if return_outputs else loss

    def items_in(self, batches):
        """How many tokens a step is asked for, if the model takes their number."""
        if not self.counts or "labels" not in batches[0]:
            return None
        found = [each["labels"] for each in batches]
        if self.shifts:
            found = [each[..., 1:] for each in found]
        return sum([each.ne(-100).sum() for each in found]).to(self.args.device) / 1

    def _prepare_inputs(self, inputs):
        device = self.args.device
        return {
            name: each.to(device) if isinstance(each, torch.Tensor) else each
            for name, each in inputs.items()
        }

    # Evaluation.

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        if isinstance(dataset, dict):
            for name, each in dataset.items():
                found = self.evaluate(each, ignore_keys, f"{metric_key_prefix}_{name}")
            return found
        loader = self.get_eval_dataloader(eval_dataset)
        keeps = self.compute_metrics is not None and not self.args.prediction_loss_only
        model = self.model
        if not self.is_prepared:
            model = self.accelerator.prepare_model(model)
            self.is_prepared = True
        model.eval()
        all_losses = all_logits = all_labels = None
        for inputs in on_card(loader):
            loss, logits, labels = self.prediction_step(model, inputs, not keeps)
            if loss is not None:
                loss = loss.repeat(self.args.eval_batch_size)
                all_losses = joined(all_losses, loss)
            if keeps:
                if self.preprocess_logits_for_metrics is not None:
                    logits = self.preprocess_logits_for_metrics(logits, labels)
                all_logits = joined(all_logits, logits)
                if labels is not None:
                    all_labels = joined(all_labels, labels)
            self.tell("on_prediction_step")
        metrics = unknown("the metrics of Trainer")
        self.tell("on_evaluate", metrics=metrics)
        return metrics

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        loss = labels = None
        with torch.no_grad():
            if "labels" in inputs:
                labels = inputs["labels"].detach()
                items = self.items_in([inputs])
                loss, outputs = self.compute_loss(
                    model, inputs, return_outputs=True, num_items_in_batch=items
                )
                loss = loss.detach().mean()
            else:
                outputs = model(**inputs)
        if prediction_loss_only:
            return (loss, None, None)
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs[1]
        return (loss, logits.detach(), labels)

    def predict(self, *given, **named):
        refused("what predict of Trainer takes is not known")

    hyperparameter_search = predict


def on_card(loader):
    """The batches of a loader, which accelerate has prepared unless a script makes its own."""
    is_prepared = hasattr(loader, "base_dataloader")
    for batch in loader.base_dataloader if is_prepared else loader:
        batch = dict(demanded(batch).items())  # a tokenizer's mapping, too
        yield send_to_device(batch, loader.device) if is_prepared else batch


class Steps:
    """The batches of a loader, as many at once as a step has: of an epoch, or of ``most`` steps."""

    def __init__(self, loader, passes):
        self.loader = loader
        self.passes = passes
        self.most = None

    def __len__(self):
        return -(-len(self.loader) // self.passes) if self.most is None else self.most

    def __iter__(self):
        yield from self.of_epoch()
        for _ in range(self.most or 0):  # each has a step, unless there is none
            yield from self.of_epoch()

    def of_epoch(self):
        loaded = on_card(self.loader)
        while True:
            batches = []
            for _ in range(self.passes):
                batch = next(loaded, None)
                if batch is not None:
                    batches.append(batch)
            if not batches:
                return
            yield batches


def joined(kept, new):
    return new if kept is None else torch.cat((kept, new), dim=0)


def decayed_in(module):
    """The names of the parameters that weight decay is for."""
    found = []
    for name, child in module.named_children():
        if not isinstance(child, torch.nn.LayerNorm):
            found += [f"{name}.{each}" for each in decayed_in(child)]
    found += [name for name, _ in module.named_parameters(recurse=False)]
    return [name for name in found if not is_spared(name.lower())]


def is_spared(name):
    if "bias" in name or "layernorm" in name or "rmsnorm" in name:
        return True
    return any(each == "norm" or each.endswith("_norm") for each in name.split("."))


def optimizer_of(args, groups):
    name = args.optim
    if name is None:
        release = tuple([int(each) for each in torch.__version__.split(".")[:2]])
        name = "adamw_torch_fused" if release >= FUSED_SINCE else "adamw_torch"
    rate = {"lr": args.learning_rate}
    if name in ("adamw_torch", "adamw_torch_fused"):
        betas = (args.adam_beta1, args.adam_beta2)
        fused = {"fused": True} if name == "adamw_torch_fused" else {}
        return torch.optim.AdamW(groups, betas=betas, eps=args.adam_epsilon, **fused, **rate)
    if name in ("sgd", "rmsprop"):
        made = {"sgd": "SGD", "rmsprop": "RMSprop"}
        return getattr(torch.optim, made[name])(groups, **rate)
    refused(f"the optimizer {name} of Trainer is not known")
