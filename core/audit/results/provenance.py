"""Provenance of results: versions, platform, seeds."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any

from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import RESULTS_VERSION
from core.audit.store.ledger import describe_totals
from core.privacy.ledger import NOT_COVERED, Total

PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "networkx",
    "torch",
    "torch-geometric",
    "scikit-learn",
    "numba",
    "opendp",
    "dp-accounting",
    "distributed",
)


def describe_run(spec: AuditSpec) -> dict[str, Any]:
    """Graph hash, seeds, and versions of results and packages, without importing them."""
    return {
        "graph_hash": spec.graph_hash,
        "root_seed": spec.root_seed,
        "num_repeats": spec.num_repeats,
        "results_version": RESULTS_VERSION,
        **describe_packages(),
    }


def describe_draw(made: str, totals: tuple[Total, ...]) -> dict[str, Any]:
    """Time and versions of a publishing run, and the budget spent by all runs of the graph."""
    return {
        "made": made,
        "published_so_far": {"totals": describe_totals(totals), "note": NOT_COVERED},
        "randomness": "operating-system entropy, not recorded",
        **describe_packages(),
    }


def describe_packages() -> dict[str, Any]:
    """Versions of Python, the platform and the packages that affect results."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: _find_version(name) for name in PACKAGES},
    }


def _find_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
