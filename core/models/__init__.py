"""Encoders, embeddings and the training loop; imports torch."""
