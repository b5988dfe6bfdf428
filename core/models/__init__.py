"""Encoders, embeddings and the one training loop; torch is imported at the top here."""
