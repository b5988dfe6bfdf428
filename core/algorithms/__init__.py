"""Graph algorithms on arrays: no torch, no randomness but what is passed in."""
