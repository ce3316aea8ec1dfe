"""What a script does behind its loop, with texts and numbers of the host, is read or doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained
from tests.unit.trainers import test_whole_forks
from tests.unit.trainers.test_whole_scripts import (
    SCRIPT,
    STATES,
    evaluated_late,
    in_a_function,
)

if TYPE_CHECKING:
    from pathlib import Path

GENERATES = """
@torch.no_grad()
def sample(model, text, count):
    import tiktoken
    idx = torch.tensor(tiktoken.get_encoding("gpt2").encode(text)).unsqueeze(0).cuda()
    idx = idx.repeat(count, 1)
    model.eval()
    for _ in range(3):
        model(idx, idx)
        idx = torch.cat((idx, idx[:, -1:]), dim=1)
    model.train()
"""


def generating(text: str, count: int) -> str:
    return in_a_function(f"{SCRIPT}sample(model, {text!r}, {count})\n").replace(
        "def main", f"{GENERATES}\ndef main"
    )


def test_a_prompt_is_taken_for_a_token_a_byte(tmp_path: Path) -> None:
    text = "Every effort moves you"
    found = explained(tmp_path, generating(text, 64))
    assert found["doubts"] == []
    logits = 4 * 64 * len(text) * 8192
    assert STATES + logits < evaluated_late(found) < STATES + 5 * logits


def test_a_prompt_that_decides_the_peak_is_a_doubt(tmp_path: Path) -> None:
    found = explained(tmp_path, generating("x" * 1000, 64))
    assert any(
        "assuming that a text has 1000 tokens (train.py:" in each for each in found["doubts"]
    )


def test_what_only_the_loops_end_would_give_is_no_doubt(tmp_path: Path) -> None:
    behind = (
        "    if step == 99:\n        last = {'loss': loss}\n"
        "record = {'last': last['loss'].item(), 'size': sum(1 for _ in model.parameters())}\n"
        "print(evaluate(model, x, y), record)\n"
    )
    text = in_a_function(SCRIPT + behind).replace(
        "    model = Net", "    last = None\n    model = Net"
    )
    found = explained(tmp_path, text)
    assert found["doubts"] == []
    assert evaluated_late(found) > STATES


def test_a_method_that_evaluates_in_a_later_step_is_read(tmp_path: Path) -> None:
    method = (
        "    @torch.no_grad()\n    def score(self, x, y):\n        return self(x, y)\n\ntokens ="
    )
    text = SCRIPT.replace("\ntokens =", f"\n{method}", 1).replace(
        "    optimizer.step()",
        "    if step % 50 == 49:\n        model.score(*(each.repeat(9, 1) for each in (x, y)))\n"
        "    optimizer.step()",
    )
    found, plain = explained(tmp_path, text), explained(tmp_path, SCRIPT)
    assert found["doubts"] == plain["doubts"] == []
    assert found["peak"]["allocated_bytes"] > 3 * plain["peak"]["allocated_bytes"]


def test_a_name_of_a_package_that_is_not_read_may_come_of_it(tmp_path: Path) -> None:
    starred = f"from somewhere import *\n{SCRIPT}"
    assert explained(tmp_path, starred)["doubts"] == []
    path = tmp_path / "train.py"
    path.write_text(starred.replace("Net().cuda()", "Net().to(where())"), encoding="utf-8")
    said = " ".join(nanolint("explain", str(path), "--gpu", "a100-40gb").out.split())
    assert "somewhere is not a module of the project (train.py:1)" in said


PICKED = """def get_batch():
    starts = torch.randint(0, len(train_data) - block_size, (batch_size,)).numpy()
    places = starts[:, None] + np.arange(block_size)
    x, y = torch.from_numpy(train_data[places]).long(), torch.from_numpy(train_data[places + 1])
    return x.pin_memory().to(device), y.long().to(device)

meta_vocab"""


def forked(text: str) -> str:
    """nanoGPT's kind of script, with another way to a batch."""
    head, rest = test_whole_forks.SCRIPT.split("def get_batch", 1)
    return f"{head}{text}{rest.split('meta_vocab', 1)[1]}"


