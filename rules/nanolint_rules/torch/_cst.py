"""libcst, imported when a rule first looks at code: most configs give none an occasion to."""

from __future__ import annotations


def __getattr__(name: str) -> object:
    if name.startswith("__"):  # the import system asks for some
        raise AttributeError(name)
    import libcst.metadata  # which is an attribute of libcst from then on

    found = globals()[name] = getattr(libcst, name)
    return found
