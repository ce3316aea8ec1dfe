"""What no size depends on does not stop the reading, and leaves the number as it is."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
import torch.nn as nn
V, batch = 512, 8
# BEFORE
model = nn.Sequential(nn.Embedding(V, 64), nn.Linear(64, V)).cuda()
# AFTER
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randint(V, (batch, 64), device="cuda")
    loss = nn.functional.cross_entropy(model(x).view(-1, V), x.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
PEAK = 10_759_168  # PyTorch's own, as ``nanolint trace`` counts it for an RTX 4090


def read(folder: Path, before: str = "", after: str = "", *words: str) -> dict[str, Any]:
    text = SCRIPT.replace("# BEFORE", before).replace("# AFTER", after)
    return explained(folder, text, *words, card="rtx-4090")


def started(folder: Path, text: str, launcher: str, *words: str) -> dict[str, Any]:
    path = folder / "train.py"
    path.write_text(text, encoding="utf-8")
    line = (*launcher.split(), "python", str(path), *words)
    done = nanolint("explain", "--gpu", "rtx-4090", "--format", "json", "--", *line)
    found: dict[str, Any] = json.loads(done.out)
    return found


def is_read(found: dict[str, Any], peak: int = PEAK) -> bool:
    assert (found["trust"], found["doubts"]) == ("read", [])
    return bool(found["peak"]["allocated_bytes"] == peak)


@pytest.mark.parametrize(
    ("made", "nbytes"),
    [
        ("dtype=np.bool_", 1),
        ("dtype='<u2'", 2),
        ("dtype=np.half", 2),
        ("dtype=np.uint32", 4),
        ("dtype=np.dtype('i8')", 8),
        ("dtype=np.cdouble", 16),
    ],
)
def test_numpy_has_all_of_its_types(tmp_path: Path, made: str, nbytes: int) -> None:
    table = f"import numpy as np\ntable = torch.from_numpy(np.zeros((4096,), {made})).cuda()"
    assert is_read(read(tmp_path, table), PEAK + 4096 * nbytes)


@pytest.mark.parametrize(
    "lines",
    [
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\nprint('a' + repr(args))\n"
        "print('a' + args.__repr__())",
        "class Own:\n    def __getattr__(self, name):\n        raise KeyError(name)\n"
        "print(Own().__str__(), Own().__eq__(1), hash(Own().__hash__()), Own.__repr__(Own()))",
        "class Own:\n    words = 512\nV = vars(Own)['words']\n"
        "V = {k: v for k, v in type(Own()).__dict__.items() if k == 'words'}['words']\n"
        "V = V if getattr(Own(), '__name__', None) is None else 1",
        "class Own:\n    def __repr__(self):\n        return 'own ' + super().__repr__()\n"
        "print(Own().__repr__())",
    ],
)
def test_every_object_has_the_methods_of_object(tmp_path: Path, lines: str) -> None:
    assert is_read(read(tmp_path, lines))


def test_an_attribute_of_a_tensor_hides_a_method(tmp_path: Path) -> None:
    hides = "for p in model.parameters():\n    p.reshape = (2, 256, 64)\n"
    asks = "    assert getattr(p, 'reshape')[0] == 2\n    p.detach().reshape(-1)"
    assert is_read(read(tmp_path, after=hides + asks))


@pytest.mark.parametrize(
    "lines",
    [
        "import struct\nV = struct.unpack('<i', b'\\x00\\x02\\x00\\x00')[0]",
        "import struct\nmagic, V = struct.unpack('<ii', open('head.bin', 'rb').read(8))[0], V",
        "import struct\nV = struct.calcsize('128i')",
        "import bisect, cProfile, concurrent.futures, urllib.request\n"
        "from multiprocessing import cpu_count\n"
        "pool = concurrent.futures.ThreadPoolExecutor(cpu_count())\nprint(bisect.bisect([1], 0))",
    ],
)
def test_a_module_of_the_standard_library_is_one(tmp_path: Path, lines: str) -> None:
    assert is_read(read(tmp_path, lines))


PIECES = """import sentencepiece as spm
pieces = spm.SentencePieceProcessor(model_file='data/tokens.model')
"""
STORED = "import pickle\nn = pickle.load(open('tokens.pkl', 'rb')).count()\nwide = 512\n"


@pytest.mark.parametrize(
    "lines",
    [
        f"{PIECES}if int(pieces.vocab_size()) != V:\n    raise ValueError(V)\n"
        "V = max(int(pieces.vocab_size()), len(pieces))",
        f"{STORED}assert n == wide and batch == 8, n\nV = n",
        f"{STORED}if not (wide == n):\n    print(n)\n    raise SystemExit(1)\nV = n",
        f"{STORED}import sys\nif n != wide:\n    sys.exit(1)\nV = n",
        f"{STORED}if n == wide:\n    V = n\nelse:\n    raise ValueError(n)",
        f"{STORED}d = {{'n': n}}\nassert d['n'] == wide\nV = d['n']",
        f"{STORED}class Own:\n    def __init__(self):\n        self.n = n\nown = Own()\n"
        "if own.n != wide or batch != 8:\n    raise ValueError(n)\nV = own.n",
        "from transformers import AutoTokenizer as Auto\ntokens = Auto.from_pretrained('own/a')\n"
        "assert len(tokens) == V\nV = len(tokens)",
    ],
)
def test_what_a_check_demands_is_so_from_there_on(tmp_path: Path, lines: str) -> None:
    assert is_read(read(tmp_path, lines))


@pytest.mark.parametrize(
    "check",
    [
        "if n != wide:\n    print(n)",
        "assert n == wide or batch == 9",
        "try:\n    assert n == wide\nexcept AssertionError:\n    pass",
        "assert n >= wide",
    ],
)
def test_a_check_that_demands_nothing_leaves_it_open(tmp_path: Path, check: str) -> None:
    assert read(tmp_path, f"{STORED}{check}\nV = n")["trust"] == "unknown"


SLURM = """import os
rank, ranks = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
assert "SLURM_JOB_ID" in os.environ
torch.cuda.set_device(int(os.environ["SLURM_LOCALID"]))
batch = 64 // ranks"""
MPI = """import os
torch.cuda.set_device(int(os.environ["OMPI_COMM_WORLD_LOCAL_RANK"]))
batch = 64 // int(os.getenv("OMPI_COMM_WORLD_SIZE", 0))"""


