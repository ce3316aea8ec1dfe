"""Files: which to judge, reading them with bounds, replacing them whole or not at all."""
