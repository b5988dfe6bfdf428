"""The process that reads one file for `sandbox`: request on standard input, files as the answer.

answer.json   the report, or the error as [type, what, rule, value, remedy]
arrays.npz    the graph or table
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer the one request on standard input."""
    request = json.load(sys.stdin)
    set_limits(request["memory_mb"] << 20, request["seconds"])
    folder, path = Path(request["folder"]), Path(request["path"])
    try:
        answer = _VERBS[request["verb"]](path, folder, request["options"])
    except MemoryError:
        os._exit(1)  # nothing more can be said for sure; the caller says why
    except Exception as error:
        answer = {"error": _describe(error, path)}
    text = json.dumps(answer)
    (folder / "answer.json").write_text(text, encoding="utf-8")


def set_limits(memory: int, seconds: int) -> None:
    """Limit written memory, CPU time and file size, and disable core files.

    The address space is not limited, since libraries map far more than they use.
    """
    os.umask(0o077)
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 2 * memory),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit if kind != resource.RLIMIT_CPU else hard))


def _describe(error: Exception, path: Path) -> list[Any]:
    """An error as JSON; unexpected ones become a one-line FormatError."""
    from core.errors import FormatError, InputError, describe_unexpected

    if type(error).__name__ == "ArrowMemoryError" or "bad_alloc" in str(error):
        os._exit(1)
    if not isinstance(error, InputError):
        error = FormatError(
            f"file '{path.name}'",
            "must be readable in its format",
            describe_unexpected(error),
            "save it again with another program",
        )
    value = error.value
    shown = value if isinstance(value, str | int | float | None) else repr(value)
    return [type(error).__name__, error.what, error.rule, shown, error.remedy]


def _load_graph(path: Path, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    from core.data.link_counts import MANY_LINKS, count_links
    from core.data.packing import pack_graph
    from core.data.readers import load_graph

    loaded = load_graph(path, **options)
    if loaded.graph.num_edges >= MANY_LINKS:
        count_links(loaded.graph)  # packed with it
    _save(folder, pack_graph(loaded.graph))
    return {"report": asdict(loaded.report)}


def _load_preview(path: Path, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    from core.data.columns import as_text
    from core.data.packing import pack_texts
    from core.data.readers import read_preview

    table = read_preview(path, **options)
    arrays = {f"column_{i}": pack_texts(as_text(table.iloc[:, i])) for i in range(table.shape[1])}
    _save(folder, {"columns": pack_texts(map(str, table.columns)), **arrays})
    return {}


def _load_pairs(path: Path, folder: Path, _options: dict[str, Any]) -> dict[str, Any]:
    from core.data.edge_list import load_edge_list
    from core.data.link_text import load_link_text
    from core.data.packing import pack_texts

    # a header taken for a link names nodes that the graph lacks, which the caller refuses
    asked = {question.field for question in load_link_text(path).layout.questions}
    raw = load_edge_list(path, layout={"header": "no"} if "header" in asked else None)
    _save(folder, {"pairs": raw.pairs, "node_ids": pack_texts(raw.node_ids)})
    return {}


def _sniff_layout(path: Path, _folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    from core.data.readers import sniff_table

    layout = sniff_table(path, **options)
    return {"layout": None if layout is None else asdict(layout)}


def _save(folder: Path, arrays: dict[str, Any]) -> None:
    import numpy as np

    np.savez(folder / "arrays.npz", **arrays)


_VERBS: dict[str, Callable[[Path, Path, dict[str, Any]], dict[str, Any]]] = {
    "graph": _load_graph,
    "preview": _load_preview,
    "pairs": _load_pairs,
    "layout": _sniff_layout,
}

if __name__ == "__main__":
    main()
