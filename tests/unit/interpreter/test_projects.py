"""Projects whose model.py is their own: it is read, and what cannot be read is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.gpu import Machine
from nanolint.gpus.lookup import find
from nanolint.run.trust import Trust
from nanolint.verdict.readable import if_readable
from nanolint.verdict.search import best_fit
from nanolint.verdict.verdict import is_comfortable
from tests.support.model_text import FUSED_ADAMW
from tests.support.model_text import GPT as MODEL
from tests.support.project_tree import SETUP, STEPS, train_script
from tests.unit.run.settling import resolution_of

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Resolution

SMALL = (
    *("n_layer=2", "n_head=2", "n_embd=64", "block_size=32", "batch_size=2", "dtype='float32'"),
    "gradient_accumulation_steps=2",
)
GATED = MODEL.replace("x = self.gelu(x)", "x = self.gelu(x) * x")
UNDERIVED = MODEL.replace("x = self.gelu(x)", "x = torch.cummax(self.gelu(x), 1)[0]")
CARD = Machine(find("rtx-4090").gpu)


def read(
    root: Path, model: str, *settings: str, on: Machine = CARD, script: str | None = None
) -> Resolution:
    files: dict[str, str | bytes] = {"model.py": model, "train.py": script or train_script()}
    text = "\n".join((*SMALL, *settings))
    return if_readable(resolution_of(root, text, on=on, files=files), on)


def test_a_script_that_cannot_be_read_has_no_number_but_the_reason(tmp_path: Path) -> None:
    script = train_script(setup=STEPS + SETUP)
    found = read(tmp_path, GATED + FUSED_ADAMW, "compile=False", script=script)
    assert (found.run, found.trust) == (None, Trust.UNKNOWN)
    line = 1 + script[: script.index("int(file.read())")].count("\n")
    why = f"nanolint cannot read the script: the contents of a file (train.py:{line})"
    assert why in found.why_unknown


def test_with_nothing_in_doubt_it_is_trusted_as_read(tmp_path: Path) -> None:
    found = read(tmp_path, GATED + FUSED_ADAMW, "compile=False")
    assert (found.trust, found.doubts) == (Trust.READ, ())
    assert found.provenance == "read from train.py"


def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    strange = MODEL.replace("x = self.gelu(x)", "x = torch.frobnicate(x)") + FUSED_ADAMW
    line = 1 + strange[: strange.index("torch.frobnicate")].count("\n")
    found = read(tmp_path, strange, "compile=False")
    assert f"torch.frobnicate is not known (model.py:{line})" in found.why_unknown


UNKNOWN = "torch.compile of cummax in GPT is not known"


def compiled(root: Path, model: str, *settings: str) -> bool:
    """Whether it is in doubt what torch.compile makes of the model."""
    found = read(root, model + FUSED_ADAMW, "compile=True", *settings)
    return any(doubt.text.startswith(UNKNOWN) for doubt in found.doubts)


def test_a_compiled_run_that_is_not_derived_is_in_doubt_between_its_bounds_alone(
    tmp_path: Path,
) -> None:
    assert not compiled(tmp_path, GATED, "batch_size=90000")  # derived
    assert not compiled(tmp_path, UNDERIVED)  # fits either way
    assert compiled(tmp_path, UNDERIVED, "batch_size=90000")
    assert not compiled(tmp_path, UNDERIVED, "n_embd=40000", "n_layer=3")  # fits in no way


def test_a_size_that_the_model_refuses_does_not_fit(tmp_path: Path) -> None:
    strict = GATED.replace("b, t = idx.size()", "b, t = idx.size()\n        assert b <= 4")
    found = read(tmp_path, strict + FUSED_ADAMW, "compile=False")
    assert found.run is not None
    assert is_comfortable(replace(found.run, batch_size=4), CARD)
    assert not is_comfortable(replace(found.run, batch_size=5), CARD)


def test_an_argument_that_only_a_run_tells_is_named_where_it_matters(tmp_path: Path) -> None:
    """Of a project that has one in a file."""
    config = GATED.replace("    bias: bool = True\n", "    bias: bool = True\n    extra: int = 0\n")
    uses = config.replace("x = self.gelu(x) * x", "x = self.gelu(x) * self.extra")
    uses = uses.replace("self.gelu = nn.GELU()", "self.gelu, self.extra = nn.GELU(), config.extra")
    setup = STEPS.replace("max_iters", "extra") + SETUP.replace(
        "GPTConfig(", "GPTConfig(extra=extra, "
    )
    for model, trusted in ((config, True), (uses, False)):
        files: dict[str, str | bytes] = {
            "model.py": model + FUSED_ADAMW,
            "train.py": train_script(setup=setup),
        }
        text = "\n".join((*SMALL, "compile=False"))
        found = if_readable(
            resolution_of(tmp_path / str(trusted), text, on=CARD, files=files), CARD
        )
        assert (found.trust is Trust.READ) is trusted
        if not trusted:
            said = found.why_unknown + " ".join(map(str, found.doubts))
            assert "cannot read" in said and "train.py:" in said


def test_the_largest_micro_batch_is_the_one_that_trying_them_all_finds(tmp_path: Path) -> None:
    settings = "compile=False", "batch_size=6", "gradient_accumulation_steps=20"
    found = read(tmp_path, GATED + FUSED_ADAMW, *settings)
    run = found.read.run if found.read else found.run
    assert run is not None and run.program is not None
    found_on = dict[int, int | None]()
    for mebibytes in (600, 680, 720, 780, 1000):
        card = Machine(replace(CARD.gpu, total_bytes=mebibytes << 20))
        tried = [size for size in range(1, 121) if 120 % size == 0]
        fitting = [
            size
            for size in tried
            if is_comfortable(
                replace(run, batch_size=size, gradient_accumulation_steps=120 // size), card
            )
        ]
        fit = best_fit(run, card)
        found_on[mebibytes] = fit.run.batch_size if fit else None
        assert found_on[mebibytes] == max(fitting, default=None)
    assert len(set(found_on.values())) == len(found_on)
