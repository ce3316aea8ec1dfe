"""Code is recognised by what it allocates, not by how it looks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nanolint.run.settled import ManualAttention
from nanolint.trainers.nanogpt.recognition import pieces
from nanolint.trainers.nanogpt.recognition.fingerprint import (
    Piece,
    digest,
    import_aliases,
    local_names,
)
from nanolint.trainers.nanogpt.recognition.strangers import STATEMENTS
from tests.support.project_tree import EVALUATION, LOADER, LOOP, SETUP, train_script, write_project


def digest_of(source: str) -> str:
    tree = ast.parse(source)
    return digest(Piece(tree.body, local_names(tree.body)), import_aliases(tree))


PLAIN = """
import torch
from torch import nn
from torch.nn import functional as F
def forward(self, x, mask=None):
    y = F.relu(self.up(x))
    if mask is not None:
        y = y * mask
    return self.down(y)
"""


@pytest.mark.parametrize(
    "same",
    [
        PLAIN.replace("y", "hidden").replace("x", "given"),
        PLAIN.replace("F.relu", "torch.nn.functional.relu"),
        PLAIN.replace("F.relu", "nn.functional.relu"),
        PLAIN.replace("mask=None", "mask: torch.Tensor | None = None"),
        PLAIN.replace("    y = F", "    '''Docs.'''\n    # why\n    y: torch.Tensor = F"),
        PLAIN.replace("    return", "    print(f'{y.shape=}')\n    assert y.ndim == 3\n    return"),
        PLAIN.replace("    return", "    if self.debug:\n        logging.info(y)\n    return"),
        PLAIN.replace("    return", "    z: int\n    pass\n    return"),
    ],
)
def test_looks_make_no_difference(same: str) -> None:
    assert same != PLAIN
    assert digest_of(same) == digest_of(PLAIN)


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("relu", "gelu"),
        PLAIN.replace("self.up", "self.gate"),
        PLAIN.replace("y * mask", "y + mask"),
        PLAIN.replace("return self.down(y)", "return self.down(x)"),
        PLAIN.replace("def", "@torch.compile\ndef"),
        PLAIN.replace("mask=None", "mask=1"),
        PLAIN.replace("    return", "    self.kept = y\n    return"),
    ],
)
def test_meaning_does(other: str) -> None:
    assert digest_of(other) != digest_of(PLAIN)


def test_the_digest_is_the_same_on_every_python() -> None:
    assert digest_of(PLAIN) == "c415f55173878701"


def test_every_piece_has_known_versions() -> None:
    known = pieces.known_pieces()
    names = {f"{name}.{method}" for name, all_ in pieces.MODEL_METHODS.items() for method in all_}
    names |= {*pieces.TRAIN_FUNCTIONS, pieces.TRAINING_LOOP, STATEMENTS}
    assert known.keys() == names
    assert all(known.values())
    for versions in known.values():
        for trait in versions.values():
            assert not trait or ManualAttention(trait)


AFTER_MOVING = "model.to(device)\n"


@pytest.mark.parametrize(
    "statement",
    [
        "ballast = torch.empty(1 << 30, device=device)",
        "teacher = GPT(gptconf).cuda()",
        "torch.backends.cuda.enable_flash_sdp(False)",
        "torch.set_default_dtype(torch.bfloat16)",
        "torch.nn.functional.scaled_dot_product_attention = mine",
        "os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'max_split_size_mb:32'",
        "import patches",
        "twice = model.transformer.wte.weight * 2",
        "exec(open('patches.py').read())",
        "importlib.import_module('patches')",
        "getattr(torch, 'set_default_dtype')(torch.float64)",
        "for p in model.transformer.wte.parameters(): p.requires_grad = False",
        "for p in model.parameters(): p.register_hook(lambda g: g.clone())",
        "aux = model.transformer.wte.weight.softmax(-1)",
    ],
)
def test_what_stands_around_the_loop_may_take_memory_too(statement: str) -> None:
    setup = SETUP.replace(AFTER_MOVING, f"{AFTER_MOVING}{statement}\n")
    (found,) = strange(train_script(setup=setup))
    assert found.startswith("what nanoGPT's own train.py does not have: ")


@pytest.mark.parametrize(
    "statement",
    [
        "import math, wandb",
        "started = time.time(); notes = {'at': started, 'name': f'{dataset}-{block_size}'}",
        "os.makedirs('out', exist_ok=True)",
        "print(sum(p.numel() for p in model.parameters()))",
        "torch.backends.cudnn.benchmark = True",
        "tokens = np.zeros(10)",
        "note = 'one\\ntwo'.splitlines()",
    ],
)
def test_what_is_pythons_own_takes_none(statement: str) -> None:
    setup = SETUP.replace(AFTER_MOVING, f"{AFTER_MOVING}{statement}\n")
    assert strange(train_script(setup=setup)) == ()


CALL = "scores, error = model(inputs, labels)\n"
DIVISION = "            error = error / gradient_accumulation_steps\n"


def below(code: str, indent: int) -> str:
    """``code`` with the logits deleted below its call of the model, ``indent`` deep.

    Less deep than the call is below its ``with``.
    """
    last = CALL + DIVISION if indent == 8 else CALL
    return code.replace(last, f"{last}{' ' * indent}del scores\n")


def strange(script: str) -> tuple[str, ...]:
    found = pieces.recognise(ast.parse(script), Path("/nowhere/train.py"))
    return tuple(doubt.text for doubt in found.doubts)


PIECEMEAL = """
def get_batch(part):
    corpus = np.memmap(part + '.bin', dtype=np.uint8)
    starts = torch.randint(len(corpus) - block_size, (batch_size,))
    inputs = [torch.from_numpy(corpus[i:i+block_size].astype(np.int64)) for i in starts]
    inputs = torch.stack(inputs)
    labels = torch.stack([torch.from_numpy(corpus[i+1:i+1+block_size]).long() for i in starts])
    inputs = inputs.pin_memory().to(device, non_blocking=True)
    labels = labels.to(device)
    return inputs, labels
