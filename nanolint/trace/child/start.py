"""The file that the user's interpreter is started with: finds this folder as a package, runs it."""

import importlib.util
import sys
from pathlib import Path

NAME = "nanolint_trace_child"
FOLDER = Path(__file__).parent

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location(
        NAME, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    importlib.import_module(f"{NAME}.main").main(sys.argv[1])
