"""Rules about what the target GPU or device can do."""
