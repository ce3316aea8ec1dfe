"""The output formats, by name: each with the module that writes it."""

NAMES = ("full", "concise", "json", "json-full", "sarif", "github", "gitlab", "junit")
FORMATS = {each: f"nanolint.report.{each.replace('-', '_')}" for each in NAMES}
FOR_PROGRAMS = frozenset(FORMATS) - {"full", "concise"}  # the report and nothing else
