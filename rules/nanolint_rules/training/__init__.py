"""Rules about runs that train otherwise than they are meant to: facts of the replayed loop."""