"""
LOGGED = LOOP.replace(
    "    scaler.step",
    "    lossf = error.item() * 3\n    wandb.log({'loss': lossf, 'lr': lr})\n    scaler.step",
)


@pytest.mark.parametrize(
    "script",
    [
        train_script(),
        train_script(loop=LOGGED),
        train_script(loop=LOOP.replace("range(max_iters)", "count()")),
        train_script(loop=LOOP.replace("if step % eval_interval == 0:", "if step and due(step):")),
        train_script(loop=LOOP.replace("scaler.scale(error).backward()", "error.backward()")),
        train_script(loop=LOOP.replace("scores", "_")),
        train_script(
            loop=LOOP
            + "    if best:\n        torch.save({'model': model.state_dict()}, 'ckpt.pt')\n"
        ),
        train_script(
            evaluation=EVALUATION.replace("estimate_loss()", "estimate_loss(parts=('val',))"),
            loop=LOOP.replace(
                "means = e", "print(iter)\n        estimate_loss()\n        means = e"
            ),
        ),
        train_script(loader=LOADER.replace("torch.tensor([", "torch.stack([")),
        train_script(loop=LOOP + "    seen.append(error.detach().cpu().numpy())\n"),
        train_script(evaluation=EVALUATION.replace("    means", "    model.eval()\n    means")),
        train_script(loop=LOOP + "    print(model.get_num_params())\n"),
        train_script(loop="def note(step):\n    print(step)\n" + LOOP + "    seen = note(step)\n"),
    ],
)
def test_logging_and_names_in_the_loop_are_not_strange(script: str) -> None:
    assert strange(script) == ()


@pytest.mark.parametrize(
    ("script", "piece"),
    [
        (train_script(loop=""), "train.py has no training loop"),
        (
            train_script(loop=LOOP + "    history.append(error)\n"),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(loop=LOOP + "    torch.cuda.empty_cache()\n"),
            "training loop is not nanoGPT's own: torch.cuda.empty_cache()",
        ),
        (
            train_script(loop=LOOP.replace("    optimizer.zero_grad(set_to_none=True)\n", "")),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(loop=LOOP.replace("        inputs, labels = get_batch('train')\n", "")),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(loop=LOOP + "    text = decode(model.generate(start)[0].tolist())\n"),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(loop=LOOP + "    print(float(model(inputs, labels)[1]))\n"),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(
                loop="def score():\n    return model.generate(0)\n" + LOOP + "    best = score()\n"
            ),
            "training loop is not nanoGPT's own",
        ),
        (
            train_script(loop=LOOP + "    ones = torch.ones(9, device=device)\n"),
            "training loop is not nanoGPT's own",
        ),
        (train_script(loader=""), "train.py has no get_batch"),
        (train_script(loader=PIECEMEAL), "get_batch is not nanoGPT's own"),
        (
            train_script(evaluation=EVALUATION.replace("@torch.no_grad()", "")),
            "estimate_loss is not nanoGPT's own",
        ),
        (
            train_script(setup=""),
            "not replayed: an optimizer that configure_optimizers does not make",
        ),
        (
            train_script(setup=SETUP + "average = copy.deepcopy(model)\n"),
            "not replayed: a second copy of the model",
        ),
        (
            train_script(setup=SETUP.replace("compile(model)", "compile(model, backend='eager')")),
            "not replayed: torch.compile(backend=...)",
        ),
    ],
)
def test_what_holds_other_tensors_is_strange(script: str, piece: str) -> None:
    assert strange(script) == (piece,)


def test_a_sum_of_thousands_of_terms_ends(tmp_path: Path) -> None:
    source = train_script(loop=LOOP + "    x = error" + " + error" * 600 + "\n")
    write_project(tmp_path, {"train.py": source})
    assert strange(source)


@pytest.mark.parametrize(
    ("loop", "evaluation", "deleting"),
    [
        (LOOP, EVALUATION, frozenset()),
        (below(LOOP, 12), EVALUATION, {"training loop"}),
        (below(LOOP, 8), EVALUATION, {"training loop"}),
        (LOOP, below(EVALUATION, 16), {"estimate_loss"}),
        (below(LOOP, 12), below(EVALUATION, 12), {"training loop", "estimate_loss"}),
    ],
    ids=["nowhere", "in the with", "below the with", "evaluation", "both"],
)
def test_deleting_the_logits_is_noted_and_not_strange(
    loop: str, evaluation: str, deleting: frozenset[str]
) -> None:
    script = ast.parse(train_script(loop=loop, evaluation=evaluation))
    found = pieces.recognise(script, Path("/nowhere/train.py"))
    assert (found.doubts, found.deletes_logits) == ((), deleting)


@pytest.mark.parametrize(
    "loop",
    [
        LOOP.replace("scaler.step(optimizer)", "del scores\n    scaler.step(optimizer)"),
        LOOP.replace(CALL, f"{CALL}            del inputs\n"),
        LOOP.replace(CALL, f"{CALL}            del scores, labels\n"),
    ],
    ids=["after the backward pass", "another tensor", "more than the logits"],
)
def test_deleting_anything_else_is_strange(loop: str) -> None:
    assert strange(train_script(loop=loop)) == ("training loop is not nanoGPT's own",)
