"""Settings that hydra puts together; what is expected is what hydra 1.3.8 makes of the same files.

``OmegaConf.to_container(compose("config"))`` in a folder with these files.
"""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.source.hydra_files import NotComposed, composed
from nanolint.source.settings_text import Leaf, Listed, Mapped, Node

FILES = {
    "base.yaml": "seed: 1\nmodel: {layers: 1}",
    "model/base.yaml": "width: 128\nlayers: 1",
    "model/small.yaml": "defaults: [base]\nwidth: 64",
    "model/headed.yaml": "defaults: [base, head: wide, _self_]\nhead: {bias: true}",
    "model/head/wide.yaml": "size: 8\nbias: false",
    "opt/adam.yaml": "# ours\n# @package _global_\nlr: 3e-4",
    "opt/lists.yaml": "betas: [0.9, 0.95]",
    "nothing.yaml": "",
    "hydra/ours.yaml": "defaults: [override hydra_logging: colorlog]\nrun: {dir: out}",
    "hydra/elsewhere.yaml": "job: {chdir: true}",
}


def plain(node: Node) -> Any:
    if isinstance(node, Mapped):
        return {key: plain(each) for key, each in node.entries}
    if isinstance(node, Listed):
        return [plain(each) for each in node.items]
    return node.value


def of(config: str, **others: str) -> Any:
    return plain(composed("config", {**FILES, **others, "config.yaml": config}.get))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("lr: 1e-3", {"lr": 0.001}),
        (
            "defaults: [model: small]\nmodel: {layers: 3}",
            {"model": {"width": 64, "layers": 3}},
        ),
        (
            "defaults: [_self_, model: small]\nmodel: {layers: 3}",
            {"model": {"width": 64, "layers": 1}},
        ),
        (
            "defaults: [base, model: base]\nseed: 2",
            {"seed": 2, "model": {"layers": 1, "width": 128}},
        ),
        (
            "defaults: [model: headed]",
            {"model": {"width": 128, "layers": 1, "head": {"size": 8, "bias": True}}},
        ),
        ("defaults: [opt: adam]\nsteps: 5", {"lr": 0.0003, "steps": 5}),
        (
            "defaults: [opt: [adam, lists]]",
            {"lr": 0.0003, "opt": {"betas": [0.9, 0.95]}},
        ),
        ("defaults: [optional model: missing, opt: null]\nsteps: 5", {"steps": 5}),
        ("defaults: [override hydra/job_logging: disabled]\nhydra: {run: {dir: x}}", {}),
        ("defaults: [_self_, hydra: ours]\nsteps: 5", {"steps": 5}),
        ("defaults: [nothing.yaml]\nsteps: 5", {"steps": 5}),
    ],
)
def test_files_are_put_together_as_hydra_does(config: str, expected: dict[str, Any]) -> None:
    assert of(config) == expected


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("defaults: [model: missing]", "model/missing.yaml"),
        ("defaults: [override model: small]", "override model"),
        ("defaults: [model@other: small]", "model@other"),
        ("defaults: [model: '${size}']", "size"),
        ("defaults: [model: small, model: base]", "model"),
        ("defaults: [config]", "config.yaml, too"),
        ("defaults: {model: small}", "not a list"),
        ("defaults: [../secrets]", "secrets"),
        ("defaults: [opt: lists]\nopt: {betas: {first: 1}}", "betas"),
        ("hydra: {job: {chdir: true}}", "hydra.job.chdir"),
        ("hydra: {mode: MULTIRUN}", "hydra.mode"),
        ("defaults: [hydra: elsewhere]", "hydra/elsewhere.yaml sets hydra.job.chdir"),
        ("[1, 2]", "by name"),
    ],
)
def test_what_is_not_known_is_said(config: str, why: str) -> None:
    with pytest.raises(NotComposed, match=why):
        of(config)


def test_a_package_of_its_own_is_not_known() -> None:
    with pytest.raises(NotComposed, match="a package of its own"):
        of("defaults: [model: moved]", **{"model/moved.yaml": "# @package net\nwidth: 1"})


def test_no_value_is_a_value() -> None:
    made = composed("config", {"config.yaml": "width: null"}.get)
    assert made == Mapped((("width", Leaf(None, 7, 11)),))
