"""Graphs by name: two built in, others found locally or downloaded.

Raw files are searched in AUDIT_DATA, then in AUDIT_HOME/datasets, then downloaded there from the
addresses that PyG's dataset classes use. They are parsed by this package's readers, since PyG's
unpickle what they download.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, assemble_graph
from core.data.edge_list import load_edge_list
from core.data.loaded import LoadedGraph, LoadReport
from core.data.planetoid import PARTS, load_planetoid
from core.data.readers import load_graph
from core.data.synthetic import generate_social
from core.data.text_input import load_text
from core.errors import FormatError, InputError, OfflineError
from core.graph import Graph
from core.node_column import NodeColumn

_PLANETOID_URL = "https://github.com/kimiyoung/planetoid/raw/master/data"
_MUSAE_URL = "https://graphmining.ai/datasets/ptg"
_TIMEOUT_S = 20
_MAX_DOWNLOAD_BYTES = 256 << 20


@dataclass(frozen=True)
class DatasetInfo:
    """One graph of the catalogue; counts as published, None if unknown.

    urls        downloaded if not available locally; empty: built in, or local only
    folders     possible locations of its raw files below AUDIT_DATA or AUDIT_HOME/datasets
    files       required file names, one per url
    private, utility  columns that its authors use as such, if the choice is not evident
    """

    name: str
    title: str
    summary: str
    source: str
    num_nodes: int
    num_edges: int | None
    num_features: int
    num_classes: int
    load: Callable[[Path], LoadedGraph]
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    private: str | None = None
    utility: str | None = None

    @property
    def is_built_in(self) -> bool:
        return not self.files

    @property
    def is_at_hand(self) -> bool:
        """Whether it loads without a download."""
        return self.is_built_in or find_raw(self) is not None


def list_datasets() -> list[DatasetInfo]:
    """Graphs of the catalogue; local-only ones are listed if present."""
    return [info for info in _DATASETS if info.is_built_in or info.urls or info.is_at_hand]


def load_dataset(name: str) -> LoadedGraph:
    """The graph `name` with its class column `label`. Raises OfflineError if unavailable.

    >>> from core.data.catalogue import load_dataset
    >>> load_dataset("karate").graph.column("label").classes
    ('Mr. Hi', 'Officer')
    """
    info = next((info for info in _DATASETS if info.name == name), None)
    if info is None:
        raise InputError(
            "dataset",
            "must be a name of the catalogue",
            name,
            "known: " + ", ".join(info.name for info in list_datasets()),
        )
    loaded = info.load(Path() if info.is_built_in else find_raw(info) or _download(info))
    report = replace(loaded.report, source=info.source)
    return LoadedGraph(replace(loaded.graph, name=name), report)


def find_raw(info: DatasetInfo) -> Path | None:
    """The local folder with all raw files of a dataset, or None."""
    from core.home import find_home

    roots = [Path(os.environ["AUDIT_DATA"])] if os.environ.get("AUDIT_DATA") else []
    for root in [*roots, find_home() / "datasets"]:
        for folder in info.folders:
            for files in (info.files, _LOCAL_FILES.get(info.name, info.files)):
                if all((root / folder / file).is_file() for file in files):
                    return root / folder
    return None


def list_raw_files() -> list[Path]:
    """Raw files of all datasets at hand."""
    at_hand = [(info, find_raw(info)) for info in _DATASETS if not info.is_built_in]
    names = {info.name: {*info.files, *_LOCAL_FILES.get(info.name, ())} for info, _ in at_hand}
    return [folder / name for info, folder in at_hand if folder for name in names[info.name]]


def _download(info: DatasetInfo) -> Path:
    from core.home import find_home

    wanted = f"{info.folders[0]}/{info.files[0]}"
    if not info.urls:
        raise OfflineError(
            f"dataset '{info.name}' is not downloaded by this program; "
            f"set AUDIT_DATA to a folder that holds {wanted}"
        )
    folder = find_home() / "datasets" / info.folders[0]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for url in info.urls:
            content = _fetch(url)
            if url.endswith(".tar.gz"):
                _unpack(content, folder, info)
            else:
                _write(folder / url.rpartition("/")[2], content)
    except (urllib.error.URLError, TimeoutError, ConnectionError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise OfflineError(
            f"dataset '{info.name}' must be downloaded and cannot be ({reason}); connect to the "
            f"network, or set AUDIT_DATA to a folder that holds {wanted}"
        ) from None
    return folder


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response:
        content: bytes = response.read(_MAX_DOWNLOAD_BYTES + 1)
    if len(content) > _MAX_DOWNLOAD_BYTES:
        raise FormatError(f"download {url}", f"must be at most {_MAX_DOWNLOAD_BYTES >> 20} MiB")
    return content


def _write(path: Path, content: bytes) -> None:
    """Write atomically, so that a broken download leaves no partial file."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def _unpack(content: bytes, folder: Path, info: DatasetInfo) -> None:
    """The dataset's files from a tar; members are read by base name, never extracted."""
    import io

    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            name = Path(member.name).name
            stream = archive.extractfile(member) if name in info.files else None
            if stream is not None:
                _write(folder / name, stream.read())


