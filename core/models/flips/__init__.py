"""Effect of flipped links on graph networks, fast enough for thousands of candidates."""
