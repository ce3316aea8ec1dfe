"""What a profile is bound to beside files: settings that memory may follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal, plain_name
from nanolint.run.profile_file import LONGEST_TEXT
from nanolint.run.terms import Surface
from nanolint.run.variables import telling
from nanolint.source.values import Known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from nanolint.run.described import Described
    from nanolint.run.settled import Options, Setting
    from nanolint.source.values import Scalar

UNKNOWN = "not known: "
ON, OFF = "on", "off"
GIVEN = "given"  # a flag without a value
ROLES = ("batch_size", "gradient_accumulation_steps")

# Numbers of the schedule, words for people and where tokens lie: nothing on the card has their
# size. Evaluations are traced whether there are few or many.
WITHOUT_WEIGHT = frozenset(
    {
        *("learning_rate", "min_lr", "max_iters", "warmup_iters", "lr_decay_iters", "decay_lr"),
        *("weight_decay", "beta1", "beta2", "seed", "out_dir", "log_interval"),
        *("eval_interval", "eval_iters", "always_save_checkpoint"),
        *("num_iterations", "max_steps", "warmup_steps", "save_every", "output_dir", "run"),
        *("learning_rate_decay_frac", "final_lr_frac", "warmup_ratio", "warmdown_ratio"),
        *("input_bin", "input_val_bin", "core_metric_max_per_task", "model_tag"),
    }
)
# How often something is done beside training: never, where the number is not above zero.
SWITCHES = frozenset({"eval_every", "val_loss_every", "sample_every", "core_metric_every"})


def free_keys(*keys: str | None) -> frozenset[str]:
    """The settings that a profile is a function of: of these keys, and the roles they have."""
    return frozenset(filter(None, keys)) | frozenset(ROLES)


def weighs(key: str, free: Collection[str]) -> bool:
    """Whether memory may follow a setting that the profile is no function of."""
    return not (
        key in free or key in WITHOUT_WEIGHT or key.startswith("wandb") or key.endswith("_lr")
    )


def weights(
    settings: Mapping[str, Setting],
    free: Collection[str],
    options: Options,
    described: Described | None = None,
    told: Iterable[tuple[str, Scalar | NotKnown]] = (),
) -> dict[str, str]:
    """The settings that a profile is of: each key with its value as Python writes it.

    Of a script that is its own config, which is ``described``, those that come from outside, which
    it is ``told`` of: its files say the rest.
    """
    given = _of_config(settings) if described is None else _of_script(described, options, told)
    found = {key: text[:LONGEST_TEXT] for key, text in given if weighs(key, free)}
    for name, text in telling(options.line):
        found.setdefault(name, repr(text)[:LONGEST_TEXT])
    return dict(sorted(found.items()))


def _of_config(settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    for key, setting in settings.items():
        value = setting.value
        if key == "grad_clip" and isinstance(value, Known):
            yield key, "no clipping" if value.value == 0 else "clipping"
        else:
            text = repr(value.value) if isinstance(value, Known) else f"{UNKNOWN}{value.reason}"
            yield key, text


def _of_script(
    described: Described, options: Options, told: Iterable[tuple[str, Scalar | NotKnown]]
) -> Iterator[tuple[str, str]]:
    for given in described.given:
        key = plain_name(given.key)
        if given.surface is Surface.VARIABLE:
            yield key, repr(given.value)
        elif given.surface is Surface.ARGUMENT and key in SWITCHES:
            yield key, _switch(given.value)
    for place, text in enumerate(options.line.alone, 1):
        yield f"argument {place}", repr(text)
    for name, value in told:
        key = plain_name(name)
        if isinstance(value, NotKnown):
            yield key, f"{UNKNOWN}{value}"
        elif key in SWITCHES:
            yield key, _switch(literal(value))
        else:
            yield key, GIVEN if value is None else repr(literal(value))


def _switch(value: Scalar) -> str:
    return OFF if value is None or (isinstance(value, (int, float)) and value <= 0) else ON
