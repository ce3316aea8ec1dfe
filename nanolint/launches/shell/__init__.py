"""A shell's language, followed without running it: tokens, tree, words, worlds."""
