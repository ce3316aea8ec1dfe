"""The output formats, by name: each with the module that writes it."""

FORMATS = {
    "full": "nanolint.report.full",
    "concise": "nanolint.report.concise",
    "json": "nanolint.report.json",
    "json-full": "nanolint.report.json_full",
    "sarif": "nanolint.report.sarif",
    "github": "nanolint.report.github",
    "gitlab": "nanolint.report.gitlab",
    "junit": "nanolint.report.junit",
}
FOR_PROGRAMS = frozenset(FORMATS) - {"full", "concise"}  # the report and nothing else
