"""LoRA of peft 0.21: tuners/lora/layer.py and model.py, tuners/tuners_utils.py, peft_model.py.

Other adapters, and what LoRA's configuration may ask for besides, end the reading by ``refused``;
``doubt`` takes what is not known.
"""

import math
import re

import torch
from torch import nn

TARGETS = {"gpt2": ["c_attn"], **dict.fromkeys(("llama", "qwen2", "qwen3"), ["q_proj", "v_proj"])}
HALVES = (torch.float16, torch.bfloat16)
PLAIN = (None, False, {}, [])


class TaskType:
    CAUSAL_LM = "CAUSAL_LM"
    SEQ_CLS = "SEQ_CLS"
    SEQ_2_SEQ_LM = "SEQ_2_SEQ_LM"
    TOKEN_CLS = "TOKEN_CLS"
    QUESTION_ANS = "QUESTION_ANS"
    FEATURE_EXTRACTION = "FEATURE_EXTRACTION"


class LoraConfig:
    def __init__(
        self, task_type=None, r=8, target_modules=None, exclude_modules=None, lora_alpha=8,
        lora_dropout=0.0, fan_in_fan_out=False, bias="none", use_rslora=False,
        init_lora_weights=True, inference_mode=False, lora_bias=False, peft_type="LORA",
        base_model_name_or_path=None, revision=None, **others,
    ):  # fmt: skip
        for name, value in others.items():
            if value not in PLAIN:
                refused(f"{name} of peft's LoraConfig is not known")
        if init_lora_weights not in (True, False, "gaussian"):
            refused(f"init_lora_weights={init_lora_weights!r} of peft's LoraConfig is not known")
        if inference_mode:
            refused("inference_mode of peft's LoraConfig is not known")
        self.task_type = task_type
        self.r = r
        self.target_modules = target_modules
        self.exclude_modules = exclude_modules
        self.lora_alpha = lora_alpha
        self.lora_dropout = lora_dropout
        self.bias = bias
        self.lora_bias = lora_bias
        self.use_rslora = use_rslora
        self.base_model_name_or_path = base_model_name_or_path


class LoraLayer(nn.Module):
    def __init__(self, base_layer, config):
        super().__init__()
        self.base_layer = base_layer
        if config.r <= 0:
            raise ValueError(
                f"`r` should be a positive integer value but the value passed is {config.r}"
            )
        inputs, outputs = sizes_of(base_layer)
        root = math.sqrt(config.r) if config.use_rslora else config.r
        self.scaling = {"default": config.lora_alpha / root}
        dropout = nn.Dropout(config.lora_dropout) if config.lora_dropout > 0 else nn.Identity()
        self.lora_dropout = nn.ModuleDict({"default": dropout})
        self.lora_A = nn.ModuleDict({"default": nn.Linear(inputs, config.r, bias=False)})
        self.lora_B = nn.ModuleDict(
            {"default": nn.Linear(config.r, outputs, bias=config.lora_bias)}
        )
        weight = base_layer.weight
        self.lora_A.to(weight.device, dtype=weight.dtype)
        self.lora_B.to(weight.device, dtype=weight.dtype)

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def to_float32(self):
        for each in (self.lora_A["default"], self.lora_B["default"]):
            for name, parameter in list(each.named_parameters()):
                if parameter.dtype in HALVES:
                    setattr(each, name, nn.Parameter(parameter.data.to(torch.float32)))

    def merge(self):
        delta = self.lora_B["default"].weight @ self.lora_A["default"].weight
        delta = delta.T if hasattr(self.base_layer, "nf") else delta
        self.base_layer.weight.data += delta * self.scaling["default"]

    def forward(self, x):
        result = self.base_layer(x)
        kind = result.dtype
        lora_A = self.lora_A["default"]
        lora_B = self.lora_B["default"]
        dropout = self.lora_dropout["default"]
        x = x if x.dtype == lora_A.weight.dtype else x.to(dtype=lora_A.weight.dtype)
        result = result + lora_B(lora_A(dropout(x))) * self.scaling["default"]
        result = result.to(kind)
        return result


def sizes_of(layer):
    """How many numbers a linear layer takes and makes; one of GPT-2's has its weight transposed."""
    if hasattr(layer, "nf"):
        return layer.weight.shape
    return layer.in_features, layer.out_features


def is_linear(layer):
    return isinstance(layer, nn.Linear) or hasattr(layer, "nf")


def is_named(name, wanted):
    if isinstance(wanted, str):
        return len(re.findall(f"^({wanted})$", name)) > 0
    return any(name == each or name.endswith(f".{each}") for each in wanted)


