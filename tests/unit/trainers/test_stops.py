"""What is started otherwise or elsewhere does not stop for everybody: no error is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.gpus.lookup import find
from nanolint.interpreter.torch import methods
from nanolint.linting import registry
from nanolint.linting.engine import lint
from nanolint.linting.setup import Setup
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """import argparse, os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

class Config:
    def __init__(self, free=False):
        self.free = free

parser = argparse.ArgumentParser()
ADDED
net = nn.Sequential(nn.Embedding(96, 32), nn.Linear(32, 96)).to("cuda")
LINE
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randint(96, (4, 9), device="cuda")
    loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(scope="module", name="setup")
def with_setup() -> Setup:
    rules = tuple(each for each in registry.load().rules if each.code.startswith("NL6"))
    return Setup(rules=rules, known_codes={}, targets=(find("rtx-4090"),))


def said(setup: Setup, folder: Path, line: str, added: str = "") -> list[str]:
    text = SCRIPT.replace("LINE", line).replace("ADDED", added)
    return [each.message for each in lint(text, folder / "train.py", setup).diagnostics]


@pytest.mark.parametrize(
    "line",
    [
        'assert "TOKEN" in os.environ',
        'assert int(os.environ.get("WORLD_SIZE", 1)) > 1, "use torchrun"',
        'if "RANK" not in os.environ: raise RuntimeError("use torchrun")',
        'first, last = os.environ.get("RANGE", "").split(":")',
        'share = 8 // int(os.environ.get("SHARES", "0"))',
        'TABLE = {"a": 1}; TABLE[os.environ.get("MODE", "")]',
        "assert torch.cuda.device_count() >= 8",
        "one, two = list(range(torch.cuda.device_count()))",
        "assert dist.is_initialized()",
        "assert len(sys.argv) == 2",
        "_, path = sys.argv",
    ],
)
def test_what_is_set_where_it_is_started(line: str, setup: Setup, tmp_path: Path) -> None:
    assert said(setup, tmp_path, line) == []


@pytest.mark.parametrize(
    ("added", "line"),
    [
        ("parser.add_argument('--path')", "assert args.path"),
        ("parser.add_argument('--rows', type=int, default=0)", "share = 8 / args.rows"),
        (
            "parser.add_argument('--train', action='store_true')",
            "if not args.train: raise ValueError('nothing to do')",
        ),
    ],
)
def test_a_flag_that_may_be_given(added: str, line: str, setup: Setup, tmp_path: Path) -> None:
    assert said(setup, tmp_path, f"args = parser.parse_args()\n{line}", added) == []


def test_the_settings_of_a_checkpoint(setup: Setup, tmp_path: Path) -> None:
    line = "saved = torch.load('a.pt', map_location='cpu')\nassert Config(**saved['args']).free"
    assert said(setup, tmp_path, line) == []


def test_what_the_program_itself_has(setup: Setup, tmp_path: Path) -> None:
    line = "os.environ.get('MODE')\nsizes = {'width': 32}\nsizes['wdith']"
    assert said(setup, tmp_path, line) == ["the run stops before step 1: KeyError: 'wdith'"]


def test_named_parameters(setup: Setup, tmp_path: Path) -> None:
    line = "torch.optim.SGD(net.named_parameters(), lr=0.1)"
    assert said(setup, tmp_path, line) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nn.Linea(2, 1)", "AttributeError: module 'torch.nn' has no attribute 'Linea'"),
        ("torch.zero(2)", "AttributeError: module 'torch' has no attribute 'zero'"),
        ("import numpy as np; np.int6", "module 'numpy' has no attribute 'int6'"),
        ("torch.cuda.is_bf16_supporte()", "no attribute 'is_bf16_supporte'"),
        ("F.cross_entrop(1, 2)", "module 'torch.nn.functional' has no attribute 'cross_entrop'"),
        ("from torch.nn import Linea", "ImportError: cannot import name 'Linea' from 'torch.nn'"),
        ("rows = []; rows.appendd(1)", "'list' object has no attribute 'appendd'"),
        ("{}.itmes()", "'dict' object has no attribute 'itmes'"),
        ('"loss " + 3', 'can only concatenate str (not "int") to str'),
        ("(1, 2) // 2", "unsupported operand type(s) for //: 'tuple' and 'int'"),
        (
            "class A(nn.Module):\n    def __init__(self):\n        super().__init_()\nA()",
            "'super' object has no attribute '__init_'",
        ),
        ("torch.randint(2, 2, (3,))", "'from' to be less than 'to', but got from=2 >= to=2"),
        ("# no global name\nnothing", "NameError: name 'nothing' is not defined"),
    ],
)
def test_what_python_or_pytorch_refuses(
    line: str, message: str, setup: Setup, tmp_path: Path
) -> None:
    assert [each.endswith(message) for each in said(setup, tmp_path, line)] == [True]


