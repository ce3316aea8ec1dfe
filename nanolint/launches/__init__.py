"""Launch lines, and the scripts that hold them: which runs they start. Nothing is executed."""
