"""Scripts of nanoGPT's kind are read whole: what they do counts, not whether they look like it.

These take seconds each.
"""

from __future__ import annotations

from tests.stories.cli.test_scripts_of_nanogpts_kind import explained
from tests.support.project_tree import SETUP, train_script


def test_a_graph_that_is_split_at_buckets_is_a_doubt_only_where_that_may_decide() -> None:
    wraps = (
        "if 'RANK' in os.environ:\n    model = torch.nn.parallel.DistributedDataParallel(model)\n"
    )
    script = train_script(setup=SETUP + wraps)
    roomy = explained(script, gpu="2xa100-40gb")
    (told,) = roomy["left_open"]
    assert (roomy["trust"], roomy["doubts"]) == ("read", [])
    assert told.startswith("under DDP torch.compile splits the graph")
    full = roomy["peak"]["reserved_bytes"] + roomy["peak"]["context_bytes"]
    tight = explained(script, gpu=f"2x{full / 2**30 * 1.05:.4f}GiB")
    assert tight["trust"] == "doubted"