def _load_karate(_: Path) -> LoadedGraph:
    import networkx as nx

    club = nx.karate_club_graph()
    sides = [club.nodes[i]["club"] for i in club]
    graph = Graph.from_pairs(
        np.array(club.edges),
        club.number_of_nodes(),
        name="karate",
        node_ids=tuple(str(i + 1) for i in club),
        attributes={"label": NodeColumn.from_values("label", sides)},
    )
    return LoadedGraph(graph, LoadReport(format="built in"))


def _musae(stem: str, target: str) -> Callable[[Path], LoadedGraph]:
    """Reads PyG's npz, or the publisher's CSV and JSON."""

    def load(folder: Path) -> LoadedGraph:
        archive = folder / f"{stem}.npz"
        if archive.is_file():
            return load_graph(archive, utility="label")
        features = [folder / f"{stem}_features.json", folder / f"{stem}.json"]
        loaded = load_graph(
            folder / f"{stem}_edges.csv",
            target_path=folder / f"{stem}_target.csv",
            nodes_path=next((f for f in features if f.is_file()), None),
            utility=target,
        )
        graph = loaded.graph
        label = replace(graph.column(target), name="label")
        return replace(loaded, graph=graph.update_columns(attributes={"label": label}))

    return load


def _load_polblogs(folder: Path) -> LoadedGraph:
    raw = load_edge_list(folder / "adjacency.tsv")
    labels = load_text(folder / "labels.tsv").split()
    numbers = np.array([int(i) for i in raw.node_ids])
    if numbers.min() < 0 or numbers.max() >= len(labels):
        raise FormatError("file 'labels.tsv'", "must have a line for every node", len(labels))
    raw = RawGraph(
        pairs=numbers[raw.pairs],
        node_ids=tuple(map(str, range(len(labels)))),
        table=pd.DataFrame({"label": labels}),
        format="edge list with labels",
    )
    return assemble_graph(raw, source="polblogs", name="polblogs", utility="label")


def _load_nba(folder: Path) -> LoadedGraph:
    return load_graph(
        folder / "nba_relationship.txt",
        nodes_path=folder / "nba.csv",
        id_column="user_id",
        private="country",
        utility="SALARY",
        unknown=("-1",),
    )


def _planetoid_info(name: str, title: str, folder: str, *counts: int) -> DatasetInfo:
    files = tuple(f"ind.{name}.{part}" for part in PARTS)
    nodes, edges, features, classes = counts
    return DatasetInfo(
        name,
        title,
        "Papers and citations; features are words, the class is the topic.",
        "Yang, Cohen, Salakhutdinov: Revisiting semi-supervised learning with graph embeddings, "
        "ICML 2016",
        nodes,
        edges,
        features,
        classes,
        lambda folder: assemble_graph(
            load_planetoid(folder, name), source=name, name=name, utility="label"
        ),
        (f"Planetoid/{folder}/raw", name),
        files,
        tuple(f"{_PLANETOID_URL}/{f}" for f in files),
    )


