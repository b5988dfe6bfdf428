"""Damaged files of every format, made from valid ones and from the classes that once did harm.

    python -m tests.reliability.fuzz_files [--count 1000] [--seed 0] [--only NAME …] [--keep FOLDER]

After them, unless --only is given, come the files of tests/data that are named there: small ones
that ask for much memory, odd arrays and tensors, and things that are no graph. A file's damage
follows from seed, sample and number alone, so that one sample can be run again.

Files are read in forked processes, each under the limits of the app. A file fails if reading it
ends in an error that no rule foresaw, kills the process, takes over 2 GB or 60 CPU seconds, or
gives another graph without a word: formats with checksums must give the same graph or none; of
all others links, weights, nodes and values must be those that an independent reader finds in the
file (second_opinions.py), unless the report tells what was left out.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import io
import json
import math
import os
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from scipy.io import mmwrite

from core.data.loaded import LoadedGraph
from core.data.reader_process import set_limits
from core.data.readers import load_graph
from core.data.sandbox import CPU_SECONDS, MEMORY_MB
from core.data.writers import write_release
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import Release
from tests.reliability.second_opinions import (
    describe_difference,
    is_whole_zip,
    list_readings,
    read_ours,
    tells_more,
)

CHECKED = (".npz", ".pt", ".gz", ".xlsx", ".zip")
"""Formats that carry checksums of their own."""
PACKED = (".xlsx", ".zip")
"""Of these, files whose members are damaged before they are packed, half of the time."""
EXPECTED = ("loaded", "refused", "limit")
ODD = (b"nan", b"-1", b"99999999999", b"1e999", b"", b"\xff", b"\x00", b"[", b"<", b'"', b";", b"#")


@dataclass(frozen=True)
class Sample:
    """A valid file: the part that is damaged, and what is read beside it."""

    path: Path
    links: Path
    nodes: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """kind: loaded, refused, limit, or one of the failures: unforeseen, killed, changed, costly;
    text: of loaded, whether alike, told (another graph, as the report says) or alone (no second
    opinion)."""

    kind: str
    text: str
    seconds: float
    peak_mb: float


def make_samples(folder: Path) -> list[Sample]:
    """One small valid file of every format that the app reads."""
    import torch

    from tests.data.test_table_archives import write_book, write_rows

    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 30, (90, 2))
    graph = Graph.from_pairs(
        pairs,
        30,
        rng.random(90).round(2),
        node_ids=tuple(f"p{i}" for i in range(30)),
        attributes={"team": NodeColumn("team", rng.integers(0, 3, 30), ("red", "green", "blue"))},
        features=rng.integers(0, 2, (30, 4)).astype(np.float32),
    )
    write_release(Release(graph), folder, "w", {}, columns=["team", *graph.feature_names])
    links, nodes = folder / "w.csv", folder / "w.nodes.csv"
    plain = "".join(f"{a}{{0}}{b}\n" for a, b in pairs.tolist())
    for name, gap in (("l.csv", ","), ("l.tsv", "\t"), ("l.txt", "  "), ("s.csv", ";")):
        (folder / name).write_text(plain.format(gap))
    (folder / "p.csv.gz").write_bytes(gzip.compress(plain.format(",").encode(), mtime=0))
    other = nx.gnm_random_graph(20, 40, seed=1)
    nx.set_node_attributes(other, {i: "ab"[i % 2] for i in other}, "kind")
    nx.write_graphml(other, folder / "g.graphml")
    nx.write_gexf(other, folder / "g.gexf")
    nx.write_gml(other, folder / "g.gml")
    weighted = other.copy()
    for number, (_, _, data) in enumerate(weighted.edges(data=True)):
        data["weight"] = number / 4
    nx.write_graphml(weighted, folder / "v.graphml")
    nx.write_gexf(weighted, folder / "v.gexf")
    nx.write_gml(weighted, folder / "v.gml")
    nx.write_pajek(weighted, folder / "v.net")
    (folder / "v.json").write_text(json.dumps(nx.node_link_data(weighted, edges="links")))
    mmwrite(folder / "v.mtx", nx.to_scipy_sparse_array(weighted), symmetry="symmetric")
    rows = [(f"p{a}", f"p{b}", data["weight"]) for a, b, data in weighted.edges(data=True)]
    table = pd.DataFrame(rows, columns=["source", "target", "weight"])
    table.to_parquet(folder / "v.parquet")
    table.to_feather(folder / "v.feather")
    ends = np.array(other.edges)
    np.savez(folder / "e.npz", edges=ends, labels=np.arange(20) % 3)
    tensors = {"edge_index": torch.from_numpy(ends.T.copy()), "y": torch.arange(20) % 2}
    torch.save(tensors, folder / "t.pt")
    words = {str(i): rng.integers(0, 20, 3).tolist() for i in range(30)}
    (folder / "words.json").write_text(json.dumps(words))
    from core.data.node_table import load_node_table

    load_node_table(nodes).to_parquet(folder / "n.parquet")
    labels = [f"p{i}" for i in range(20)]
    matrix = nx.to_pandas_adjacency(other, dtype=int).set_axis(labels, axis=0)
    matrix.set_axis(labels, axis=1).to_csv(folder / "m.csv")
    (folder / "v.sif").write_text("".join(f"p{a}\tpp\tp{b}\n" for a, b in other.edges))
    weights = "".join(f"{a + 1} {b + 1} {d['weight']}\n" for a, b, d in weighted.edges(data=True))
    (folder / "v.dl").write_text(f"dl n=20 format=edgelist1\ndata:\n{weights}")
    places = {"nodes": [{"name": name} for name in labels]}
    places["links"] = [{"source": a, "target": b} for a, b in other.edges]
    (folder / "d.json").write_text(json.dumps(places))
    (folder / "b.txt").write_text("% bip unweighted\n" + plain.format(" "))
    with zipfile.ZipFile(folder / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for member in (links, nodes):
            archive.write(member, member.name)
    sheets = {name: write_rows(path.read_text()) for name, path in (("A", links), ("B", nodes))}
    write_book(folder / "t.xlsx", **sheets)
    own = ["m.csv", "v.sif", "v.dl", "d.json", "b.txt", "t.zip", "t.xlsx"]
    own += ["l.csv", "l.tsv", "l.txt", "s.csv", "p.csv.gz", "w.csv", "w.npz", "w.graphml"]
    own += [f"{name}.{kind}" for name in "gv" for kind in ("graphml", "gexf", "gml")]
    own += ["v.net", "v.json", "v.mtx", "v.parquet", "v.feather", "e.npz", "t.pt"]
    samples = [Sample(folder / name, folder / name) for name in own]
    samples += [Sample(nodes, links, nodes), Sample(folder / "n.parquet", links, nodes)]
    return [*samples, Sample(folder / "words.json", folder / "l.csv", folder / "words.json")]


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes: bits, bytes, slices, truncation, odd values in place of numbers."""
    for _ in range(int(rng.integers(1, 3))):
        if not content:
            break
        start = int(rng.integers(len(content)))
        stop = min(len(content), start + 1 + int(rng.exponential(20)))
        part, odd = content[start:stop], ODD[int(rng.integers(len(ODD)))]
        noise = rng.integers(0, 256, len(part), dtype=np.uint8).tobytes()
        flipped = bytes([content[start] ^ (1 << int(rng.integers(8)))])
        number = next(_find_numbers(content, start), (start, start))
        choices = [
            content[:start] + flipped + content[start + 1 :],
            content[:start] + noise + content[stop:],
            content[:start] + content[stop:],
            content[:start] + part * int(rng.integers(2, 40)) + content[stop:],
            content[:start],
            content[: number[0]] + odd + content[number[1] :],
            content[: number[0]] + b"%d" % rng.integers(30) + content[number[1] :],
            content[:start] + odd + content[start:],
            content[stop:] + content[:stop],
            _move_line(content, rng),
        ]
        content = choices[int(rng.integers(len(choices)))]
    return content


