"""torch's operations: the memory that each allocates, saves for the backward pass, allocates
there."""
