"""Of transformers what models of one's own are built on, and the settings of its own.

As transformers/configuration_utils.py, modeling_utils.py, activations.py and modeling_outputs.py
have it. ``doubt`` takes what is not known, ``refused`` ends the reading;
``published`` has the settings of checkpoints. The models that it brings are in
causal_models.py.
"""

import torch
from torch import nn
from torch.nn import functional as F


class PretrainedConfig:
    model_type = ""
    tie_word_embeddings = True
    use_cache = True
    use_return_dict = True
    return_dict = True
    output_attentions = False
    output_hidden_states = False
    pad_token_id = None
    bos_token_id = None
    eos_token_id = None

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def to_dict(self):
        return {**vars(self), "model_type": self.model_type}

    def save_pretrained(self, *args, **kwargs):
        pass


class ModelConfig(PretrainedConfig):
    """One of a model that transformers brings: ``others`` are its names for those of all."""

    _attn_implementation = "sdpa"
    of_all = (
        "architectures", "dtype", "get_text_config", "id2label", "is_encoder_decoder",
        "name_or_path", "num_labels", "problem_type", "push_to_hub", "rope_parameters",
        "rope_scaling", "rope_theta", "sliding_window", "summary_type", "to_diff_dict",
        "to_json_file", "to_json_string", "torch_dtype", "update",
    )  # fmt: skip
    defaults = {}
    others = {}

    def __init__(self, *values, **named):
        for name, value in zip(self.defaults, values):
            named[name] = value
        for name, value in self.defaults.items():
            setattr(self, name, value)
        for name, value in named.items():
            setattr(self, self.others.get(name, name), value)
        if "attn_implementation" in named:
            self._attn_implementation = named["attn_implementation"]

    def __getattr__(self, name):
        if name in self.others:
            return getattr(self, self.others[name])
        if name in self.of_all:
            return unknown(f"{name} of a config of transformers")
        raise AttributeError(name)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, *others, **named):
        name = pretrained_model_name_or_path
        found = published(name)
        if found is None or others or cls.model_type != found[0]:
            return unknown(f"the config of {name!r}")
        return cls(**{**found[1], "name_or_path": name, **named})

    @classmethod
    def from_json_file(cls, path):
        return unknown("the contents of a file")

    @classmethod
    def from_dict(cls, settings, **named):
        return cls(**settings, **named)


class GPT2Config(ModelConfig):
    """transformers/models/gpt2/configuration_gpt2.py."""

    model_type = "gpt2"
    defaults = {
        "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
        "n_inner": None, "activation_function": "gelu_new", "resid_pdrop": 0.1,
        "embd_pdrop": 0.1, "attn_pdrop": 0.1, "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02, "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False, "reorder_and_upcast_attn": False,
        "add_cross_attention": False, "bos_token_id": 50256, "eos_token_id": 50256,
    }  # fmt: skip
    others = {
        "hidden_size": "n_embd", "max_position_embeddings": "n_positions",
        "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
    }  # fmt: skip


class LlamaConfig(ModelConfig):
    """transformers/models/llama/configuration_llama.py; Qwen2's and Qwen3's, and what they add."""

    model_type = "llama"
    tie_word_embeddings = False
    output_bias = False
    norms_heads = False
    defaults = {
        "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": None,
        "hidden_act": "silu", "max_position_embeddings": 2048, "initializer_range": 0.02,
        "rms_norm_eps": 1e-6, "bos_token_id": 1, "eos_token_id": 2, "attention_bias": False,
        "attention_dropout": 0.0, "mlp_bias": False, "head_dim": None,
    }  # fmt: skip

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        if self.num_key_value_heads is None:
            self.num_key_value_heads = self.num_attention_heads
        if self.head_dim is None:
            self.head_dim = self.hidden_size // self.num_attention_heads
        self.output_bias = self.attention_bias
        if named.get("use_sliding_window"):
            refused("attention in a window in a model of transformers is not known")


class Qwen2Config(LlamaConfig):
    model_type = "qwen2"
    defaults = {
        **LlamaConfig.defaults, "vocab_size": 151936, "intermediate_size": 22016,
        "num_key_value_heads": 32, "max_position_embeddings": 32768, "bos_token_id": None,
        "eos_token_id": None,
    }  # fmt: skip

    def __init__(self, *values, **named):
        super().__init__(*values, **named)
        self.attention_bias = True
        self.output_bias = False