def damage_member(content: bytes, rng: np.random.Generator) -> bytes:
    """A zip of which one member is damaged and has the checksum of what it holds."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        names = old.namelist()
        chosen = names[int(rng.integers(len(names)))]
        for name in names:
            member = old.read(name)
            new.writestr(name, damage(member, rng) if name == chosen else member)
    return packed.getvalue()


def _move_line(content: bytes, rng: np.random.Generator) -> bytes:
    """A line is gone, there twice, or elsewhere."""
    lines = content.split(b"\n")
    line = lines.pop(int(rng.integers(len(lines))))
    for _ in range(int(rng.integers(3))):
        lines.insert(int(rng.integers(len(lines) + 1)), line)
    return b"\n".join(lines)


def _find_numbers(content: bytes, start: int) -> Iterator[tuple[int, int]]:
    for match in re.compile(rb"\d+").finditer(content, start):
        yield match.span()


def run_guarded(works: Sequence[Callable[[], str]]) -> Iterator[Outcome]:
    """Outcome of each work, which returns what is to be said, under the app's limits.

    A forked process does one after the other, since a fork costs more than reading a small file;
    one that dies, or that has exhausted its memory, is replaced by a process for the next works.
    Each work has the limits of memory, beside what is inherited, and of CPU seconds for itself.
    """
    gc.freeze()  # pages that no collection touches stay shared
    first = 0
    while first < len(works):
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(read)
            try:
                _work_through(works[first:], write)
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as pipe:
            outcomes = [Outcome(*json.loads(line)) for line in pipe if line.endswith("\n")]
        yield from outcomes
        first += len(outcomes)
        _, status, usage = os.wait4(pid, 0)
        if first < len(works) and not (outcomes and _is_last(outcomes[-1])):
            seconds = usage.ru_utime + usage.ru_stime - sum(o.seconds for o in outcomes)
            yield Outcome("killed", f"status {status}", seconds, usage.ru_maxrss / 1024)
            first += 1


def _work_through(works: Sequence[Callable[[], str]], write: int) -> None:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    inherited = int(re.search(r"VmData:\s+(\d+)", status)[1]) << 10  # type: ignore[index]
    os.setpgid(0, 0)
    for work in works:
        before = time.process_time()
        set_limits(inherited + (MEMORY_MB << 20), math.ceil(before) + CPU_SECONDS)
        kind, text = _do(work)
        seconds = time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if seconds > CPU_SECONDS or peak > MEMORY_MB:
            kind, text = "costly", f"{seconds:.0f} CPU s, {peak:.0f} MB"
        outcome = Outcome(kind, text[-4000:], seconds, peak)
        os.write(write, (json.dumps(astuple(outcome)) + "\n").encode())
        if _is_last(outcome):
            return


def _do(work: Callable[[], str]) -> tuple[str, str]:
    """(kind, text) of an outcome."""
    try:
        kind, _, text = work().partition(" ")
    except MemoryError:
        return "limit", "memory"
    except InputError as error:
        line = str(error)
        line.encode()
        return ("refused", line) if "\n" not in line else ("unforeseen", f"two lines: {line}")
    except BaseException:
        return "unforeseen", traceback.format_exc()
    return kind, text


def _is_last(outcome: Outcome) -> bool:
    """Whether the process has used so much that the next work needs another."""
    return outcome.kind in ("limit", "costly")


def read_sample(sample: Sample, path: Path, sound: LoadedGraph) -> str:
    """loaded, or changed …, for the damaged file at `path`; errors are the caller's.

    sound  what the undamaged file gives
    """
    damaged = {sample.path: path}
    links, nodes = damaged.get(sample.links, sample.links), sample.nodes
    if sample.path not in (sample.links, nodes):
        nodes = path  # another form of the node table
    elif nodes is not None:
        nodes = damaged.get(nodes, nodes)
    loaded = load_graph(links, nodes_path=nodes)
    is_checked = path.suffix in CHECKED and not (path.suffix in PACKED and is_whole_zip(path))
    if is_checked:
        is_same = loaded.graph.content_hash == sound.graph.content_hash
        if not is_same and path.suffix in (".xlsx", ".zip") and tells_more(loaded, sound):
            return "loaded told"  # a member under a damaged name is none of the tables
        return "loaded alike" if is_same else "changed another graph from a file with checksums"
    try:
        readings = list_readings(path, links, nodes)
    except Exception:  # it refuses what we read, or knows more of the format
        return "loaded alone"
    ours = read_ours(loaded)
    differences = [describe_difference(ours, reading) for reading in readings]
    if not all(differences):
        return "loaded alike"
    return "loaded told" if tells_more(loaded, sound) else f"changed {differences[0]}"


def fuzz(
    count: int, seed: int, keep: Path | None = None, only: Sequence[str] = ("",)
) -> Iterator[tuple[str, Counter[str], list[str], float]]:
    """(file, how many of each kind, what failed, greatest peak in MB) of `count` damaged files of
    each format."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        samples = make_samples(folder)
        (folder / "damaged").mkdir()
        for place, sample in enumerate(samples):
            if not any(part in sample.path.name for part in only):
                continue
            sound = load_graph(sample.links, nodes_path=sample.nodes)
            path = folder / "damaged" / sample.path.name
            seeds = [[seed, place, number] for number in range(count)]
            works = [partial(_read_damaged, sample, path, sound, entropy) for entropy in seeds]
            outcomes = list(run_guarded(works))
            failures = []
            for number, outcome in enumerate(outcomes):
                if outcome.kind in EXPECTED:
                    continue
                failures.append(f"{number} {path.name}: {outcome.kind} {outcome.text}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    content = damage_sample(sample, seeds[number])
                    (keep / f"{number}-{path.name}").write_bytes(content)
            kinds = Counter(o.text if o.kind == "loaded" else o.kind for o in outcomes)
            yield path.name, kinds, failures, max(outcome.peak_mb for outcome in outcomes)


def damage_sample(sample: Sample, entropy: list[int]) -> bytes:
    """The sample's file with the damage of this seed."""
    rng = np.random.default_rng(entropy)
    content, is_packed = sample.path.read_bytes(), sample.path.suffix in PACKED
    inside = is_packed and bool(rng.integers(2))
    return damage_member(content, rng) if inside else damage(content, rng)


def _read_damaged(sample: Sample, path: Path, sound: LoadedGraph, entropy: list[int]) -> str:
    path.write_bytes(damage_sample(sample, entropy))
    return read_sample(sample, path, sound)


def list_classes() -> Iterator[tuple[str, bytes, bytes | None]]:
    """(file name, content, node table) of the hand-made files of tests/data."""
    from tests.data import test_hostile, test_malformed

    for name, content, *_ in test_hostile.HUNGRY.values():
        yield name, _encode(content), None
    for content, _ in test_hostile.ODD_ARRAYS.values():
        yield "e.npz", content, None
    for content in test_hostile.FOREIGN.values():
        yield "e.csv", _encode(content), None
        yield "l.csv", b"a,b\nb,c\n", _encode(content)
    for name, content in test_hostile.UNDECLARED.items():
        yield name, _encode(content), None
    for name, content, *_ in test_malformed.CASES.values():
        yield name, _encode(content), None


def _encode(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def try_classes() -> tuple[Counter[str], list[str], float]:
    """As `fuzz`, of the hand-made files."""
    kinds: Counter[str] = Counter()
    failures: list[str] = []
    peak = 0.0
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        classes = list(list_classes())
        works = [partial(_read_class, Path(name), *entry) for entry in classes]
        for (file, *_), outcome in zip(classes, run_guarded(works), strict=True):
            kinds[outcome.kind] += 1
            peak = max(peak, outcome.peak_mb)
            if outcome.kind not in EXPECTED:
                failures.append(f"{file}: {outcome.kind} {outcome.text}")
    return kinds, failures, peak


def _read_class(folder: Path, name: str, content: bytes, table: bytes | None) -> str:
    path, nodes = folder / name, folder / "n.csv"
    path.write_bytes(content)
    if table is not None:
        nodes.write_bytes(table)
    load_graph(path, nodes_path=None if table is None else nodes)
    return "loaded"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="only samples with such a part in their name"
    )
    options = parser.parse_args()
    kinds, failures, peak = (Counter(), [], 0.0) if options.only else try_classes()
    found = fuzz(options.count, options.seed, options.keep, options.only or ("",))
    for name, counts, failed, most in found:
        text = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        print(f"{name}: {text}", *failed, sep="\n", flush=True)
        kinds, failures, peak = kinds + counts, failures + failed, max(peak, most)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"tried {sum(kinds.values())}: "
        + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    )
    print(f"failed {len(failures)}; peak {peak:,.0f} MB; {cpu.ru_utime + cpu.ru_stime:.0f} CPU s")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
