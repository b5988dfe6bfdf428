"""Graphs whose links are never in one process: partitions in Parquet files, and jobs on each."""
