"""The cards: a catalogue, loose look-up by name or size, and the local card through NVML."""
