"""Ways out that a script's text has to say: they take what the script takes that says it.

These take seconds each.
"""

from __future__ import annotations

from nanolint.recording.recording import allocated_bytes, record
from tests.unit.verdict.test_ways_by_text import (
    CALLED,
    CARD,
    CHECKPOINTED,
    HEAD,
    IN_CHUNKS,
    MODEL,
    TRAIN,
    program,
    run_of,
    typed,
    ways,
)


def test_each_takes_what_the_script_takes_that_says_it() -> None:
    deleted = typed(TRAIN, *((each, f"{each}; del logits") for each in CALLED))
    checkpointed = typed(MODEL, ("layer(x)\n", f"{CHECKPOINTED}\n"))
    chunked = typed(MODEL, (HEAD, IN_CHUNKS))
    found = ways(program())
    for way, script in {
        "del logits in train.py": program(deleted),
        "blocks in torch.utils.checkpoint": program(model=checkpointed),
        "F.linear_cross_entropy (model.py)": program(model=chunked),
    }.items():
        tried = found[way].verdict.run
        assert record(tried, CARD.gpu).events == record(run_of(script, tried.batch_size)).events
        expected = allocated_bytes(run_of(script, tried.batch_size), CARD.gpu)
        before = allocated_bytes(run_of(program(), tried.batch_size), CARD.gpu)
        assert allocated_bytes(tried, CARD.gpu) == expected < before
