"""What each of torch's operations allocates, saves for the backward pass, and allocates there."""
