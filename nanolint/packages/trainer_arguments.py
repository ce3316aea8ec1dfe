"""The arguments of transformers' Trainer, and the parser that makes dataclasses of a launch line:
training_args.py and hf_argparser.py of 5.24. Read, never run.

``doubt`` takes what is not known, ``refused`` ends the reading, ``unknown`` makes what is not, and
``with_fields`` makes a dataclass.
"""

from argparse import ArgumentParser
from dataclasses import fields

import torch

# Arguments that take nothing of the card.
QUIET = {
    "output_dir": "trainer_output",
    "bf16_full_eval": False, "data_seed": None, "dataloader_in_order": True,
    "dataloader_multiprocessing_context": None, "dataloader_num_workers": 0,
    "dataloader_persistent_workers": False, "dataloader_pin_memory": True,
    "dataloader_prefetch_factor": None, "ddp_backend": None, "ddp_broadcast_buffers": None,
    "ddp_bucket_cap_mb": None, "ddp_find_unused_parameters": None, "ddp_static_graph": None,
    "ddp_timeout": 1800, "disable_tqdm": None, "do_eval": False, "do_predict": False,
    "do_train": False, "enable_jit_checkpoint": False, "full_determinism": False,
    "greater_is_better": None, "hub_always_push": False, "hub_model_id": None,
    "hub_private_repo": None, "hub_revision": None, "hub_strategy": "every_save",
    "hub_token": None, "ignore_data_skip": False, "load_best_model_at_end": False,
    "log_level": "passive", "log_level_replica": "warning", "log_on_each_node": True,
    "metric_for_best_model": None, "project": "huggingface",
    "push_to_hub": False, "report_to": "none", "restore_callback_states_from_checkpoint": False,
    "run_name": None, "save_on_each_node": False, "save_only_model": False, "save_steps": 500,
    "save_strategy": "steps", "save_total_limit": None, "seed": 42,
    "skip_memory_metrics": True, "trackio_bucket_id": None,
    "trackio_space_id": None, "trackio_static_space_id": None, "warmup_steps": 0,
    "lr_scheduler_type": "linear", "lr_scheduler_kwargs": None, "local_rank": -1, "tf32": None,
}  # fmt: skip
# Those that the loop reads.
USED = {
    "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8, "bf16": False,
    "dataloader_drop_last": False, "eval_delay": 0, "eval_on_start": False, "eval_steps": None,
    "eval_strategy": "no", "fp16": False, "gradient_accumulation_steps": 1,
    "gradient_checkpointing": False, "gradient_checkpointing_kwargs": None,
    "learning_rate": 5e-5, "logging_first_step": False, "logging_nan_inf_filter": True,
    "logging_steps": 500, "logging_strategy": "steps", "max_grad_norm": 1.0, "max_steps": -1,
    "num_train_epochs": 3.0, "optim": None, "per_device_eval_batch_size": 8,
    "per_device_train_batch_size": 8, "prediction_loss_only": False,
    "remove_unused_columns": True, "use_cache": False, "use_cpu": False, "weight_decay": 0.0,
}  # fmt: skip
# Those whose effect is known as long as nobody gives them another value.
OTHERS = {
    "accelerator_config": None, "auto_find_batch_size": False, "average_tokens_across_devices": True,
    "batch_eval_metrics": False, "debug": "", "deepspeed": None, "eval_accumulation_steps": None,
    "eval_do_concat_batches": True, "eval_use_gather_object": False, "fp16_full_eval": False,
    "fsdp": None, "fsdp_config": None, "include_for_metrics": None,
    "include_num_input_tokens_seen": "no", "label_names": None, "label_smoothing_factor": 0.0,
    "length_column_name": "length", "liger_kernel_config": None, "neftune_noise_alpha": None,
    "optim_args": None, "optim_target_modules": None, "parallelism_config": None,
    "resume_from_checkpoint": None, "torch_compile": False, "torch_compile_backend": None,
    "torch_compile_mode": None, "torch_empty_cache_steps": None,
    "train_sampling_strategy": "random", "use_liger_kernel": False,
}  # fmt: skip
# Those of older releases, with their names in this one.
OLDER = {
    "adafactor": None, "dispatch_batches": None, "evaluate_during_training": None,
    "evaluation_strategy": "eval_strategy", "fp16_backend": None, "fp16_opt_level": None,
    "fsdp_min_num_params": None, "fsdp_transformer_layer_cls_to_wrap": None,
    "group_by_length": None, "half_precision_backend": None,
    "include_inputs_for_metrics": None, "include_tokens_per_second": None,
    "jit_mode_eval": None, "logging_dir": None, "mp_parameters": None, "no_cuda": "use_cpu",
    "overwrite_output_dir": None, "past_index": None,
    "per_gpu_eval_batch_size": "per_device_eval_batch_size",
    "per_gpu_train_batch_size": "per_device_train_batch_size", "push_to_hub_model_id": None,
    "push_to_hub_organization": None, "push_to_hub_token": None, "ray_scope": None,
    "save_safetensors": None, "sharded_ddp": None, "split_batches": None, "torchdynamo": None,
    "tp_size": None, "tpu_metrics_debug": None, "tpu_num_cores": None, "use_ipex": None,
    "use_legacy_prediction_loop": None, "use_mps_device": None, "warmup_ratio": None,
    "xpu_backend": None,
}  # fmt: skip
ALIASES = {
    "activation_checkpointing": "gradient_checkpointing",
    "activation_checkpointing_kwargs": "gradient_checkpointing_kwargs",
}


