"""Loops are compiled once: on a new machine, of a quick look's seconds most are compilation."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numba
from scipy import sparse

from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from tests.oracles.graphs import two_communities

LOOPS = {
    "core.algorithms.kernels": {
        *("count_directed_triangles", "find_pair_distances"),
        *("search_breadth_first", "sum_common_neighbors"),
    },
    "core.algorithms.path_sums": {"_sum_paths"},
    "core.algorithms.row_dots": {"_dot_rows"},
    "core.models.pair_matrix": {"_dot_kernel", "_scatter_kernel"},
    "core.models.propagation": {"_multiply_rows"},
}
"""What a quick look at hidden links compiles, a tenth to a third of a second each."""


def audit_quickly(home: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """In a process of its own: types of the loops loaded before workers are forked, and all types
    of those that a quick look calls."""
    from core.audit.asked.spec import AuditSpec
    from core.audit.jobs import preload
    from tests.inline import run_inline

    loaded = list_types()
    graph = two_communities()
    graph = graph.update_columns(features=sparse.csr_array(graph.features > 0, dtype=float))
    attacks = choose_attacks(Asked(links=True), [PRESETS[0].key])
    fields = {"graph_hash": graph.content_hash, "hide_links": 0.1, "num_repeats": 1}
    view = run_inline(AuditSpec.check_spec({**fields, "attacks": attacks}), graph, home)
    assert set(view.cells.state) == {"done"}, view.cells
    assert set(loaded) == set(preload.LOOPS)
    return loaded, list_types()


def list_types() -> dict[str, list[str]]:
    """Types for which each loop of the core was compiled, or loaded from the cache."""
    import sys

    found = {}
    for module in [name for name in sys.modules if name.startswith("core.")]:
        for loop in vars(sys.modules[module]).values():
            if isinstance(loop, numba.core.dispatcher.Dispatcher) and loop.signatures:
                name = f"{loop.py_func.__module__}.{loop.py_func.__name__}"
                found[name] = [str(types) for types in loop.signatures]
    return found


def test_a_quick_look_compiles_few_loops_each_for_one_kind_of_arrays(tmp_path):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        loaded, called = pool.submit(audit_quickly, str(tmp_path)).result()
    assert set(called) == {f"{module}.{name}" for module, names in LOOPS.items() for name in names}
    assert {name: types for name, types in called.items() if len(types) > 1} == {}
    assert loaded.items() <= called.items()
