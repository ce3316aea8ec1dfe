"""Run the rules on a file, keep what no comment suppresses, and fix what can be fixed."""
