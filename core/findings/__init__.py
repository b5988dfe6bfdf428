"""Results in words, tables and labels: pure functions, no drawing."""
