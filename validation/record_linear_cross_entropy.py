"""Record what the loss without the logits allocates: recorded/linear_cross_entropy.json.

    python validation/record_linear_cross_entropy.py path/to/nanoGPT --python .venv-2.15/bin/python

nanoGPT's train.py with a model.py in which ``F.linear_cross_entropy`` (PyTorch 2.13 and newer)
takes the place of ``lm_head`` and ``F.cross_entropy``, in chunks. docs/advice.md shows the compiled
figures; tests/unit/verdict/test_linear_cross_entropy.py holds nanolint to the eager ones.
The options are those of record_compiled.py.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.oracle import SCRIPTS, Oracle, Row, figures, parser, record
from validation.record_compiled import CARD

TABLE = Path(__file__).parent / "recorded" / "linear_cross_entropy.json"
STEPS = 3
WITH_LOGITS = """\
            logits = self.lm_head(x)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), \
ignore_index=-1)
"""
WITHOUT = """\
            logits = None
            loss = F.linear_cross_entropy(
                x.view(-1, x.size(-1)), self.lm_head.weight, targets.view(-1), ignore_index=-1,
                options=torch.nn.LinearCrossEntropyOptions(),
            )
"""
SHARED = {"n_head": 12, "vocab_size": 50304, "dropout": 0.0, "bias": False, "attention": "flash"}


def rows() -> list[Row]:
    """The examples of docs/advice.md."""
    gpt2 = {"batch_size": 16, "block_size": 1024, "n_layer": 12, "n_embd": 768}
    small = {"batch_size": 16, "block_size": 512, "n_layer": 6, "n_embd": 384}
    examples: list[Row] = [
        {"name": "backward_pass", **SHARED, **gpt2, "dtype": "bfloat16", "grad_accum": 2},
        {"name": "fits", **SHARED, **small, "n_head": 6, "dtype": "float16", "grad_accum": 2},
    ]
    return [
        {**each, "name": f"{each['name']}{'' if compiled else ' eager'}", "compile": compiled}
        for compiled in (True, False)
        for each in examples
    ]


def main() -> int:
    """Trace and write, or compare."""
    given = parser(str(__doc__)).parse_args()
    with tempfile.TemporaryDirectory() as name:
        changed = Path(name)
        for script in SCRIPTS:
            shutil.copy(given.nanogpt / script, changed)
        text = (changed / "model.py").read_text()
        if WITH_LOGITS not in text:
            raise SystemExit("model.py computes its loss otherwise")
        (changed / "model.py").write_text(text.replace(WITH_LOGITS, WITHOUT))
        oracle = Oracle(changed, given.python, given.cache, CARD)

        def trace_row(config: Row) -> Row:
            found = oracle.run(config, compile=config["compile"], steps=STEPS)
            return {"torch": found.torch.partition("+")[0], **figures(found)}

        return record(TABLE, rows(), trace_row, only=given.rows, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
