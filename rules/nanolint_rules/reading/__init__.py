"""Rules about reading the file: syntax, values, suppressions."""
