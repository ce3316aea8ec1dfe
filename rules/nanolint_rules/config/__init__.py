"""Rules about the settings themselves, whatever the GPU."""
