"""The Python that models are written in, read; and what is not known, with its line."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_peak
from nanolint.run.program import SourceText
from validation.read_models import MODELS, Case
from validation.record_read import TORCH

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

HEAD = """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
"""
# A model that is one table, with whatever a test puts between its embeddings and its loss.
MODEL = """\
class Model(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.table = nn.Embedding(vocab_size, 32)
{init}
    def forward(self, idx, targets):
        x = self.table(idx)
{forward}
        logits = x @ self.table.weight.t()
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
"""


def text_of(forward: str = "", init: str = "", above: str = "") -> str:
    model = MODEL.format(init=_indented(init), forward=_indented(forward))
    return HEAD + dedent(above) + model


def _indented(text: str) -> str:
    lines = dedent(text).strip().splitlines() or ["pass"]
    return "\n".join(f"        {line}" for line in lines)


def read(text: str, **others: str) -> Tape:
    sources = [SourceText("model", "model.py", text)]
    sources += [SourceText(name, f"{name}.py", dedent(each)) for name, each in others.items()]
    built = {"vocab_size": 64}
    return Case(tuple(sources), MODELS, "Model", None, built, 2, 8, 64, "float32").read(None, TORCH)


def unread(text: str, **others: str) -> str:
    with pytest.raises(Unread) as caught:
        read(text, **others)
    return str(caught.value)


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.mark.parametrize(
    ("forward", "same"),
    [
        ("x = [x * k for k in (2,)][0]", "x = x * 2"),
        ("x = (lambda y, k=2: y * k)(x)", "x = x * 2"),
        ("x = (x if x.dim() == 3 else None) * 2", "x = x * 2"),
        ("for k in range(1, 3):\n    if k == 1: continue\n    x = x * k", "x = x * 2"),
        ("k = 1\nwhile k < 2:\n    k += 1\nx = x * k", "x = x * 2"),
        (
            "try:\n    raise KeyError('a')\nexcept (KeyError, ValueError):\n    x = x * 2",
            "x = x * 2",
        ),
        ("B, *_, C = x.shape\nassert C == 32, f'{C} columns'\nx = x * 2", "x = x * 2"),
        ("x = getattr(torch, 'mul')(x, 2)", "x = x * 2"),
        ("x = sum(p.numel() for p in self.parameters()) / 2048 * x", "x = 1.0 * x"),
        (
            "w = self.table.weight\nx = x.view(len({y.data_ptr() for y in (w, w, x)}), -1, 32)",
            "x = x.view(2, -1, 32)",
        ),
        ("x = x.view(*x.shape[:-1], 4, -1).flatten(2)", "x = x.view(2, 8, 4, 8).flatten(2)"),
        ("x = {'a': {'b': x}}['a'].pop('b') * 2", "x = x * 2"),
        ("assert isinstance(nn.ReLU6(), nn.Hardtanh)\nx = nn.GELU()(x)", "x = F.gelu(x)"),
        ("def twice(y):\n    return y * 2\nx = twice(x)", "x = x * 2"),
        ("if (n := x.size(-1)) > 3 and not self.training or n:\n    x = x * 2", "x = x * 2"),
    ],
)
def test_statements_mean_what_they_mean(forward: str, same: str) -> None:
    assert read(text_of(forward)).events == read(text_of(same)).events


def test_whatever_torch_nn_has_can_be_imported_at_once() -> None:
    above = "from torch.nn import *\nclass Twice(Module):\n    act = SiLU()\n"
    given = read(text_of("x = Sequential(Twice.act, Tanh())(x)", above=above))
    assert given.events == read(text_of("x = F.tanh(F.silu(x))")).events


def test_a_local_name_holds_its_tensor_until_it_is_bound_again() -> None:
    """Without a backward pass through it nothing but the name can."""
    held = read(text_of("y = x.detach() + 1\nz = y + 1\nx = x + z"))
    let_go = read(text_of("y = x.detach() + 1\ny = y + 1\nx = x + y"))
    assert len(held.sizes) == len(let_go.sizes)
    assert held.events != let_go.events


def test_arguments_die_with_the_function_that_took_them_over_but_not_with_a_modules() -> None:
    """Python hands its arguments over; a module's ``__call__`` keeps them in a tuple."""
    function = "def step(y):\n    y = y + 1\n    return y + 1\n"
    module = """
    class Step(nn.Module):
        def forward(self, y):
            y = y + 1
            return y + 1
    """
    by_function = read(text_of("x = x + step(x.detach() + 1)", above=function))
    by_module = read(text_of("x = x + self.s(x.detach() + 1)", "self.s = Step()", module))
    assert by_function.sizes == by_module.sizes
    assert by_function.events != by_module.events


def test_classes_properties_and_inheritance() -> None:
    above = """
    from dataclasses import dataclass, field
    from enum import Enum

    class Kind(Enum):
        ONE = "one"
        TWO = "two"

    @dataclass
    class Settings:
        width: int = 32
        kind: Kind = Kind.TWO
        factors: list = field(default_factory=lambda: [1, 2])

        @property
        def factor(self):
            return self.factors[-1] if self.kind is Kind.TWO else 1

    class Base(nn.Module):
        scale = 1

        def __init__(self, settings):
            super().__init__()
            self.settings = settings

        @staticmethod
        def times(x, k):
            return x * k

        @classmethod
        def make(cls, *args, **options):
            return cls(Settings(*args, **options))

        def forward(self, x):
            return self.times(x, self.scale * self.settings.factor)

    class Derived(Base):
        def forward(self, x):
            assert isinstance(self, Base) and issubclass(Derived, nn.Module)
            return super().forward(x)
    """
    assert read(text_of("x = self.d(x)", "self.d = Derived.make(width=8)", above)).events == (
        read(text_of("x = self.d(x)", "self.d = Derived.make()", above)).events
    )


def test_modules_of_the_project_are_imported() -> None:
    layers = """
    from torch import nn
    import torch.nn.functional as F
    WIDTH = 32

    class Twice(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH))
    """
    tape = read(
        text_of("x = self.t(x)", "self.t = Twice()", "from layers import *\n"), layers=layers
    )
    assert sum(name.startswith("parameter t.") for name in tape.names) == 4


def test_what_is_filled_may_be_named() -> None:
    made = "self.own = nn.Parameter(torch.empty(32, 32))"
    filled = [
        f"{made}\nnn.init.normal_({each}, std=0.02)" for each in ("self.own", "tensor=self.own")
    ]
    place, name = (read(text_of("x = x @ self.own", each)).events for each in filled)
    assert place == name


def test_what_is_not_known_is_named_with_its_line() -> None:
    text = text_of("x = torch.frobnicate(x)")
    line = line_of(text, "frobnicate")
    assert unread(text) == f"torch.frobnicate is not known (model.py:{line})"


def test_only_what_depends_on_the_unknown_is_unknown() -> None:
    above = "import flash_attn_3\nSEED = int(open('seed').read())\nprint(SEED)\n"
    assert read(text_of(above=above)).events == read(text_of()).events
    text = text_of("x = flash_attn_3.f(x)", above=above)
    assert unread(text) == "flash_attn_3 is not a module of the project (model.py:5)"


def test_whether_a_package_is_installed_is_not_known() -> None:
    above = "try:\n    import apex\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
    text = text_of("if HAS:\n    x = x * 2", above=above)
    assert unread(text) == "whether a package is installed (model.py:5)"


def test_a_branch_by_the_contents_of_a_tensor_is_not_known() -> None:
    text = text_of("if x.sum() > 0:\n    x = x * 2")
    line = line_of(text, "if x.sum")
    assert unread(text) == f"the contents of a tensor (model.py:{line})"


def test_an_assertion_that_fails_is_what_the_run_would_say() -> None:
    text = text_of("assert x.size(-1) == 31, f'{x.size(-1)} columns'")
    assert "raises AssertionError: 32 columns" in unread(text)


@pytest.mark.parametrize(
    "forward",
    [
        "open('/tmp/x', 'w')",
        "__import__('os').system('touch x')",
        "().__class__.__bases__[0].__subclasses__()",
        "print.__self__.open('x')",
        "''.__class__.__mro__",
        "(lambda: 0).__globals__",
        "eval('1')",
    ],
)
def test_a_program_reaches_nothing_outside_of_it(forward: str) -> None:
    """It is refused, or what it gives is not known: a run of it costs nothing either way."""
    try:
        read(text_of(f"y = {forward}\nx = x * y.z"))
    except Unread:
        return
    raise AssertionError("something was reached")


def test_a_tensor_that_a_module_keeps_lives_from_call_to_call() -> None:
    kept = read(text_of("self.last = x.detach() * 2", "self.last = None"))
    let_go = read(text_of("y = x.detach() * 2"))
    assert kept.sizes == let_go.sizes
    assert kept.events != let_go.events


def test_a_field_that_no_argument_sets_is_set_behind() -> None:
    above = """
    from dataclasses import dataclass, field

    @dataclass
    class Settings:
        width: int = 32
        factor: int = field(init=False)
        def __post_init__(self):
            self.factor = self.width // 16
    """
    assert read(text_of("x = x * Settings().factor", above=above)).events
    wrong = above.replace("(init=False)", "()").replace("width: int = 32", "width: int")
    assert "missing 1 required" in unread(text_of("x = x * Settings(32).factor", above=wrong))


def test_what_cannot_be_called_raises() -> None:
    message = unread(text_of("x = {'a': 1}('a')"))
    assert message.startswith("raises TypeError: 'dict' object is not callable")


def test_layers_of_einops_do_what_its_functions_do() -> None:
    above = "import einops\nfrom einops.layers.torch import Rearrange, Reduce\n"
    init = "self.apart = Rearrange('b t (h c) -> b h t c', h=4)\n"
    init += "self.several = Reduce('b t c -> (b s) t c', 'repeat', s=3)\n"
    init += "self.one = Reduce('(b s) t c -> b t c', 'sum', s=3)\n"
    passed = "x = self.one(self.several(x))\nx = self.apart(x) * 2\n"
    passed += "x = x.transpose(1, 2).flatten(2)"
    layers = read(text_of(passed, init, above))
    functions = "x = einops.repeat(x, 'b t c -> (b s) t c', s=3)\n"
    functions += "x = einops.reduce(x, '(b s) t c -> b t c', 'sum', s=3)\n"
    functions += "x = einops.rearrange(x, 'b t (h c) -> b h t c', h=4) * 2\n"
    functions += "x = x.transpose(1, 2).flatten(2)"
    assert sorted(layers.sizes) == sorted(read(text_of(functions, above=above)).sizes)


@pytest.mark.parametrize("name", ["a", "x", "h", "axis"])
def test_sizes_of_einops_go_by_any_name(name: str) -> None:
    above = "import einops\n"
    named = f"x = einops.rearrange(x, 'b t (c {name}) -> {name} b t c', {name}=4) * 2\n"
    named += f"x = einops.reduce(x, '{name} b t c -> b t c', reduction='sum', {name}=4)"
    named += "\nx = torch.cat([x] * 4, -1)"
    plain = "x = einops.rearrange(x, 'b t (c k) -> k b t c', k=4) * 2\n"
    plain += "x = einops.reduce(x, 'k b t c -> b t c', 'sum')\nx = torch.cat([x] * 4, -1)"
    assert read(text_of(named, above=above)).sizes == read(text_of(plain, above=above)).sizes


def test_a_buffer_is_registered_where_it_is_set() -> None:
    forward = "held = torch.zeros(len(self.state_dict()), 9, device=x.device)\n"
    forward += "more = torch.zeros(len(list(self.buffers())), 7, device=x.device)"
    set_on_it = "self.one, self.two = nn.Buffer(torch.ones(8), persistent=False), None\n"
    set_on_it += "self.two = nn.Buffer(torch.ones(8))\n"
    registered = "self.register_buffer('one', torch.ones(8), persistent=False)\n"
    registered += "self.register_buffer('two', torch.ones(8))\n"
    assert read(text_of(forward, set_on_it)).sizes == read(text_of(forward, registered)).sizes


def test_trees_are_taken_apart_and_put_together() -> None:
    above = "from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten\n"
    forward = "(one, rest), spec = tree_flatten((x, {'a': 2}))\n"
    forward += "x = tree_map(lambda each: each, tree_unflatten([one, rest], spec))\n"
    mapped = read(text_of(forward + "x = x[0] * x[1]['a']", above=above))
    assert mapped.sizes == read(text_of("x = x * 2")).sizes


def test_the_modules_of_torch_nn_are_torch_nns_own() -> None:
    above = "from torch.nn.modules import LayerNorm\n"
    other = read(text_of("x = self.norm(x)", "self.norm = LayerNorm(32)", above))
    assert other.events == read(text_of("x = self.norm(x)", "self.norm = nn.LayerNorm(32)")).events


def test_what_equal_turns_keep_is_left_out_up_to_a_mebibyte_of_a_whole_run() -> None:
    """The inner loop is left early, whatever calls it: each of its turns keeps 2 KiB."""
    loops = "for _ in list(range(20)):\n    for _ in {turns}:\n        x = x.tanh()"
    left = allocated_peak(read(text_of(loops.format(turns="range(60)"))))
    each = allocated_peak(read(text_of(loops.format(turns="list(range(60))"))))
    assert each - (1 << 20) <= left <= each
