"""The GPS attacker, and the sampler that defends against it."""
