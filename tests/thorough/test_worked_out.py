"""What was read for one micro-batch, or another whole number, holds for others where it says so:
the tape is that of a reading, to the last event, name and printed line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.files import door
from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.lsp.session import Session
from nanolint.recording import recording, symbolic_cache, tape_answers
from tests.support.project_tree import write_project
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.lsp.session import Document
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape

COLUMNS = (
    *("events", "sizes", "names", "components", "phases", "doubts", "above", "assumed"),
    *("flops", "steps", "printed"),
)
GPU = find(CARD).gpu
SCRIPT = """\
import torch
import torch.nn as nn
batch_size = 8
passes = 8
{more}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(512, 2048), nn.Linear(2048, 512)
    def forward(self, x):
        return self.down(self.up(x).relu())

print(f"{{batch_size * passes:,}} rows a step, {{batch_size}} at once")
print("of", batch_size)
net = Net().to('cuda')
optimizer = torch.optim.AdamW(net.parameters())
for step in range(100):
    for turn in range(passes):
        {batch}
        loss = net(x).mean() / passes
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""
BATCH = "x = torch.randn(batch_size, 512, device='cuda')"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The micro-batches that are read from now on."""
    found: list[int] = []
    write = recording._Recipe.write

    def noted(recipe: recording._Recipe, *given: object) -> None:
        found.append(recipe.run.batch_size)
        write(recipe, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(recording._Recipe, "write", noted)
    forget()
    return found


def forget() -> None:
    """Nothing was read yet."""
    tape_answers._of_any_card.cache_clear()
    symbolic_cache._families.clear()


def run_of(root: Path, text: str) -> Run | None:
    """The run of a script; None where it has none."""
    path = write_project(root, {"train.py": text}) / "train.py"
    door.forget()
    session = Session({}, pytest.fail)
    session.set_target(CARD)
    session.open("script", path, text, is_python=True)
    document = session.document("script")
    assert document is not None
    context = document.context
    return None if context is None else context.run


def of(run: Run, batch_size: int, passes: int | None = None) -> Run:
    """The run with another micro-batch, and another accumulation."""
    steps = run.gradient_accumulation_steps if passes is None else passes
    return replace(run, batch_size=batch_size, gradient_accumulation_steps=steps)


def tape(run: Run) -> Tape | str:
    """Its tape; the reason where it cannot be read."""
    try:
        return recording.record(run, GPU)
    except Unread as error:
        return str(error)


def assert_as_read(runs: list[Run]) -> None:
    """Asked for one after the other, they have the tapes that each has when it is read alone."""
    forget()
    found = [tape(each) for each in runs]
    for each, one in zip(runs, found, strict=True):
        forget()
        other = tape(each)
        if isinstance(one, str) or isinstance(other, str):
            assert one == other
        else:
            for column in COLUMNS:
                assert getattr(one, column) == getattr(other, column), (each.batch_size, column)


@pytest.mark.parametrize("name", list(TEXTS)[::12])
def test_a_variation_has_the_tape_of_its_reading(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbolic_cache, "COMPILED_FIRST", 1)
    run = run_of(tmp_path, TEXTS[name])
    if run is not None and run.on_gpu:
        own = run.batch_size
        assert_as_read([of(run, each) for each in (own, own + 1, 2 * own, 5)])


def test_the_third_micro_batch_is_not_read(tmp_path: Path, reads: list[int]) -> None:
    run = run_of(tmp_path, SCRIPT.format(more="", batch=BATCH))
    assert run is not None
    reads.clear()
    for each in (8, 9, 10, 40, 100, 3):
        tape(of(run, each))
    assert reads == [9]  # 8 was read when the script was opened


def test_rows_of_a_batch_are_as_many_as_it_says(tmp_path: Path, reads: list[int]) -> None:
    settings = "compile = False\nn_layer = 2\nn_embd = 64\nn_head = 4\nblock_size = 64\n"
    _, document = opened(tmp_path, settings)
    assert document.context is not None
    run = document.context.run
    assert run is not None
    assert document.judged is not None
    reads.clear()
    for each in (12, 13, 14, 15, 30):
        tape(of(run, each))
    assert reads == [13]  # 12 was read when the config was opened
    assert_as_read([of(run, each) for each in (12, 13, 14, 30, 100, 3)])


def test_it_is_told_as_if_it_had_been_read(tmp_path: Path) -> None:
    run = run_of(tmp_path, SCRIPT.format(more="", batch=BATCH))
    assert run is not None
    assert_as_read(
        [of(run, *each) for each in ((8, 8), (9, 8), (10, 8), (10, 10), (20, 12), (7, 7))]
    )
    forget()
    for each in (8, 9, 12):
        last = tape(of(run, each))
    assert not isinstance(last, str)
    assert last.printed == ["96 rows a step, 12 at once", "of 12"]


@pytest.mark.parametrize(
    "more",
    [
        "if batch_size > 16:\n    kept = torch.zeros(1024, 1024, device='cuda')",
        "if batch_size in (20, 24):\n    kept = torch.zeros(1024, 1024, device='cuda')",
        "sizes = {12: 4096, 20: 64}\n"
        "kept = torch.zeros(1024, sizes.get(batch_size, 1), device='cuda')",
        "some = {(20, 1), (24, 1)}\n"
        "kept = torch.zeros(1024, 512 if (batch_size, 1) in some else 1, device='cuda')",
        "kept = torch.zeros(1024, len({8, 12, batch_size, passes}), device='cuda')",
        "kept = torch.zeros(1024, 64 if type(batch_size) is int else 1, device='cuda')",
        "kept = [torch.zeros(1 << 18, device='cuda') for _ in range(batch_size)]",
        "kept = torch.zeros(1 << batch_size % 5, 512, device='cuda')",
        "kept = torch.zeros(1024, [1, 64, 512][batch_size % 3], device='cuda')",
        "kept = torch.zeros(1024, len('x' * batch_size), device='cuda')",
        "kept = torch.zeros(1024, len(str(batch_size)) * 64, device='cuda')",
        "kept = torch.zeros(1024, int(f'{batch_size}'), device='cuda')",
        "kept = torch.zeros(1024, int(batch_size ** 1.5), device='cuda')",
        "kept = torch.zeros(1024, round(batch_size / 3), device='cuda')",
        "import math\nkept = torch.zeros(1024, math.ceil(math.log2(batch_size)), device='cuda')",
        "kept = torch.zeros(1024, max(batch_size, 16) - 15, device='cuda')",
        "kept = torch.zeros(1024, -(-batch_size // 7), device='cuda')",
        "kept = torch.zeros(1024, batch_size & 12 | 1, device='cuda')",
        "assert batch_size % 2 == 0",
        "if passes % 2:\n    kept = torch.zeros(1024, 1024, device='cuda')",
    ],
)
def test_what_a_script_decides_by_its_micro_batch_is_decided_anew(
    tmp_path: Path, more: str
) -> None:
    run = run_of(tmp_path, SCRIPT.format(more=more, batch=BATCH))
    assert run is not None
    numbers = [(8, 8), (10, 8), (12, 8), (18, 8), (20, 7), (24, 8), (9, 5), (11, 9), (32, 8)]
    assert_as_read([of(run, *each) for each in numbers])


@pytest.mark.parametrize(
    "batch",
    [
        "x = torch.stack([torch.randn(512) for _ in range(batch_size)]).to('cuda')",
        "x = torch.randn(batch_size * 2, 512, device='cuda')[:batch_size]",
    ],
)
def test_a_batch_that_is_made_row_by_row_is_as_large_as_it_is(tmp_path: Path, batch: str) -> None:
    run = run_of(tmp_path, SCRIPT.format(more="", batch=batch))
    assert run is not None
    assert_as_read([of(run, each) for each in (8, 9, 12, 16, 17, 64, 2)])


def test_a_reading_with_formulas_leaves_plain_numbers_behind(tmp_path: Path) -> None:
    run = run_of(tmp_path, SCRIPT.format(more="", batch=BATCH))
    assert run is not None
    for each in (8, 9, 10, 11):
        found = tape(of(run, each))
        assert not isinstance(found, str)
        assert {type(size) for size in found.sizes} == {int}
        assert not any("\ue000" in each for each in (*found.names, *found.printed))


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("max_iters = 600", "max_iters = {}"),
        ("eval_iters = 200", "eval_iters = {}"),
    ],
)
def test_the_third_of_a_number_that_decides_nothing_is_not_read(
    tmp_path: Path, reads: list[int], line: str, others: str
) -> None:
    type_numbers(tmp_path, line, others)
    assert len(reads) == 2


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("log_interval = 10", "log_interval = {}"),
        ("wandb_project = 'owt'", "wandb_project = 'owt{}'"),
        ("wandb_log = False", "wandb_log = {} > 400"),
    ],
)
def test_what_nobody_uses_is_read_once(
    tmp_path: Path, reads: list[int], line: str, others: str
) -> None:
    type_numbers(tmp_path, line, others)
    assert len(reads) == 1


def test_what_cannot_be_read_says_nothing_of_what_can(tmp_path: Path, reads: list[int]) -> None:
    settings = "compile = False\nn_layer = 2\nblock_size = 64\nn_embd = {}\nmax_iters = {}\n"
    session, document = opened(tmp_path, settings.format(96, 600))
    for width, counts in ((96, (600, 700)), (97, (700,)), (192, (700, 800, 900, 1000))):
        for count in counts:  # no width of 97 is a whole number of heads
            session.change("config", settings.format(width, count))
            assert document.judged is not None
    assert len(reads) <= 6  # and one of each count of the last width without what was shown before
    before = len(reads)
    session.change("config", settings.format(192, 1100))
    assert document.judged is not None
    assert len(reads) == before


def opened(tmp_path: Path, text: str) -> tuple[Session, Document]:
    """A config that is open."""
    path = write_project(tmp_path, {"config/a.py": text}) / "config" / "a.py"
    session = Session({}, pytest.fail)
    session.set_target(CARD)
    session.open("config", path, text, is_python=True)
    document = session.document("config")
    assert document is not None
    return session, document


def type_numbers(tmp_path: Path, line: str, others: str) -> None:
    """A config with one line, and with others that have numbers."""
    settings = "compile = False\nn_layer = 2\nn_embd = 64\nn_head = 4\nblock_size = 64\n"
    session, document = opened(tmp_path, settings + line)
    for number in (300, 400, 500, 700):
        session.change("config", settings + others.format(number))
        assert document.judged is not None


@pytest.mark.parametrize(
    "more",
    [
        "number = {}\nkept = torch.zeros(1024, number, device='cuda')",
        "number = {}\nkept = [torch.zeros(1 << 18, device='cuda') for _ in range(number)]",
        "number = {}\nif number > 16:\n    kept = torch.zeros(1024, 1024, device='cuda')",
        "number: int = {}\nkept = nn.Sequential(*[nn.Linear(number, number)] * 3).to('cuda')",
        "class Config:\n    number = {}\nkept = torch.zeros(1024, Config.number, device='cuda')",
        "def made(number=3):\n    return torch.zeros(1024, number, device='cuda')\n"
        "number = {}\nkept = made(), made(number)",
        "number = {}\nsettings = dict(number=number)\n"
        "kept = torch.zeros(1024, int(str(settings['number'])), device='cuda')",
        "number = {}\nkept = torch.zeros(1024, len(open(__file__).read()), device='cuda')",
        "number = {}\nkept = torch.zeros(1024, 1 + number % 2, device='cuda')\n"
        "batch_size += number",
        "number = {}\nprint('a number', number)",
    ],
)
def test_what_a_script_decides_by_a_number_that_it_names_is_decided_anew(
    tmp_path: Path, more: str
) -> None:
    texts = [
        SCRIPT.format(more=more.format(number), batch=BATCH)
        for number in (12, 14, 16, 18, 20, 13, 64, 1, 2)
    ]
    runs = [run for run in (run_of(tmp_path, text) for text in texts) if run is not None]
    assert len(runs) in {0, len(texts)}
    assert_as_read([run for each in runs for run in (each, of(each, 1 + each.batch_size))])


def test_a_condition_that_holds_in_each_step_is_decided(tmp_path: Path) -> None:
    more = "iter_num = 0\nmax_iters = 600000\nlog_interval = 1"
    text = SCRIPT.format(more=more, batch=BATCH)
    text = text.replace("for step in range(100):", "while iter_num <= max_iters:")
    text = text.replace("optimizer =", "net = torch.compile(net)\noptimizer =")
    text += (
        "    if iter_num % log_interval == 0:\n        shown = loss.detach()\n    iter_num += 1\n"
    )
    run = run_of(tmp_path, text)
    assert run is not None
    assert_as_read([of(run, each) for each in (8, 16, 24)])
