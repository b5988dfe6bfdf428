"""Effect of link flips on graph neural networks, fast enough for thousands of flips."""