def targets_of(model, config):
    """The names of the layers that get adapters."""
    wanted = config.target_modules
    if wanted is None:
        kind = getattr(getattr(model, "config", None), "model_type", None)
        if kind is not None and kind not in TARGETS:
            refused(f"which layers of a {kind} peft takes is not known")
        if kind is None:
            raise ValueError("Please specify `target_modules` in `peft_config`")
        wanted = TARGETS[kind]
    if isinstance(wanted, str) and wanted.lower() == "all-linear":
        head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
        parts = model.named_modules()
        found = [name for name, each in parts if is_linear(each) and each is not head]
    else:
        found = [name for name, _ in model.named_modules() if name and is_named(name, wanted)]
    if config.exclude_modules:
        found = [name for name in found if not is_named(name, config.exclude_modules)]
    if not found:
        quoted = repr(wanted) if isinstance(wanted, str) else "{'" + "', '".join(wanted) + "'}"
        raise ValueError(
            f"Target modules {quoted} not found in the base model. Please check the target modules "
            "and try again."
        )
    return found


class LoraModel(nn.Module):
    def __init__(self, model, config):
        super().__init__()
        self.model = model
        adapters = []
        for name in targets_of(model, config):
            owner, _, own = name.rpartition(".")
            parent = model.get_submodule(owner) if owner else model
            layer = getattr(parent, own)
            if not is_linear(layer):
                refused(f"LoRA of {name}, which is no linear layer, is not known")
            adapters.append(LoraLayer(layer, config))
            setattr(parent, own, adapters[-1])
        for name, parameter in model.named_parameters():
            is_own = "lora_A.default" in name or "lora_B.default" in name
            is_bias = config.bias == "all" and name.endswith("bias")
            parameter.requires_grad = is_own or is_bias
        if config.bias == "lora_only":
            for each in adapters:
                if each.bias is not None:
                    each.bias.requires_grad = True
        for each in adapters:
            each.to_float32()

    def __getattr__(self, name):
        return getattr(self.model, name)

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)


class PeftModel(nn.Module):
    def __init__(self, model, config):
        super().__init__()
        self.base_model = LoraModel(model, config)
        self.peft_config = {"default": config}
        self.active_adapter = "default"
        is_checkpointed = any(getattr(e, "gradient_checkpointing", False) for e in model.modules())
        if is_checkpointed or not hasattr(model, "gradient_checkpointing_enable"):
            if hasattr(model, "get_input_embeddings"):
                require_gradients(model)

    def __getattr__(self, name):
        return getattr(self.base_model, name)

    @classmethod
    def from_pretrained(cls, model, path, **named):
        return unknown(f"the adapter {path!r}")

    def forward(self, *args, **kwargs):
        return self.base_model(*args, **kwargs)

    def get_base_model(self):
        return self.base_model.model

    def get_nb_trainable_parameters(self):
        every = list(self.parameters())
        learning = sum(each.numel() for each in every if each.requires_grad)
        return learning, sum(each.numel() for each in every)

    def print_trainable_parameters(self):
        pass

    def save_pretrained(self, *args, **kwargs):
        pass

    def merge_and_unload(self, *args, **kwargs):
        for name, each in list(self.base_model.model.named_modules()):
            if isinstance(each, LoraLayer):
                each.merge()
                owner, _, own = name.rpartition(".")
                setattr(self.base_model.model.get_submodule(owner), own, each.base_layer)
        return self.base_model.model


class PeftModelForCausalLM(PeftModel):
    def __init__(self, model, config):
        super().__init__(model, config)
        if not hasattr(model, "config"):
            name = type(model).__name__
            raise AttributeError(
                f"'{name}' object has no attribute 'prepare_inputs_for_generation'"
            )

    def forward(self, input_ids=None, attention_mask=None, labels=None, **kwargs):
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}
        return self.base_model(**given, **kwargs)


def require_gradients(model):
    """Gradients go back to the embeddings, so that what is checkpointed has some."""

    def mark(module, given, output):
        output.requires_grad_(True)

    model.get_input_embeddings().register_forward_hook(mark)


def get_peft_model(model, peft_config, adapter_name="default", autocast_adapter_dtype=True, **more):
    if not isinstance(peft_config, LoraConfig) or not autocast_adapter_dtype or any(more.values()):
        refused("what peft makes of a model is known for LoRA alone")
    if adapter_name != "default":
        refused("another name for an adapter of peft is not known")
    if peft_config.task_type is None:
        return PeftModel(model, peft_config)
    if peft_config.task_type != TaskType.CAUSAL_LM:
        refused(f"peft for {peft_config.task_type} is not known")
    return PeftModelForCausalLM(model, peft_config)


def prepare_model_for_kbit_training(model, use_gradient_checkpointing=True, **more):
    """Of a model that is not quantized: it is frozen, and its halves are float32."""
    for parameter in model.parameters():
        parameter.requires_grad = False
    for parameter in model.parameters():
        if parameter.dtype in HALVES:
            parameter.data = parameter.data.to(torch.float32)
    return model
