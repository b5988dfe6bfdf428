"""Provenance of results: versions, platform, seeds."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import RESULTS_VERSION
from core.audit.store.ledger import describe_totals
from core.methods import Method
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
        **describe_versions(spec),
        **describe_packages(),
    }


def describe_versions(spec: AuditSpec) -> dict[str, Any]:
    """Versions on which the results rest: of all results, and of the chosen methods."""
    methods = [choice.make() for choice in (*spec.attacks, *spec.defenses)]
    return {"results_version": RESULTS_VERSION, "method_versions": _list_versions(methods)}


def is_outdated(spec: AuditSpec, provenance: Mapping[str, Any]) -> bool:
    """Whether results were computed by other versions than today's, as far as a record tells."""
    today = describe_versions(spec)
    known = provenance.get("method_versions", {})
    return provenance.get("results_version", RESULTS_VERSION) != RESULTS_VERSION or any(
        known.get(key, version) != version for key, version in today["method_versions"].items()
    )


def _list_versions(methods: Sequence[Method]) -> dict[str, int]:
    """Key → version of methods and those that they run."""
    found = {method.info.key: method.info.version for method in methods}
    for method in methods:
        found |= _list_versions(method.inner_methods)
    return dict(sorted(found.items()))


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