@pytest.mark.parametrize(
    "line",
    [
        "torch.of_a_release_to_come = 1",
        "if False: torch.brand_new(1)",
        "nn.intrinsic",
        "import numpy as np; np.int, np.cumproduct, np.asscalar",  # of old releases
        "torch.has_cuda, torch.rfft",  # made when asked for, and of an old release
        "fast = hasattr(F, 'scaled_dot_product_attentions')",
        "try:\n    from torch.nn import Linears\nexcept ImportError:\n    Linears = nn.Linear",
        "try:\n    nn.Linears\nexcept AttributeError:\n    pass",
    ],
)
def test_a_name_that_pytorch_may_lack(line: str, setup: Setup, tmp_path: Path) -> None:
    assert said(setup, tmp_path, line) == []


LOADED = """class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 99
    def __getitem__(self, index):
        return GIVEN
rows, _ = next(iter(torch.utils.data.DataLoader(Rows(), 2)))
rows.sum()
"""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("torch.zeros(3), None", ["found <class 'NoneType'>"]),
        ("torch.zeros(3), 1", []),
    ],
)
def test_samples_of_a_loader(given: str, found: list[str], setup: Setup, tmp_path: Path) -> None:
    messages = said(setup, tmp_path, LOADED.replace("GIVEN", given))
    assert [each.rpartition("; ")[2] for each in messages] == found


MEANS = """def means():
    found = {}
    for split in ("train", "val"):
        out = torch.zeros(3)
        FILLS
    return found
losses = means()
print(losses["train"])
"""


@pytest.mark.parametrize(
    ("fills", "stops"),
    [
        ("out.mean()", ["the run stops before step 1: KeyError: 'train'"]),
        ("found[split] = out.mean()", []),
        ("found.update({split: out.mean()})", []),
        ("nn.init.zeros_(found)", []),  # whoever it is handed to may fill it
        ("found = dict(train=1)", []),
    ],
)
def test_a_key_of_a_dictionary_that_a_function_returns(
    fills: str, stops: list[str], setup: Setup, tmp_path: Path
) -> None:
    line = MEANS.replace("FILLS", fills)
    assert said(setup, tmp_path, line) == stops


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("self.w = nn.Parameter(torch.ones(3))", "cannot assign parameters before Module"),
        ("self.w = nn.Linear(3, 3)", "cannot assign module before Module"),
        ("self.w = 3", ""),
    ],
)
def test_parts_before_the_module_is_made(
    line: str, stops: str, setup: Setup, tmp_path: Path
) -> None:
    text = f"class Part(nn.Module):\n    def __init__(self):\n        {line}\nPart()"
    messages = said(setup, tmp_path, text)
    assert [stops in each for each in messages] == [True] * bool(stops)


