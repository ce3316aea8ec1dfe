"""The tape: what a run allocates and frees, in order, and the allocator that plays it."""
