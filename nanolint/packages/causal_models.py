"""Parts that the causal language models of transformers 5.24 share; gpt2.py and llama.py use them.

transformers/cache_utils.py, masking_utils.py, integrations/sdpa_attention.py, loss/loss_utils.py.
``doubt`` takes what is not known, ``doubt_above`` what can only take less, ``used`` whether the
project asks for an older release; ``refused`` ends the reading; ``published`` has the settings of checkpoints, whose state is ``kept``.
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


OF_MODEL = ("dtype", "torch_dtype", "attn_implementation")
ON_CARD = ("auto", "cuda", "cuda:0", 0, {"": 0}, {"": "cuda"}, {"": "cuda:0"})  # the only one
OF_LOADING = (
    *OF_MODEL, "device_map", "cache_dir", "config", "local_files_only", "revision", "token", "use_safetensors",
    "low_cpu_mem_usage", "trust_remote_code",
)  # fmt: skip

# Of a model's other attributes those that take nothing, and those whose effect is not known.
HARMLESS = (
    "add_model_tags", "can_generate", "generation_config", "get_memory_footprint",
    "hf_device_map", "main_input_name", "name_or_path", "push_to_hub", "warnings_issued",
)  # fmt: skip
OTHERS = (
    "base_model", "compute_transition_scores", "disable_input_require_grads",
    "enable_input_require_grads", "generate", "get_position_embeddings", "loss_function",
    "resize_position_embeddings", "set_attn_implementation", "set_input_embeddings",
    "set_output_embeddings", "to_bettertransformer",
)  # fmt: skip


def other(name):
    if name in OTHERS:
        doubt(f"what {name} of a model of transformers does")
    elif name not in HARMLESS:
        raise AttributeError(name)
    return unknown(f"{name} of a model of transformers")


class DynamicCache:
    __dataclass__ = {}  # torch.compile hands out what it holds

    def __init__(self):
        self.keys = {}
        self.values = {}

    def get_seq_length(self):
        return self.keys[0].shape[-2] if 0 in self.keys else 0

    def update(self, key, value, layer):
        if layer not in self.keys:
            self.keys[layer] = torch.tensor([], dtype=key.dtype, device=key.device)
            self.values[layer] = torch.tensor([], dtype=value.dtype, device=value.device)
        self.keys[layer] = torch.cat([self.keys[layer], key], dim=-2)
        self.values[layer] = torch.cat([self.values[layer], value], dim=-2)
        return self.keys[layer], self.values[layer]


def positions_of(embeds, cache):
    past = cache.get_seq_length() if cache is not None else 0
    positions = torch.arange(embeds.shape[1], device=embeds.device) + past
    return positions.unsqueeze(0)


def causal_mask(embeds, attention_mask, cache, positions):
    """Returns None if attention is causal and nothing else; else a mask of each pair of tokens."""
    if attention_mask is None:
        if cache is None:
            rows = positions.expand(embeds.shape[0], -1)
            step = torch.diff(rows, prepend=rows[:, :1] - 1, dim=-1)
            ends = (step != 1).cumsum(-1)
            if torch.compiler.is_compiling():
                refused("a compiled model of transformers without a cache is not known")
            (ends[:, -1] == 0).all()
        return None
    if torch.compiler.is_compiling():
        refused("a mask in a compiled model of transformers is not known")
    if attention_mask.dim() == 4:
        return attention_mask
    attention_mask = attention_mask.to(device=embeds.device, dtype=torch.bool)
    length = embeds.shape[1]
    attention_mask.all()
    doubt_above("whether attention_mask leaves out tokens: if not, attention needs no mask")
    batch = torch.arange(embeds.shape[0], device=embeds.device)
    queries = torch.arange(length, device=embeds.device) + 0
    keys = torch.arange(length, device=embeds.device) + 0
    batch, queries, keys = batch[:, None, None, None], queries[:, None], keys[None, :]
    allowed = (keys <= queries)[None, None] & attention_mask[batch, keys]
    return allowed.expand(embeds.shape[0], -1, length, length)


def attend(module, query, key, value, mask, dropout, scaling):
    implementation = module.config._attn_implementation
    groups = getattr(module, "groups", 1)
    if implementation not in ("sdpa", "eager"):
        refused(f"attention by {implementation} in a model of transformers is not known")
    if implementation == "eager":
        doubt("what eager attention of transformers takes")
    grouped = {}
    if groups > 1:
        if mask is None and key.shape[-1] <= 256:
            grouped = {"enable_gqa": True}
        else:
            key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    length = query.shape[2]
    options = {"dropout_p": dropout, "scale": scaling, **grouped}
    output = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=length > 1 and mask is None, **options
    )
    output = output.reshape(output.shape[0], -1, length, value.shape[-1])
    return output.transpose(1, 2).contiguous()


def repeat_kv(states, groups):
    batch, heads, length, width = states.shape
    states = states[:, :, None, :, :].expand(batch, heads, groups, length, width)
    return states.reshape(batch, heads * groups, length, width)


def causal_loss(logits, labels, vocab_size, items):
    """The mean of all tokens, or a part of that of ``items``."""
    logits = logits.float()
    labels = F.pad(labels, (0, 1), value=-100)
    shifted = labels[..., 1:].contiguous()
    logits = logits.view(-1, vocab_size)
    shifted = shifted.view(-1)
    shifted = shifted.to(logits.device)
    if items is None:
        return F.cross_entropy(logits, shifted, ignore_index=-100)
    loss = F.cross_entropy(logits, shifted, ignore_index=-100, reduction="sum")
    return loss / (items.to(loss.device) if isinstance(items, torch.Tensor) else items)


class Layer(nn.Module):
    gradient_checkpointing = False

    def forward(self, *args, **kwargs):
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            return checkpoint(self.once, *args, use_reentrant=False, **kwargs)
        return self.once(*args, **kwargs)


class LibraryModel(PreTrainedModel):
    """A model that transformers brings: how it is made, and which attributes it has besides."""

    is_published = False
    model_type = ""

    def __getattr__(self, name):
        return other(name)

    @classmethod
    def _from_config(cls, config, dtype=None, torch_dtype=None, attn_implementation=None, **named):
        if attn_implementation is not None:
            config._attn_implementation = attn_implementation
        made, settings = cls(config), vars(config)
        kind = dtype or torch_dtype or settings.get("dtype") or settings.get("torch_dtype")
        if isinstance(kind, str) and kind != "auto":
            kind = getattr(torch, kind)
        return made if kind is None or kind == "auto" else made.to(kind)

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, *others, **named):
        name = pretrained_model_name_or_path
        found = published(name)
        if found is None or others or cls.model_type != found[0]:
            return unknown(f"the checkpoint {name!r}")
        for each in named:
            if each not in OF_LOADING:
                return unknown(f"{each} of from_pretrained")
        config = named.get("config") or CONFIGS[found[0]].from_pretrained(name)
        of_model = {each: named[each] for each in named if each in OF_MODEL}
        kind = of_model.get("dtype") or of_model.pop("torch_dtype", None) or "auto"
        of_model["dtype"] = found[1]["dtype"] if kind == "auto" else kind
        made = cls._from_config(config, **of_model).eval()
        if named.get("device_map") is not None:
            if named["device_map"] not in ON_CARD or cards() != 1:
                refused("a device_map over several devices is not known")
            load_on_card(made, named["device_map"] == "auto")
        made.is_published = True
        return made

    def state_dict(self, *args, **kwargs):
        found = super().state_dict(*args, **kwargs)
        return kept(found) if self.is_published else found


class CausalModel(LibraryModel):
    """A trunk and a head, by the names that each of the four models gives them."""

    loss_type = "ForCausalLM"

    @property
    def trunk(self):
        return getattr(self, self.base_model_prefix)

    def get_input_embeddings(self):
        return self.trunk.get_input_embeddings()

    def get_output_embeddings(self):
        return self.lm_head

    def tie_weights(self):
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.get_input_embeddings().weight

    def resize_token_embeddings(self, new_num_tokens=None, pad_to_multiple_of=None, **named):
        old = self.get_input_embeddings().weight
        size = old.shape[0] if new_num_tokens is None else new_num_tokens
        if pad_to_multiple_of is not None:
            size = -(-size // pad_to_multiple_of) * pad_to_multiple_of
        if size != old.shape[0]:
            if old.is_cuda:
                doubt("what an embedding that is resized on the card takes")
            alike = {"device": old.device, "dtype": old.dtype}
            self.trunk.set_input_embeddings(nn.Embedding(size, old.shape[1], **alike))
            self.lm_head = nn.Linear(old.shape[1], size, bias=False, **alike)
        self.config.vocab_size = size
        self.tie_weights()
        return self.get_input_embeddings()

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None, **named):
        if (gradient_checkpointing_kwargs or {}).get("use_reentrant"):
            doubt("what reentrant checkpointing of transformers keeps")
        for each in self.modules():
            if hasattr(each, "gradient_checkpointing"):
                each.gradient_checkpointing = True

    def gradient_checkpointing_disable(self):
        for each in self.modules():
            if hasattr(each, "gradient_checkpointing"):
                each.gradient_checkpointing = False

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        inputs_embeds=None,
        labels=None,
        use_cache=None,
        return_dict=None,
        num_items_in_batch=None,
        **named,
    ):
        if named:
            doubt(f"what {sorted(named)[0]} does in a model of transformers")
        if self.config.output_hidden_states or self.config.output_attentions:
            doubt("what a model of transformers keeps that hands out more than logits")
        if position_ids is not None:
            doubt("whether position_ids say that a row has several texts")
        if torch.compiler.is_compiling():
            doubt("what torch.compile makes of a model of transformers")
        outputs = self.trunk(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            use_cache=use_cache,
        )
        hidden_states = outputs.last_hidden_state[:, slice(0, None), :]
        logits = self.lm_head(hidden_states)
        loss = None
        if labels is not None:
            loss = causal_loss(logits, labels, self.config.vocab_size, num_items_in_batch)
        made = CausalLMOutputWithPast(
            loss=loss, logits=logits, past_key_values=outputs.past_key_values
        )
        return made if return_dict is not False else made.to_tuple()


class Trunk(LibraryModel):
    gradient_checkpointing = False

    def caches(self, use_cache):
        used()
        use_cache = self.config.use_cache if use_cache is None else use_cache
        checkpointed = self.gradient_checkpointing and self.training and torch.is_grad_enabled()
        return use_cache and not checkpointed


def load_on_card(model, may_leave):
    """As caching_allocator_warmup of transformers/modeling_utils.py: room for all, then each.

    ``may_leave``: what the card has no room for stays on the host.
    """
    nbytes = sum(each.numel() * each.element_size() for each in model.parameters())
    if may_leave and nbytes > 0.8 * torch.cuda.get_device_properties(0).total_memory:
        refused("which parts of the model device_map leaves on the host is not known")
    room = torch.empty(nbytes // 2, dtype=torch.float16, device="cuda")
    del room
    model.to("cuda")


MODELS, CONFIGS = {}, {}  # by the type in a config
for cls in (GPT2Config, LlamaConfig, Qwen2Config, Qwen3Config):
    CONFIGS[cls.model_type] = cls


class Registry:
    @staticmethod
    def register(*args, **kwargs):
        pass


class AutoConfig(Registry):
    @staticmethod
    def from_pretrained(pretrained_model_name_or_path, *others, **named):
        name = pretrained_model_name_or_path
        kind = (published(name) or ["gpt2"])[0]
        return CONFIGS[kind].from_pretrained(name, *others, **named)

    @staticmethod
    def for_model(model_type, *others, **named):
        return unknown(f"the config of a {model_type}")


class AutoModelForCausalLM(Registry):
    @staticmethod
    def from_config(config, **named):
        if config.model_type not in MODELS:
            refused(f"the model {config.model_type} of transformers is not known")
        return MODELS[config.model_type]._from_config(config, **named)

    @staticmethod
    def from_pretrained(pretrained_model_name_or_path, *others, **named):
        name = pretrained_model_name_or_path
        kind = (published(name) or ["gpt2"])[0]
        return MODELS[kind].from_pretrained(name, *others, **named)
