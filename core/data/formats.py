"""Formats of graph files by their suffixes."""

from __future__ import annotations

FORMATS = {
    "text": (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".cites", ".tab", ""),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".feather"),
    "graphml": (".graphml",),
    "gexf": (".gexf",),
    "gml": (".gml",),
    "json": (".json",),
    "pajek": (".net", ".paj"),
    "mtx": (".mtx",),
    "sif": (".sif",),
    "dl": (".dl",),
    "npz": (".npz",),
    "pt": (".pt", ".pth"),
    "tables": (".xlsx", ".xlsm", ".zip"),
}
"""Format → suffixes; text formats also with .gz."""

SUFFIXES = (*(suffix[1:] for known in FORMATS.values() for suffix in known if suffix), "gz")
"""All supported suffixes, without the dot."""