@pytest.mark.parametrize(
    ("line", "asks", "ranks"),
    [
        ("srun", SLURM, 1),
        ("srun -n 4", SLURM, 4),
        ("srun --nodes=2 --ntasks-per-node=4", SLURM, 8),
        ("mpirun -np 4", MPI, 4),
    ],
)
def test_a_launcher_tells_its_tasks_what_they_are(
    tmp_path: Path, line: str, asks: str, ranks: int
) -> None:
    found = started(tmp_path, SCRIPT.replace("# BEFORE", asks), line)
    assert (found["trust"], found["run"]["batch_size"]) == ("read", 64 // ranks)


def test_a_script_that_asks_what_its_task_is_is_taken_for_one(tmp_path: Path) -> None:
    found = read(tmp_path, SLURM.replace("assert", "_ ="))
    assert (found["trust"], found["run"]["batch_size"]) == ("doubted", 64)


STEP = "    optimizer.step()\n    optimizer.zero_grad()\n"
LOOP = SCRIPT[SCRIPT.index("for step") :].replace("range(20)", "range(2000)")
EVERY_SIXTH = LOOP.replace(STEP, f"    if (step + 1) % 6 == 0:\n{indent(STEP, chr(32) * 4)}")
COUNTED = f"""class Counted:
    def __init__(self, every):
        self.passes, self.every = 0, every
    def train(self):
{indent(LOOP[LOOP.index("    x =") :].replace(STEP, ""), "    ")}
        self.passes += 1
        if self.passes % self.every == 0:
{indent(STEP, "        ")}
counted = Counted(6)
for step in range(2000):
    counted.train()
"""
OF_ACCELERATE = f"""from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="no", gradient_accumulation_steps=6)
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(2000):
    with accelerator.accumulate(model):
{indent(LOOP[LOOP.index("    x =") :], "    ")}
""".replace("loss.backward()", "accelerator.backward(loss)")


@pytest.mark.parametrize(
    ("loop", "other"),
    [(COUNTED, EVERY_SIXTH), (OF_ACCELERATE, OF_ACCELERATE.replace("steps=6", "steps=2"))],
)
def test_a_loop_whose_passes_are_counted_elsewhere_is_read_to_its_steps(
    tmp_path: Path, loop: str, other: str
) -> None:
    before = SCRIPT[: SCRIPT.index("for step")]
    known = explained(tmp_path, before + other, card="rtx-4090")
    found = explained(tmp_path, before + loop, card="rtx-4090")
    assert is_read(found, known["peak"]["allocated_bytes"])


COMMANDS = """import argparse
shared = argparse.ArgumentParser(add_help=False)
shared.add_argument("--words", type=int, default=256)
parser = argparse.ArgumentParser()
parser.add_argument("data", nargs="?")
commands = parser.add_subparsers(dest="command")
one = commands.add_parser("train", aliases=["fit"], parents=[shared])
one.add_argument_group("sizes").add_argument("--batch", type=int, default=2)
one.set_defaults(rows=lambda args: 2 * args.batch)
commands.add_parser("eval").add_argument("--batch", type=int, default=4)
args = parser.parse_args()
V, batch = args.words, args.rows(args) if args.command == "train" else args.batch"""


@pytest.mark.parametrize(
    ("words", "batch"),
    [(["train", "--words", "512", "--batch=4"], 8), (["x.bin", "train", "--words=512"], 4)],
)
def test_a_word_of_the_launch_line_chooses_a_command(
    tmp_path: Path, words: list[str], batch: int
) -> None:
    found = started(tmp_path, SCRIPT.replace("# BEFORE", COMMANDS), "", *words)
    known = read(tmp_path, f"batch = {batch}")["peak"]["allocated_bytes"]
    assert is_read(found, known)
    assert found["run"]["batch_size"] == batch


def test_what_a_command_sets_is_open_without_one(tmp_path: Path) -> None:
    assert read(tmp_path, COMMANDS)["trust"] == "unknown"


SPAWNED = f"""
import torch
import torch.nn as nn
import torch.multiprocessing as mp
def main(rank, V, batch):
    torch.cuda.set_device(rank)
{indent(SCRIPT[SCRIPT.index("# BEFORE") :], "    ")}
def log(queue):
    while True:
        queue.get()
if __name__ == "__main__":
    # STARTS
"""


@pytest.mark.parametrize(
    ("starts", "is_sure"),
    [
        ("mp.spawn(main, args=(512, 8), nprocs=1)", True),
        ("mp.spawn(main, nprocs=torch.cuda.device_count(), args=(512, 8), join=True)", True),
        ("mp.spawn(main, args=(512, 8), nprocs=4)", False),
        (
            "mp.Process(target=log, args=(None,)).start()\n    for rank in range(1):\n"
            "        process = mp.Process(target=main, args=(rank, 512, 8))\n"
            "        process.start()\n    process.join()",
            True,
        ),
    ],
)
def test_a_process_of_its_own_is_read_as_a_call(tmp_path: Path, starts: str, is_sure: bool) -> None:
    found = explained(tmp_path, SPAWNED.replace("# STARTS", starts), card="rtx-4090")
    assert (found["trust"] == "read") is is_sure
    assert found["peak"]["allocated_bytes"] == PEAK


OF_PROPERTIES = """name = torch.cuda.get_device_properties(0).name
batch = 16 if "4090" in name else 64"""


@pytest.mark.parametrize(
    ("lines", "card", "batch"),
    [
        ("batch = 64 if 'H100' in torch.cuda.get_device_name() else 16", "h100", 64),
        ("batch = 64 if 'h100' in torch.cuda.get_device_name(0).lower() else 16", "h100", 64),
        ("batch = 64 if 'h100' in torch.cuda.get_device_name().lower() else 16", "rtx-4090", 16),
        (OF_PROPERTIES, "rtx-4090", 16),
        ("batch = 64 if torch.cuda.mem_get_info()[1] >= 40 * 2**30 else 16", "rtx-4090", 16),
        ("free, total = torch.cuda.mem_get_info()\nbatch = 64 if total > 4e10 else 16", "h100", 64),
        ("batch = 64 if torch.cuda.mem_get_info()[0] / 2**30 > 20 else 16", "rtx-4090", 64),
        ("batch = 64 if 25 <= torch.cuda.mem_get_info()[0] / 2**30 else 16", "rtx-4090", 16),
        ("batch = 8 * int(torch.cuda.mem_get_info()[0] // 10e9)", "rtx-4090", 16),
    ],
)
def test_the_card_that_is_asked_about_answers(
    tmp_path: Path, lines: str, card: str, batch: int
) -> None:
    text = SCRIPT.replace("# BEFORE", lines)
    found = explained(tmp_path, text, card=card)
    known = explained(
        tmp_path, SCRIPT.replace("batch = 512, 8", f"batch = 512, {batch}"), card=card
    )
    assert (found["trust"], found["run"]["batch_size"]) == ("read", batch)
    assert found["peak"] == known["peak"]


@pytest.mark.parametrize(
    "test",
    [
        "'PCIe' in torch.cuda.get_device_name()",
        "'NVIDIA' in torch.cuda.get_device_name()",
        "torch.cuda.get_device_name() == 'RTX 4090'",
        "'4090' in torch.cuda.get_device_name()[:4]",
        "torch.cuda.mem_get_info()[0] > 24e9",  # the context may take that much
        "torch.cuda.mem_get_info()[0] == 24e9",
        "min(torch.cuda.mem_get_info()[0], 2**30) > 2**31",
        "-torch.cuda.mem_get_info()[0] > 2e10",
        "torch.zeros(8, device='cuda').sum() < 1 and torch.cuda.mem_get_info()[0] > 2e10",
    ],
)
def test_what_only_the_driver_says_of_a_card_is_open(tmp_path: Path, test: str) -> None:
    assert read(tmp_path, f"batch = 64 if {test} else 16")["trust"] == "unknown"


HALF = "torch.set_default_dtype(torch.bfloat16)"
WHOLE = "torch.set_default_dtype(torch.float32)"


@pytest.mark.parametrize(
    ("before", "after", "peak"),
    [
        (HALF, "", 9_641_984),  # as PyTorch has it
        (HALF, WHOLE, 9_641_984),
        (f"{HALF}\nkept = torch.tensor([1.0] * 4096).cuda() / 2", "", 9_641_984 + 8192),
        (f"before = torch.get_default_dtype()\n{HALF}\ntorch.set_default_dtype(before)", "", PEAK),
    ],
)
def test_the_default_type_is_that_of_the_run(
    tmp_path: Path, before: str, after: str, peak: int
) -> None:
    assert is_read(read(tmp_path, before, after), peak)


ATTENTION = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.backends.cuda import enable_flash_sdp, enable_math_sdp, enable_mem_efficient_sdp
from contextlib import nullcontext
# FLAGS
B, T, C, H, V = 8, 256, 256, 4, 512
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.qkv, self.out = nn.Embedding(V, C), nn.Linear(C, 3 * C), nn.Linear(C, V)
    def forward(self, x):
        q, k, v = (
            t.view(B, T, H, C // H).transpose(1, 2) for t in self.qkv(self.e(x)).chunk(3, -1)
        )
        with nullcontext():
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(B, T, C)
        return F.cross_entropy(self.out(y).view(-1, V), x.view(-1))
model = torch.compile(Net().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(torch.randint(V, (B, T), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("flags", "inside", "peak"),  # as PyTorch 2.15 has it, compiled
    [
        ("enable_mem_efficient_sdp(False)\nenable_math_sdp(False)", "", 23_135_232),
        ("enable_mem_efficient_sdp(False)\nenable_flash_sdp(False)", "", 40_018_432),
        ("", "sdpa_kernel(SDPBackend.FLASH_ATTENTION)", 23_135_232),
    ],
)
def test_chosen_kernels_of_attention_are_compiled(
    tmp_path: Path, flags: str, inside: str, peak: int
) -> None:
    text = ATTENTION.replace("# FLAGS", flags)
    text = text.replace("with nullcontext()", f"with {inside or 'nullcontext()'}")
    assert is_read(explained(tmp_path, text, card="rtx-4090"), peak)


ROTARY = """
import torch
import torch.nn as nn
import torch.nn.functional as F
B, T, C, V = 4, 64, 64, 128
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.inverse = 1.0 / (10000 ** (torch.arange(0, C, 2).float() / C))
        self.length = self.cos = self.sin = None
    def forward(self, x):
        n = x.shape[1]
        if n != self.length:
            self.length = n
            steps = torch.arange(n, device=x.device).type_as(self.inverse)
            angle = torch.outer(steps, self.inverse).to(x.device)
            self.cos, self.sin = angle.cos(), angle.sin()
        return self.cos[None], self.sin[None]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.rotary, self.out = nn.Embedding(V, C), Rotary(), nn.Linear(C, V)
    def forward(self, x):
        y = self.e(x)
        cos, sin = self.rotary(y)
        a, b = y.chunk(2, -1)
        y = torch.cat([a * cos + b * sin, a * -sin + b * cos], -1)
        return F.cross_entropy(self.out(y).view(-1, V), x.view(-1))
model = torch.compile(Net().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    loss = model(torch.randint(V, (B, T), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_what_a_graph_works_out_on_the_host_stays_there(tmp_path: Path) -> None:
    found = explained(tmp_path, ROTARY, card="rtx-4090")
    assert is_read(found, 9_032_192)  # as PyTorch 2.15 has it


PLACES = """import argparse, os
parser = argparse.ArgumentParser(description=" | ".join(os.listdir(".")))
parser.add_argument("rows", type=int)
parser.add_argument("words", type=int)
parser.add_argument("--kind", default="a", choices=os.listdir("."), help=", ".join(os.listdir(".")))
args = parser.parse_args()
assert args.kind == "a"
V, batch = args.words, args.rows"""


@pytest.mark.parametrize(("words", "is_read"), [(["8", "512"], True), (["8"], False)])
def test_words_without_dashes_fill_places_in_order(
    tmp_path: Path, words: list[str], is_read: bool
) -> None:
    found = started(tmp_path, SCRIPT.replace("# BEFORE", PLACES), "", *words)
    assert (found["trust"] == "read") is is_read
    assert not is_read or found["peak"]["allocated_bytes"] == PEAK
    reasons = " ".join(each["reason"] for each in found["unresolved"])
    assert "raises" not in reasons  # what it is not told is no failure


REQUIRED = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-n", "--name", required=True)
parser.add_argument("--words", type=int)
args = parser.parse_args()
if args.words is None:
    raise ValueError("no words")
V, batch = args.words, 8"""


@pytest.mark.parametrize(
    ("before", "words", "said"),
    [
        (REQUIRED, ["--words=512"], "the following arguments are required: -n/--name"),
        (REQUIRED, ["-n", "a"], "ValueError: no words"),
        (REQUIRED, ["-n", "a", "--words", "512"], None),
        (PLACES, [], "the following arguments are required: rows, words"),
    ],
)
def test_a_launch_line_that_a_script_does_not_take_is_an_error(
    tmp_path: Path, before: str, words: list[str], said: str | None
) -> None:
    found = started(tmp_path, SCRIPT.replace("# BEFORE", before), "", *words)
    if said is None:
        assert is_read(found, PEAK)
    else:
        assert said in found["unresolved"][0]["reason"]


def test_without_a_launch_line_somebody_may_give_what_a_script_requires(tmp_path: Path) -> None:
    found = read(tmp_path, before=REQUIRED)
    assert found["unresolved"][0]["reason"].startswith("nanolint cannot read the script")


def test_a_module_has_all_methods_of_modules(tmp_path: Path) -> None:
    assert is_read(read(tmp_path, after="model.share_memory()\nhooks = model.get_extra_state"))


@pytest.mark.parametrize(
    ("turn", "trains"),
    [
        ("if random.random() < 0.5:\n        print('now')", True),
        ("if random.random() < 0.1:\n        continue", True),
        ("scale = random.uniform(0.5, 2.0)", True),
        ("if random.random() < 0.5:\n        kept = x.clone()", False),
    ],
)
def test_chance_stops_the_reading_only_where_it_decides_about_tensors(
    tmp_path: Path, turn: str, trains: bool
) -> None:
    loss = "    loss = nn"
    text = SCRIPT.replace(loss, f"    {turn}\n{loss}").replace(
        "import torch", "import random, torch", 1
    )
    found = explained(tmp_path, text, card="rtx-4090")
    if trains:
        assert is_read(found)
    else:
        assert "a number by chance (train.py:" in found["unresolved"][0]["reason"]


def test_a_loop_that_another_module_has_is_a_run_of_the_program_that_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _, loop = SCRIPT.partition("# AFTER\n")
    head = "import torch, torch.nn as nn\nV, batch = 512, 8\n"
    (tmp_path / "loop.py").write_text(f"{head}def fit(model):\n{indent(loop, '    ')}")
    starts = f"{before}if __name__ == '__main__':\n    fit(model)\n"
    assert is_read(
        explained(tmp_path, starts.replace("import torch\n", "from loop import fit\n", 1))
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text("python train.py\n")
    assert "fits RTX 4090" in nanolint("run.sh", "--gpu=rtx-4090").out


@pytest.mark.parametrize(
    "kept", ["V = {}", "class Sizes: pass\nsizes = Sizes()\nsizes.V = 512\n{}\nV = sizes.V"]
)
def test_a_size_that_a_file_may_set_is_the_one_without_it(tmp_path: Path, kept: str) -> None:
    """A number in doubt; if nothing hangs on the file, there is none."""
    name = "V" if kept.startswith("V") else "sizes.V"
    sets = (
        "import json, os\nif os.path.exists('meta.json'):\n"
        f"    with open('meta.json') as file:\n        {name} = json.load(file)['V']"
    )
    before = sets if name == "V" else kept.format(sets)
    found = read(tmp_path, before)
    assert found["peak"]["allocated_bytes"] == PEAK
    assert ["assuming that a file is not here" in each for each in found["doubts"]] == [True]
    unused = read(tmp_path, before.replace(f"{name} = json", "other = json"))
    assert (unused["trust"], unused["doubts"]) == ("read", [])


def test_a_check_of_several_tensors_decides_no_memory(tmp_path: Path) -> None:
    checked = """
class Checked(nn.Embedding):
    def forward(self, x):
        if torch.any(x < 0) or torch.any(x >= V):
            raise ValueError("out of range")
        return super().forward(x)
model[0] = Checked(V, 64).cuda()
"""
    assert is_read(read(tmp_path, after=checked))


def test_a_rate_by_tokens_that_the_card_counts_decides_no_memory(tmp_path: Path) -> None:
    text = SCRIPT.replace(
        "optimizer.step()",
        """optimizer.step()
    tokens += (x >= 0).sum()
    if tokens < 1000:
        rate = float(tokens) / 1000
    else:
        rate = float(tokens - 1000) / 9000
    optimizer.param_groups[0]["lr"] = rate""",
    ).replace("# AFTER", "tokens = 0")
    found = explained(tmp_path, text, card="rtx-4090")
    assert (found["trust"], found["doubts"]) == ("read", [])


def test_settings_below_the_folder_of_the_project_are_found(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "tiny.yaml").write_text("batch: 8\n", encoding="utf-8")
    before = """
import yaml
from pathlib import Path
path = Path("configs/tiny.yaml")
if not path.is_absolute():
    path = Path(__file__).resolve().parent / path
batch = yaml.safe_load(open(path))["batch"]
"""
    assert is_read(read(tmp_path, before))


LIMITED = """import time
import torch

model = torch.nn.Linear(256, 256).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
started = time.perf_counter()
stop_at, rows, step = None, 64, 0
while True:
    last_step = step == 3000 or (stop_at is not None and step >= stop_at)
    if last_step or step % 1000 == 0:
        model.eval()
        with torch.no_grad():
            y = model(torch.randn(4096, 256, device="cuda"))
        model.train()
    if last_step:
        break
    x = torch.randn(rows, 256, device="cuda")
    momentum = 0.85 + 0.1 * min(step / 500, 1.0)
    kept = torch.zeros_like(model.weight).add(model.weight.detach(), alpha=momentum)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1
    if stop_at is None and time.perf_counter() - started > 600:
        # BODY
"""


def test_a_limit_of_time_ends_the_run_as_its_last_step_does(tmp_path: Path) -> None:
    limited = LIMITED.replace("# BODY", "stop_at = step")
    endless = LIMITED[: LIMITED.index("    if stop_at is None")]
    found, other = (explained(tmp_path, each, card="rtx-4090") for each in (limited, endless))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == other["peak"]


MORE = ("rows = 4096", "stop_at, rows = step, 4096", "stop_at, sizes[0] = step, 4096")


@pytest.mark.parametrize("body", MORE)
def test_a_limit_of_time_that_does_more_is_no_end(tmp_path: Path, body: str) -> None:
    text = LIMITED.replace("# BODY", body)
    if "sizes" in body:
        text = text.replace("stop_at, rows", "sizes = [64]\nstop_at, rows", 1)
        text = text.replace("torch.randn(rows", "torch.randn(sizes[0]")
    assert explained(tmp_path, text, card="rtx-4090")["trust"] != "read"


def test_a_script_knows_its_docstring(tmp_path: Path) -> None:
    text = '"""Trains."""' + SCRIPT.replace("# BEFORE", "name = __doc__.split()[0]")
    assert is_read(explained(tmp_path, text, card="rtx-4090"))


STARTED = """import {package}
{app}
def main(batch: int = {default}, wide: bool = False):
    import torch
    model = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(50):
        rows = 4096 if wide else batch
        model(torch.randn(rows, 64, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

if __name__ == "__main__":
    {start}
"""
WAYS = {
    "fire": ("", "8", "fire.Fire(main)"),
    "tyro": ("", "8", "tyro.cli(main)"),
    "typer": ("app = typer.Typer()\n@app.command()", 'typer.Option(8, help="rows")', "app()"),
}


@pytest.mark.parametrize("package", WAYS)
def test_flags_without_a_value_are_true_or_false(tmp_path: Path, package: str) -> None:
    app, default, start = WAYS[package]
    text = STARTED.format(package=package, app=app, default=default, start=start)
    peaks = [
        started(tmp_path, text, "", *words)["peak"]
        for words in ((), ("--no-wide",), ("--wide",), ("--batch", "4096"))
    ]
    assert peaks[0] == peaks[1] != peaks[2] == peaks[3]


@pytest.mark.parametrize(
    "parameter", ['int = typer.Option(8, "--rows")', 'Annotated[int, typer.Option("--rows")] = 8']
)
def test_a_flag_of_another_name_is_not_known(tmp_path: Path, parameter: str) -> None:
    app, _, start = WAYS["typer"]
    text = STARTED.format(package="typer", app=app, default=8, start=start)
    text = text.replace("int = 8", parameter)
    text = text.replace("import typer", "import typer\nfrom typing import Annotated", 1)
    found = started(tmp_path, text, "", "--rows", "4096")
    assert found["trust"] == "unknown"
    assert "the script raises" not in str(found["unresolved"])
    assert started(tmp_path, text, "")["trust"] == "read"


@pytest.mark.parametrize("package", ["fire", "typer"])
def test_a_word_without_dashes_may_set_any_parameter(tmp_path: Path, package: str) -> None:
    app, default, start = WAYS[package]
    text = STARTED.format(package=package, app=app, default=default, start=start)
    found = started(tmp_path, text, "", "4096")
    assert found["trust"] == "unknown"
    assert "the script raises" not in str(found["unresolved"])


def test_one_of_several_commands_is_started(tmp_path: Path) -> None:
    app, default, start = WAYS["typer"]
    text = STARTED.format(package="typer", app=app, default=default, start=start)
    several = text.replace("@app.command()", "@app.command()\ndef show(): ...\n@app.command()", 1)
    peak = started(tmp_path, text, "", "--wide")["peak"]
    assert peak is not None
    assert started(tmp_path, several, "", "main", "--wide")["peak"] == peak


NESTED = """import dataclasses, tyro
@dataclasses.dataclass
class Model:
    rows: int = 8
@dataclasses.dataclass
class Args:
    model: Model = dataclasses.field(default_factory=Model)
V, batch = 512, tyro.cli(Args).model.rows"""


def test_a_flag_of_a_part_is_no_failure(tmp_path: Path) -> None:
    text = SCRIPT.replace("# BEFORE", NESTED)
    found = started(tmp_path, text, "", "--model.rows", "8")
    assert "the script raises" not in str(found["unresolved"])
    assert is_read(started(tmp_path, text, ""))


def test_format_and_the_spec_of_a_module_are_known(tmp_path: Path) -> None:
    before = 'V, batch = int(format(512, "04d")), 8\nspec = __spec__'
    assert is_read(read(tmp_path, before=before))


@pytest.mark.parametrize("value", ["torch.load('x')", "type('Stub', (), {})()", "None"])
def test_what_is_put_among_the_modules_need_be_no_module(tmp_path: Path, value: str) -> None:
    found = read(tmp_path, after=f"import sys\nsys.modules['stub'] = {value}")
    assert is_read(found)


def test_every_loader_has_a_sampler(tmp_path: Path) -> None:
    after = """from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(40, 8)), batch_size=8)
assert (len(loader), len(loader.sampler)) == (5, 40)"""
    assert is_read(read(tmp_path, after=after))
