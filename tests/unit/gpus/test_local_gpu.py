"""The local card, with a pretend NVML in place of a driver."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from nanolint.gpus.local import local_gpu

MIB = 1024**2


class FakeNvml(SimpleNamespace):
    """As much of pynvml as is called; a card is (name, total, reserved, free), in MiB."""

    nvmlMemory_v2 = 2  # noqa: N815

    def __init__(self, *cards: tuple[str | bytes, int, int, int], v2: bool = True) -> None:
        super().__init__(cards=cards, v2=v2, shut_down=False)

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.shut_down = True

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:  # noqa: N802
        return self.cards[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Any:  # noqa: N802
        return self.cards[int(uuid[-1])]

    def nvmlDeviceGetName(self, card: Any) -> str | bytes:  # noqa: N802
        name: str | bytes = card[0]
        return name

    def nvmlDeviceGetMemoryInfo(self, card: Any, version: int | None = None) -> Any:  # noqa: N802
        _, total, reserved, free = card
        if version is None:
            return SimpleNamespace(total=(total - reserved) * MIB, free=free * MIB)
        if not self.v2:
            raise RuntimeError("Function Not Found")
        return SimpleNamespace(total=total * MIB, reserved=reserved * MIB, free=free * MIB)

    def nvmlDeviceGetCudaComputeCapability(self, card: Any) -> tuple[int, int]:  # noqa: N802
        return (9, 0) if "H100" in str(card[0]) else (8, 6)


H100 = ("NVIDIA H100 80GB HBM3", 81559, 551, 80000)
RTX_3060 = ("NVIDIA GeForce RTX 3060", 12288, 246, 11000)


@pytest.fixture(autouse=True)
def _every_card_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def use(monkeypatch: pytest.MonkeyPatch, nvml: object) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)


def test_total_is_torchs_and_free_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(H100)
    use(monkeypatch, nvml)
    local = local_gpu()
    assert local is not None
    assert local.gpu.name == "H100 SXM 80GB"
    assert local.gpu.total_bytes == 81008 * MIB
    assert (local.free_bytes, local.in_use_bytes) == (80000 * MIB, 1008 * MIB)
    assert (local.gpu.sm_count, local.gpu.compute_capability) == (132, (9, 0))
    assert not local.gpu.estimated
    assert nvml.shut_down


def test_an_old_driver_tells_only_one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeNvml(H100, v2=False))
    local = local_gpu()
    assert local is not None
    assert local.gpu.total_bytes == 81008 * MIB


@pytest.mark.parametrize(("total", "name"), [(12288, "RTX 3060 12GB"), (8192, "RTX 3060 8GB")])
def test_cards_of_one_name_are_told_apart_by_size(
    monkeypatch: pytest.MonkeyPatch, total: int, name: str
) -> None:
    use(monkeypatch, FakeNvml((b"NVIDIA GeForce RTX 3060", total, 200, 100)))
    local = local_gpu()
    assert local is not None
    assert local.gpu.name == name


def test_a_card_newer_than_the_catalogue_keeps_what_nvml_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, FakeNvml(("NVIDIA GeForce RTX 9070", 24576, 400, 24000)))
    local = local_gpu()
    assert local is not None
    assert local.gpu.name == "RTX 9070"
    assert local.gpu.total_bytes == 24176 * MIB
    assert (local.gpu.sm_count, local.gpu.compute_capability) == (None, (8, 6))


def test_a_slice_of_a_card_has_not_the_whole_cards_sms(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, FakeNvml(("NVIDIA H100 80GB HBM3", 40448, 300, 40000)))
    local = local_gpu()
    assert local is not None
    assert local.gpu.sm_count is None
    assert local.gpu.total_bytes == 40148 * MIB


@pytest.mark.parametrize(
    ("visible", "name"),
    [
        ("1", "RTX 3060 12GB"),
        ("1,0", "RTX 3060 12GB"),
        ("GPU-0001", "RTX 3060 12GB"),
        ("0", "H100 SXM 80GB"),
        ("", None),
        ("-1", None),
        ("7", None),
    ],
)
def test_the_first_visible_card_counts(
    monkeypatch: pytest.MonkeyPatch, visible: str, name: str | None
) -> None:
    use(monkeypatch, FakeNvml(H100, RTX_3060))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    local = local_gpu()
    assert (local and local.gpu.name) == name


def test_no_library_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, None)  # importing it raises ImportError
    assert local_gpu() is None


@pytest.mark.parametrize(
    "broken",
    [
        "nvmlInit",
        "nvmlDeviceGetHandleByIndex",
        "nvmlDeviceGetName",
        "nvmlDeviceGetMemoryInfo",
        "nvmlDeviceGetCudaComputeCapability",
    ],
)
def test_whatever_fails_is_no_card(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("driver mismatch")

    nvml = FakeNvml(H100)
    setattr(nvml, broken, fail)
    use(monkeypatch, nvml)
    assert local_gpu() is None


def test_a_failing_shutdown_does_not_lose_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("gone")

    nvml = FakeNvml(H100)
    nvml.nvmlShutdown = fail  # type: ignore[method-assign]
    use(monkeypatch, nvml)
    assert local_gpu() is not None