class Qwen3Config(LlamaConfig):
    model_type = "qwen3"
    norms_heads = True
    defaults = {**Qwen2Config.defaults, "head_dim": 128}


def AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, **named):
    """Of releases before 4.50: one parameter after the other."""
    doubt("transformers 4.50 and later have no AdamW: write torch.optim.AdamW")
    settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
    return torch.optim.AdamW(params, foreach=False, **settings)


class GenerationMixin:
    pass


class PreTrainedModel(nn.Module):
    def __init__(self, config, *args, **kwargs):
        super().__init__()
        self.config = config

    @property
    def device(self):
        return next(self.parameters()).device

    @property
    def dtype(self):
        return next(self.parameters()).dtype

    def post_init(self):
        self.init_weights()

    def init_weights(self):
        """By release it is one method or another that ties; a model that has done it is as it is."""
        self.tie_weights()

    def tie_weights(self):
        head = getattr(self, "lm_head", None)
        if head is None or not self.config.tie_word_embeddings:
            return
        owners = [each for each in self.modules() if getattr(each, "weight", None) is head.weight]
        if len(owners) < 2:
            doubt("whether transformers shares the weight of lm_head with the embedding")

    def num_parameters(self, *args, **kwargs):
        return sum(each.numel() for each in self.parameters())

    def save_pretrained(self, *args, **kwargs):
        pass


class NewGELUActivation(nn.Module):
    def forward(self, input):
        return (
            0.5
            * input
            * (1.0 + torch.tanh(0.7978845608028654 * (input + 0.044715 * torch.pow(input, 3.0))))
        )


class QuickGELUActivation(nn.Module):
    def forward(self, input):
        return input * torch.sigmoid(1.702 * input)


class ReLUSquaredActivation(nn.Module):
    def forward(self, input):
        relu_applied = F.relu(input)
        squared = torch.square(relu_applied)
        return squared


class Activations:
    made = {
        "gelu": nn.GELU,
        "gelu_new": NewGELUActivation,
        "quick_gelu": QuickGELUActivation,
        "relu": nn.ReLU,
        "relu2": ReLUSquaredActivation,
        "sigmoid": nn.Sigmoid,
        "silu": nn.SiLU,
        "swish": nn.SiLU,
        "tanh": nn.Tanh,
    }

    def __contains__(self, name):
        return name == "gelu_pytorch_tanh" or name in self.made

    def keys(self):
        return [*self.made, "gelu_pytorch_tanh"]

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, name):
        if name == "gelu_pytorch_tanh":
            return nn.GELU(approximate="tanh")
        return self.made[name]()


class ModelOutput:
    __dataclass__ = {}  # torch.compile hands out what it holds
    names = ()

    def __init__(self, *values, **named):
        for name in self.names:
            setattr(self, name, named.get(name))
        for name, value in zip(self.names, values):
            setattr(self, name, value)

    def to_tuple(self):
        found = [getattr(self, name) for name in self.names]
        return tuple(each for each in found if each is not None)

    def __getitem__(self, key):
        if isinstance(key, str):
            return getattr(self, key)
        return self.to_tuple()[key]

    def __setitem__(self, key, value):
        if key not in self.names:
            self.names = (*self.names, key)
        setattr(self, key, value)

    def __iter__(self):
        return iter(self.to_tuple())


class BaseModelOutput(ModelOutput):
    names = ("last_hidden_state", "hidden_states", "attentions")


class BaseModelOutputWithPast(ModelOutput):
    names = ("last_hidden_state", "past_key_values", "hidden_states", "attentions")


class MoeModelOutputWithPast(ModelOutput):
    names = (
        "last_hidden_state",
        "past_key_values",
        "hidden_states",
        "attentions",
        "router_logits",
    )


class CausalLMOutput(ModelOutput):
    names = ("loss", "logits", "hidden_states", "attentions")


class CausalLMOutputWithPast(ModelOutput):
    names = ("loss", "logits", "past_key_values", "hidden_states", "attentions")


class MoeCausalLMOutputWithPast(ModelOutput):
    names = (
        "loss",
        "aux_loss",
        "logits",
        "past_key_values",
        "hidden_states",
        "attentions",
        "router_logits",
    )