def test_a_batch_that_numpy_picks_is_known(tmp_path: Path) -> None:
    config = "batch_size = 16\n"
    found = test_whole_forks.explained(tmp_path / "a", config, script=forked(PICKED))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == test_whole_forks.explained(tmp_path / "b", config)["peak"]


def test_a_data_set_elsewhere_is_what_its_program_makes(tmp_path: Path) -> None:
    script = test_whole_forks.SCRIPT.replace("join('data', dataset)", "join('/disk', dataset)")
    config = "batch_size = 16\ndataset = 'openwebtext'\n"
    found = test_whole_forks.explained(tmp_path, config, script=script)
    assert (found["trust"], found["doubts"]) == ("read", [])


GATHERS = """
@torch.no_grad()
def gather(model, x, count):
    model.eval()
    kept = []
    for _ in range(count):
        kept.append(model.wte(x))
    model.train()
    return len(kept)
"""


def gathered(folder: Path, count: int) -> dict[str, Any]:
    folder.mkdir()
    text = in_a_function(f"{SCRIPT}gather(model, x, {count})\n")
    return explained(folder, text.replace("def main", f"{GATHERS}\ndef main"))


def test_what_a_loop_keeps_grows_with_its_turns(tmp_path: Path) -> None:
    few, many = gathered(tmp_path / "few", 5), gathered(tmp_path / "many", 50)
    assert (few["doubts"], many["doubts"]) == ([], [])
    assert evaluated_late(many) - evaluated_late(few) == 45 * 4 * 32 * 256 * 256


LOADED = """
@torch.no_grad()
def gather(model, data):
    model.eval()
    kept = []
    for x, y in torch.utils.data.DataLoader(data, batch_size=8):
        kept.append(model.wte(x.cuda()){part})
    model.train()
    return len(kept)

class Windows(torch.utils.data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, place):
        return tokens[place : place + T], tokens[place + 1 : place + T + 1]
"""


@pytest.mark.parametrize(("part", "doubted"), [("", True), (".mean()", False)])
def test_what_a_loop_over_data_keeps_is_a_doubt(
    tmp_path: Path, part: str, *, doubted: bool
) -> None:
    text = in_a_function(f"{SCRIPT}gather(model, Windows())\n")
    loaded = LOADED.replace("{part}", part)
    doubts = explained(tmp_path, text.replace("def main", f"{loaded}\ndef main"))["doubts"]
    assert [each.startswith("the memory that a loop over data keeps") for each in doubts] == [
        True
    ] * doubted


@pytest.mark.parametrize(("times", "doubted"), [(1, False), (9, True)])
def test_an_evaluation_that_a_file_decides_is_read(
    tmp_path: Path, times: int, *, doubted: bool
) -> None:
    rows = f"(torch.cat([each] * {times}) for each in (x, y))"
    behind = f"if os.path.exists('test.bin'):\n    print(evaluate(model, *{rows}))\n"
    text = "import os\n" + in_a_function(SCRIPT).replace("main()\n", f"main()\n{behind}")
    text = text.replace("def main():", "def main():\n    global model, x, y")
    found = explained(tmp_path, text)
    assert evaluated_late(found) > STATES
    assert bool(found["doubts"]) is doubted


def test_the_step_of_the_other_scaler_is_no_evaluation(tmp_path: Path) -> None:
    either = (
        "    if scaler is not None:\n        scaler.step(optimizer)\n        scaler.update()\n"
        "    else:\n        optimizer.step()"
    )
    text = SCRIPT.replace("    optimizer.step()", either).replace(
        "loader = ", "scaler = torch.amp.GradScaler()\nloader = "
    )
    text = text.replace("loss.backward()", "scaler.scale(loss).backward()")
    text = text.replace("range(TOTAL // (B * T))", "range(1)")
    assert explained(tmp_path, in_a_function(text))["doubts"] == []


def test_the_head_of_a_file_of_tokens_is_read_by_torch(tmp_path: Path) -> None:
    head = (
        "header = torch.from_file('train.bin', shared=False, size=256, dtype=torch.int32)\n"
        "assert header[0].item() == 20240520\ntokens ="
    )
    assert explained(tmp_path, SCRIPT.replace("tokens =", head, 1))["doubts"] == []