def test_the_line_of_a_name_among_several_lines(setup: Setup, tmp_path: Path) -> None:
    text = SCRIPT.replace("ADDED", "").replace("LINE", "Config(\n    free=Fals,\n)")
    found = lint(text, tmp_path / "train.py", setup).diagnostics
    assert [text[each.span.start : each.span.end] for each in found] == ["free=Fals,"]


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("assert x.shape[0] > 3, f'{x.shape[0]} rows'", ["AssertionError: 2 rows"]),
        ("assert dist.is_initialized()", []),
        ("assert int(os.environ.get('WORLD_SIZE', 1)) > 1", []),
        ("assert self.width % 2 == 0", ["AssertionError: self.width % 2 == 0"]),
        ("assert self.fast", []),
    ],
)
def test_a_check_of_a_model(line: str, stops: list[str], setup: Setup, tmp_path: Path) -> None:
    module = (
        "class Part(nn.Module):\n    fast, width = 'FAST' in os.environ, 3\n"
        f"    def forward(self, x):\n        {line}\n        return x\n"
    )
    given = "rank = int(os.environ.get('RANK', -1))\nPart()(torch.zeros(2, 3, device='cuda'))"
    messages = said(setup, tmp_path, module + given)
    assert [each.partition("1: ")[2] for each in messages] == stops


@pytest.mark.parametrize(
    ("given", "stops"),
    [
        ("heads = 4\nconfig.heads = heads", ["AssertionError: config.heads > 8"]),
        ("config.heads = int(os.environ.get('HEADS', 4))", []),
        ("config.heads = 4 * len(os.environ.get('HEADS', ''))", []),
        (
            "def put(\n    heads=4\n):\n    config.heads = heads\nput(int(os.getenv('HEADS', 4)))",
            [],
        ),
        ("heads = 4\nheads, width = int(os.environ.get('HEADS', 4)), 1\nconfig.heads = heads", []),
        ("config.heads = 4\nvars(config)['heads'] = len(os.environ.get('HEADS', ''))", []),
    ],
)
def test_a_check_of_what_a_model_is_given(
    given: str, stops: list[str], setup: Setup, tmp_path: Path
) -> None:
    module = (
        "class Part(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        "        assert config.heads > 8\n"
    )
    messages = said(setup, tmp_path, f"{module}config = Config()\n{given}\nPart(config)")
    assert [each.partition("1: ")[2] for each in messages] == stops


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("nn.Linear(8, 8).cuda()(rows[torch.randint(9, (4,))].cuda())", False),  # fractions, say
        ("nn.Linear(8, 8).cuda()(rows[:4].float().cuda())", False),  # and of two dimensions
        ("rows[:4, 0]", False),
        ("net[0](rows[:8].view(2, 4).cuda()).vie(8)", True),
        ("net[1](net[0](rows[:8].view(2, 4).cuda()).half())", True),
    ],
)
def test_an_array_of_a_file_may_be_of_any_shape(
    line: str, stops: bool, setup: Setup, tmp_path: Path
) -> None:
    made = "import numpy as np\nrows = torch.from_numpy(np.load('rows.npy'))\n"
    assert bool(said(setup, tmp_path, made + line)) is stops


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("torch.tensor([1, 2], dtyp=torch.long)", "tensor() got an unexpected keyword argument"),
        ("torch.zeros(3, devic='cuda')", "zeros() got an unexpected keyword argument 'devic'"),
        ("torch.zeros(3, device='cuda')", ""),
        (
            "torch.zeros(8, 4).masked_fill_(torch.zeros(7, 4) > 0, 0)",
            "The expanded size of the tensor (8) must match the existing size (7)",
        ),
        ("[torch.zeros(3) for _ in range(2)].double()", "'list' object has no attribute 'double'"),
    ],
)
def test_what_an_operation_does_not_take(
    line: str, message: str, setup: Setup, tmp_path: Path
) -> None:
    messages = said(setup, tmp_path, line)
    assert [message in each for each in messages] == [True] * bool(message)