_FEATHER = "Rozemberczki, Sarkar: Characteristic functions on graphs, CIKM 2020"
_LOCAL_FILES = {
    name: (f"{stem}_edges.csv", f"{stem}_target.csv")
    for name, stem in (
        ("facebook_pages", "facebook"),
        ("lastfm_asia", "lastfm_asia"),
        ("deezer_europe", "deezer_europe"),
    )
}

_DATASETS = (
    DatasetInfo(
        "social",
        "Generated social network",
        "1,000 invented people; one private attribute leaks by proximity, one by role.",
        "generated by this program (core/data/synthetic.py)",
        1000,
        11_928,
        8,
        4,
        lambda _: LoadedGraph(generate_social(), LoadReport(format="generated")),
        private="affiliation",
        utility="label",
    ),
    DatasetInfo(
        "karate",
        "Zachary's karate club",
        "34 members of a club that split in two.",
        "Zachary: An information flow model for conflict and fission in small groups, 1977",
        34,
        78,
        0,
        2,
        _load_karate,
    ),
    _planetoid_info("cora", "Cora", "Cora", 2708, 5278, 1433, 7),
    _planetoid_info("citeseer", "CiteSeer", "CiteSeer", 3327, 4552, 3703, 6),
    _planetoid_info("pubmed", "PubMed", "PubMed", 19_717, 44_324, 500, 3),
    DatasetInfo(
        "polblogs",
        "Political blogs",
        "Links between US blogs; the class is the camp.",
        "Adamic, Glance: The political blogosphere and the 2004 US election, 2005",
        1490,
        None,
        0,
        2,
        _load_polblogs,
        ("PolBlogs/raw", "polblogs"),
        ("adjacency.tsv", "labels.tsv"),
        ("https://netset.telecom-paris.fr/datasets/polblogs.tar.gz",),
    ),
    DatasetInfo(
        "lastfm_asia",
        "LastFM Asia",
        "Listeners and friendships; the class is the country.",
        _FEATHER,
        7624,
        27_806,
        128,
        18,
        _musae("lastfm_asia", "target"),
        ("LastFMAsia/raw", "lastfm_asia"),
        ("lastfm_asia.npz",),
        (f"{_MUSAE_URL}/lastfm_asia.npz",),
    ),
    DatasetInfo(
        "deezer_europe",
        "Deezer Europe",
        "Listeners and friendships; the class is the gender.",
        _FEATHER,
        28_281,
        92_752,
        128,
        2,
        _musae("deezer_europe", "target"),
        ("DeezerEurope/raw", "deezer_europe"),
        ("deezer_europe.npz",),
        (f"{_MUSAE_URL}/deezer_europe.npz",),
    ),
    DatasetInfo(
        "facebook_pages",
        "Facebook pages",
        "Verified pages and mutual likes; the class is the kind of page.",
        "Rozemberczki, Allen, Sarkar: Multi-scale attributed node embedding, 2021",
        22_470,
        170_823,
        128,
        4,
        _musae("facebook", "page_type"),
        ("FacebookPagePage/raw", "facebook_pages"),
        ("facebook.npz",),
        (f"{_MUSAE_URL}/facebook.npz",),
    ),
    DatasetInfo(
        "nba",
        "NBA players",
        "Players and followers; private: country, utility: SALARY.",
        "Dai, Wang: Say no to the discrimination (FairGNN), WSDM 2021",
        403,
        10_621,
        95,
        2,
        _load_nba,
        ("nba",),
        ("nba.csv", "nba_relationship.txt"),
        private="country",
        utility="SALARY",
    ),
    DatasetInfo(
        "p2p_gnutella",
        "Gnutella hosts",
        "Peer-to-peer hosts and connections.",
        "Ripeanu, Foster, Iamnitchi: Mapping the Gnutella network, 2002 (SNAP)",
        6301,
        20_777,
        0,
        0,
        lambda folder: load_graph(folder / "p2p-Gnutella08.txt"),
        ("p2p_gnutella",),
        ("p2p-Gnutella08.txt",),
    ),
)
