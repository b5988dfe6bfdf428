"""MUSAE folders: edges CSV, features as JSON {node: [word ids]}, targets CSV."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from core.data.assembly import RawGraph, join_node_table
from core.data.columns import guess_id_column
from core.data.node_table import load_node_table
from core.data.text_input import MAX_FEATURES, load_json
from core.errors import FormatError, InputError


def join_musae(
    raw: RawGraph,
    features_path: str | Path | None,
    target_path: str | Path | None,
    id_column: str | None = None,
) -> RawGraph:
    """Add the targets' columns and the words; nodes are the targets' rows, else the features'."""
    words = None if features_path is None else load_word_lists(features_path)
    if target_path is not None:
        table = load_node_table(target_path)
        column = id_column or guess_id_column(table)
        file = Path(target_path).name
        if column is None or column not in table:
            raise InputError(
                f"file '{file}'",
                "must have an id column with distinct values",
                column,
                "columns are: " + ", ".join(table.columns[:20]),
            )
        raw = join_node_table(raw, table, column, file)
    elif words is not None:
        extra = sorted(set(words) - set(raw.node_ids), key=lambda i: (len(i), i))
        raw = replace(raw, node_ids=raw.node_ids + tuple(extra))
    if words is not None:
        features, names = _word_matrix(words, raw.node_ids, Path(str(features_path)).name)
        raw = replace(raw, features=features, feature_names=names, format="MUSAE")
    return raw


def load_word_lists(path: str | Path) -> dict[str, list[int]]:
    """{node id: word ids} of a JSON file, checked."""
    remedy = 'write {"node id": [word ids, …], …}'
    content = load_json(path, remedy)
    path = Path(path)
    if not isinstance(content, dict) or not content:
        raise FormatError(f"file '{path.name}'", "must be an object of lists", remedy=remedy)
    for node, words in content.items():
        if not isinstance(words, list) or not all(
            type(word) is int and 0 <= word < MAX_FEATURES for word in words
        ):
            raise FormatError(
                f"file '{path.name}'",
                f"must hold lists of word ids (whole numbers from 0, below {MAX_FEATURES:,})",
                f"node '{node}'",
                remedy,
            )
    return content


def _word_matrix(
    words: dict[str, list[int]], node_ids: tuple[str, ...], file: str
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    unknown = set(words) - set(node_ids)
    if unknown:
        raise InputError(
            f"file '{file}'",
            "must name nodes of the graph only",
            f"{len(unknown)} others, such as '{min(unknown)}'",
            "check that the files belong together",
        )
    lists = [sorted(set(words.get(node, ()))) for node in node_ids]
    counts = np.array([len(row) for row in lists])
    columns = np.fromiter((w for row in lists for w in row), np.int64, int(counts.sum()))
    num_words = int(columns.max(initial=-1)) + 1
    indptr = np.concatenate([[0], np.cumsum(counts)])
    values = np.ones(len(columns), np.float32)
    matrix = sparse.csr_array((values, columns, indptr), shape=(len(node_ids), num_words))
    return matrix, tuple(f"word_{i}" for i in range(num_words))
