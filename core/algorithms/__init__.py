"""Graph algorithms on arrays, without torch; randomness only from given generators."""
