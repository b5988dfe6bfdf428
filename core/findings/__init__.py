"""Sentences, tables and labels derived from results; pure functions, no drawing."""
