"""Computation on the cluster: cells of audits and other kinds of jobs."""
