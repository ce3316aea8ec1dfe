"""The language server: one file per feature, thin adapters over the engine."""
