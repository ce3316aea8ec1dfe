"""NL317: the folder that the run reads its data from is not there."""

from __future__ import annotations

from difflib import get_close_matches

from nanolint.rule import Context, Finding, Findings, Need, Severity, datasets, has_dataset, rule


@rule("NL317", "missing-dataset", Severity.INFO, needs=[Need.CONFIG, Need.TRAIN_SCRIPT])
def missing_dataset(context: Context) -> Findings:
    """dataset names a folder that data/ does not have."""
    root, dataset = context.project.root, context.value("dataset")
    if root is None or not isinstance(dataset, str) or not dataset or "\0" in dataset:
        return
    if context.assignment("dataset") is None or dataset.startswith(("/", "~", "..")):
        return  # inherited, or on another disk, perhaps of another machine
    present = datasets(root)
    if not present or has_dataset(root, dataset):
        return  # without a data folder the data lie elsewhere
    near = get_close_matches(dataset, present, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, present))}"
    yield Finding(
        message=f"data/{dataset} does not exist; {hint}",
        span=context.span("dataset"),
    )
