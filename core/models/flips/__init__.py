"""What flipping a link does to a graph network, fast enough to try thousands."""
