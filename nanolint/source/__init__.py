"""From bytes to evaluated assignments, without running anything."""
