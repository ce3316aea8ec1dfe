"""nanolint: a linter and fixer for nanoGPT-style training configs."""

from __future__ import annotations

__version__ = "0.1.0"