def test_a_gradient_that_nanolint_gets_wrong_is_not_known(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise NotModelled("a gradient")

    monkeypatch.setattr(methods, "run_backward", fails)
    text = SCRIPT.replace("ADDED", "").replace("LINE", "pass # of its own")
    report = lint(text, tmp_path / "train.py", setup)
    assert report.diagnostics == ()
    assert "a gradient" in str(report.cases[0].resolution.why_unknown)


def test_the_lines_that_lead_to_what_raises(setup: Setup, tmp_path: Path) -> None:
    line = "def f(x):\n    return x.view(5, 7)\ndef g(x):\n    return f(x)\ng(torch.zeros(2))"
    text = SCRIPT.replace("ADDED", "").replace("LINE", line)
    (found,) = lint(text, tmp_path / "train.py", setup).diagnostics
    assert text[found.span.start : found.span.end] == "return x.view(5, 7)"
    assert [each.source.strip() for each in found.holders] == ["return f(x)", "g(torch.zeros(2))"]


@pytest.mark.parametrize(
    ("line", "stops"),
    [
        ("first, second, third = data[:4], data[4:8]", ["ValueError: not enough values to unpack"]),
        (
            "first, second = data[:4], data[4:8], data[8:]",
            ["ValueError: too many values to unpack"],
        ),
        ("first, *second = data[:4], data[4:8], data[8:]", []),
        ("rows, length = data.shape", []),  # of a file that nobody has read
    ],
)
def test_what_an_array_of_a_file_decides(
    line: str, stops: list[str], setup: Setup, tmp_path: Path
) -> None:
    found = said(setup, tmp_path, f"import numpy as np\ndata = np.load('rows.npy')\n{line}")
    assert [each.partition(": ")[2].partition(" (")[0] for each in found] == stops


def test_super_without_its_call(setup: Setup, tmp_path: Path) -> None:
    made = (
        "class Net(nn.Module):\n    def __init__(self):\n        super.__init__()\n"
        "        self.rows = nn.Embedding(96, 32)\nnet = Net()"
    )
    (found,) = said(setup, tmp_path, made)
    assert "TypeError: descriptor '__init__' of 'super' object needs an argument" in found


def test_a_doubt_about_memory_does_not_hide_a_name_that_is_not_there(
    setup: Setup, tmp_path: Path
) -> None:
    (found,) = said(setup, tmp_path, "net = nn.DataParallel(net)\nprint(nett)")
    assert "NameError: name 'nett' is not defined" in found


@pytest.mark.parametrize(
    "line", ["scaler = torch.GradScaler()", "torch.arange(8, dtype=float, device='cuda')"]
)
def test_what_pytorch_takes_is_no_stop(line: str, setup: Setup, tmp_path: Path) -> None:
    assert said(setup, tmp_path, line) == []


@pytest.mark.parametrize("wrapper", ["nn.DataParallel", "nn.parallel.DistributedDataParallel"])
def test_what_the_module_has_that_a_wrapper_holds(
    wrapper: str, setup: Setup, tmp_path: Path
) -> None:
    made = (
        "class Net(nn.Sequential):\n    def sample(self):\n        return 1\n"
        f"net = {wrapper}(Net(nn.Embedding(96, 32), nn.Linear(32, 96)).cuda())\nnet.sample()"
    )
    (found,) = said(setup, tmp_path, made)
    assert f"'{wrapper.rpartition('.')[2]}' object has no attribute 'sample'" in found


@pytest.mark.parametrize("place", ["'cuda'", "0", "torch.cuda.current_device()"])
def test_how_much_a_text_has_fails_no_check(place: str, setup: Setup, tmp_path: Path) -> None:
    made = (
        "class Rows(torch.utils.data.Dataset):\n"
        "    def __init__(self, text):\n"
        "        self.text, self.places = text, {c: i for i, c in enumerate(sorted(set(text)))}\n"
        "    def __len__(self):\n        return len(self.text) - 9\n"
        "    def __getitem__(self, i):\n"
        "        row = [self.places[c] for c in self.text[i : i + 9]]\n"
        "        return torch.tensor(row[:-1], dtype=torch.long)\n"
        "class Net(nn.Sequential):\n    most = 8\n    def forward(self, x):\n"
        "        assert x.size(1) <= self.most, 'too long'\n        return super().forward(x)\n"
        "net = Net(nn.Embedding(96, 32), nn.Linear(32, 96)).cuda()\n"
        "rows = Rows(open(parser.parse_args().text).read())\n"
        "for x in torch.utils.data.DataLoader(rows, batch_size=8):\n"
        f"    net(x.to({place}))\n    break"
    )
    assert said(setup, tmp_path, made, "parser.add_argument('--text')") == []