def older(what):
    doubt(f"{what} is gone in transformers 5, and an older release keeps other tensors")


@with_fields({**QUIET, **USED, **OTHERS, **dict.fromkeys(ALIASES), **dict.fromkeys(OLDER)})
class TrainingArguments:
    def __post_init__(self):
        for old, new in {**ALIASES, **OLDER}.items():
            if new is not None and getattr(self, old) is not None:
                setattr(self, new, getattr(self, old))
        if self.eval_strategy == "steps" and not self.eval_steps:
            self.eval_steps = self.logging_steps
        if self.fp16 and self.bf16:
            raise ValueError("At most one of fp16 and bf16 can be True, but not both")
        if self.load_best_model_at_end and self.save_strategy != "best":
            if self.eval_strategy != self.save_strategy:
                raise ValueError(
                    "--load_best_model_at_end requires the save and eval strategy to match, except "
                    f'when --save_strategy="best", but found\n- Evaluation strategy: '
                    f"{self.eval_strategy}\n- Save strategy: {self.save_strategy}"
                )

    @property
    def device(self):
        return torch.device("cpu" if self.use_cpu else "cuda")

    @property
    def train_batch_size(self):
        return self.per_device_train_batch_size

    @property
    def eval_batch_size(self):
        return self.per_device_eval_batch_size

    world_size = n_gpu = 1
    process_index = local_process_index = 0
    should_save = should_log = True

    def __getattr__(self, name):
        return unknown(f"{name} of TrainingArguments")


def looked_through(args):
    """Says of arguments what is not known of them."""
    for name in OLDER:
        if getattr(args, name) is not None:
            older(f"the argument {name}")
    for name, value in OTHERS.items():
        if getattr(args, name) != value:
            doubt(f"what {name} of TrainingArguments takes")


def number_or_text(word):
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word


def is_true(word):
    return str(word).lower() in ("true", "t", "yes", "y", "1")


class HfArgumentParser(ArgumentParser):
    def __init__(self, dataclass_types=None, **options):
        super().__init__()
        several = isinstance(dataclass_types, (list, tuple))
        self.types = list(dataclass_types) if several else [dataclass_types]
        for each in self.types:
            for field in fields(each):
                self.add_field(field.name, field.default)

    def add_field(self, name, default):
        if isinstance(default, bool):
            self.add_argument(f"--{name}", type=is_true, default=default, nargs="?", const=True)
            if default:
                self.add_argument(f"--no_{name}", action="store_false", dest=name)
        else:
            kind = str if isinstance(default, str) else number_or_text
            self.add_argument(f"--{name}", type=kind, default=default)

    def parse_args_into_dataclasses(
        self, args=None, return_remaining_strings=False, look_for_args_file=True,
        args_filename=None, args_file_flag=None,
    ):  # fmt: skip
        found, left = self.parse_known_args(args)
        made = [
            each(**{field.name: getattr(found, field.name) for field in fields(each)})
            for each in self.types
        ]
        if left and not return_remaining_strings:
            raise ValueError(
                f"Some specified arguments are not used by the HfArgumentParser: {left}"
            )
        return (*made, left) if return_remaining_strings else tuple(made)

    def parse_json_file(self, *given, **named):
        refused("the arguments of a file are not known")

    parse_yaml_file = parse_dict = parse_json_file
