"""What users and programs read: one file per format."""
