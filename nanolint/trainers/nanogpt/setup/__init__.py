"""What a train.py passes to its model, its batch and its loop, followed without running it."""
