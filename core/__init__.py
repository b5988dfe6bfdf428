"""Compute core of the graph privacy audit; usable alone, never imports Streamlit."""

__version__ = "0.1.0"
