"""Where a compiled graph cannot be derived, a verdict that both of its bounds share is trusted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.command import nanolint
from tests.support.model_text import FUSED_ADAMW
from tests.support.project_tree import write_project
from tests.unit.interpreter.test_projects import SMALL, UNDERIVED

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ("--isolated", "--gpu=rtx-4090", "--select=NL102,NL005", "--output-format=json")


def checked(root: Path, *settings: str) -> tuple[int, list[dict[str, Any]]]:
    write_project(root, {"model.py": UNDERIVED + FUSED_ADAMW})
    config = root / "config" / "underived.py"
    config.parent.mkdir(exist_ok=True)
    config.write_text("\n".join((*SMALL, *settings)) + "\n")
    outcome = nanolint(str(config), *ASKED)
    return outcome.status, json.loads(outcome.out)


def test_what_fits_even_as_it_runs_without_fits(tmp_path: Path) -> None:
    assert checked(tmp_path) == (0, [])


def test_parameters_and_states_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    status, (found,) = checked(tmp_path, "n_embd=40000", "n_layer=3")
    assert status == 1
    assert (found["severity"], found["doubts"]) == ("error", [])


def test_a_part_that_is_compiled_for_itself_is_in_doubt(tmp_path: Path) -> None:
    part = UNDERIVED.replace("torch.cummax(self.gelu(x), 1)[0]", "self.gelu(x) * x")
    part = part.replace("self.gelu = nn.GELU()", "self.gelu = torch.compile(nn.GELU())")
    assert "torch.compile(nn" in part
    write_project(tmp_path, {"model.py": part + FUSED_ADAMW})
    config = tmp_path / "config" / "part.py"
    config.parent.mkdir(exist_ok=True)
    for batch in (2, 90000):
        config.write_text("\n".join((*SMALL, "compile=False", f"batch_size={batch}")) + "\n")
        (found,) = json.loads(nanolint(str(config), *ASKED).out)
        assert "as if it was not compiled" in found["doubts"][0]
