"""Which GPU counts: option, variable, settings, this machine, in that order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.local import LocalGpu
from nanolint.gpus.lookup import find
from nanolint.settings import targets
from nanolint.settings.schema import Sourced
from nanolint.settings.tables import Settings, SettingsError
from nanolint.settings.targets import choose

GIB = 1 << 30


@pytest.fixture(autouse=True)
def no_local_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_local_gpu", lambda: None)


def local_card(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = find("rtx-4090").gpu
    monkeypatch.setattr(targets, "_local_gpu", lambda: LocalGpu(gpu, gpu.total_bytes - 3 * GIB))


def from_file(*gpus: str, in_use: str | None = None) -> Sourced:
    settings = Settings(gpu=gpus, in_use=in_use)
    return Sourced(settings, {"gpu": "nanolint.toml", "in-use": "nanolint.toml"})


class TestOrder:
    def test_the_option_comes_first(self) -> None:
        option = from_file("rtx-3060").override("--gpu", gpu=("rtx-4070",))
        chosen = choose(option, {"NANOLINT_GPU": "rtx-3080"})
        assert ([t.label for t in chosen.targets], chosen.origin) == (["RTX 4070"], "--gpu")

    def test_then_the_variable(self) -> None:
        chosen = choose(from_file("rtx-3060"), {"NANOLINT_GPU": "rtx-3070, 8xA100-40GB"})
        assert chosen.origin == "NANOLINT_GPU"
        assert [target.count for target in chosen.targets] == [None, 8]

    def test_then_the_settings(self) -> None:
        chosen = choose(from_file("rtx-4070"), {"NANOLINT_GPU": ""})
        assert ([t.label for t in chosen.targets], chosen.origin) == (["RTX 4070"], "nanolint.toml")

    def test_then_this_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_card(monkeypatch)
        chosen = choose(Sourced(), {})
        assert ([t.label for t in chosen.targets], chosen.origin) == (
            ["RTX 4090"],
            "the local card",
        )

    def test_then_none(self) -> None:
        assert choose(Sourced(), {}).targets == ()


class TestInUse:
    def test_a_card_merely_found_counts_with_its_total(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        local_card(monkeypatch)
        assert choose(Sourced(), {}).targets[0].in_use_bytes == 0

    def test_auto_counts_with_what_is_free(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_card(monkeypatch)
        assert choose(from_file("auto"), {}).targets[0].in_use_bytes == 3 * GIB

    def test_what_the_user_says_is_in_use_wins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_card(monkeypatch)
        chosen = choose(from_file("auto", "rtx-3060", in_use="1GiB"), {})
        assert [target.in_use_bytes for target in chosen.targets] == [GIB, GIB]


def test_the_same_card_twice_is_one_target() -> None:
    assert len(choose(from_file("rtx-4070", "RTX 4070"), {}).targets) == 1


@pytest.mark.parametrize(
    ("sourced", "told"),
    [
        (from_file("rtx-9999"), "nanolint.toml: gpu: unknown GPU 'rtx-9999'"),
        (from_file("auto"), "nanolint.toml: gpu: auto needs an NVIDIA card"),
        (
            from_file("rtx-4070", in_use="2 apples"),
            "nanolint.toml: in-use: '2 apples' is not a size",
        ),
        (Sourced().override("--gpu", gpu=("x",)), "--gpu: unknown GPU 'x'"),
    ],
)
def test_a_mistake_names_its_place(sourced: Sourced, told: str) -> None:
    with pytest.raises(SettingsError) as error:
        choose(sourced, {})
    assert str(error.value).startswith(told)


def test_a_mistake_in_the_variable() -> None:
    with pytest.raises(SettingsError, match="NANOLINT_GPU: unknown GPU 'x'"):
        choose(replace(Sourced()), {"NANOLINT_GPU": "x"})


class TestInUseNow:
    def test_auto_is_what_the_local_card_has_in_use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_card(monkeypatch)
        (target,) = choose(from_file("8x rtx-4090", in_use="auto"), {}).targets
        assert (target.count, target.in_use_bytes) == (8, 3 * GIB)

    def test_it_says_nothing_of_another_card(self, monkeypatch: pytest.MonkeyPatch) -> None:
        local_card(monkeypatch)
        with pytest.raises(SettingsError, match="of this machine, a RTX 4090, and not on RTX 4070"):
            choose(from_file("rtx-4070", in_use="auto"), {})

    def test_nor_without_a_card(self) -> None:
        with pytest.raises(SettingsError, match="auto needs an NVIDIA card"):
            choose(from_file("rtx-4090", in_use="auto"), {})
