"""The configuration that ``accelerate launch`` reads, as far as it says how a run is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.settings_text import Leaf, Mapped, NoSettings, read_yaml

if TYPE_CHECKING:
    from nanolint.source.values import Scalar

# accelerate/commands/launch.py
PRECISION_VARIABLE = "ACCELERATE_MIXED_PRECISION"
_ENGINES = (
    *("deepspeed_config", "fsdp_config", "megatron_lm_config", "fp8_config"),
    *("parallelism_config", "dynamo_config"),
)


@dataclass(frozen=True, slots=True)
class Configured:
    """``processes`` and ``precision`` are None where the file does not say; ``engine`` is the entry
    of one that takes more from it: DeepSpeed's."""

    processes: int | None = None
    precision: str | None = None
    engine: str | None = None


def read(text: str) -> Configured | None:
    """What the text of a configuration says; None where it is none."""
    try:
        node = read_yaml(text)
    except NoSettings:
        return None
    if not isinstance(node, Mapped):
        return None
    entries = dict(node.entries)
    values: dict[object, Scalar] = {
        key: each.value for key, each in entries.items() if isinstance(each, Leaf)
    }
    count, precision = values.get("num_processes"), values.get("mixed_precision")
    engine = next((each for each in _ENGINES if isinstance(entries.get(each), Mapped)), None)
    if engine is not None and not dict(getattr(entries[engine], "entries", ())):
        engine = None  # {}, as accelerate writes it where there is none
    if precision is False:  # YAML's reading of a bare no
        precision = "no"
    if precision is None and values.get("fp16") is True:  # as it was written at first
        precision = "fp16"
    if values.get("distributed_type") in ("NO", False):
        count = 1
    return Configured(
        count if type(count) is int and count > 0 else None,
        precision if isinstance(precision, str) else None,
        engine,
    )
