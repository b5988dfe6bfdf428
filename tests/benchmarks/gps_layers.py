"""What separates GPS with GraphSAGE and GIN inside from the paper's Table 9, layer by layer.

    python -m tests.benchmarks.gps_layers [--backbones sage,gin] [--splits 10] [--first 0]
        [--starts 5] [--only TEXT ...]

The authors' published layers have batch normalisation inside, draw their first weights uniformly
within 1/sqrt(inputs), drop inputs, give GIN's both layers to the classifier, and leave GIN in the
role encoder when the proximity encoder is GraphSAGE. Each row changes GPS with plain layers in one
of these, all, or all but one; GPS itself has all but the last. AUC on NBA in percent, mean (sd)
over splits; the paired difference from the first row with its standard error; and mean (sd) over
`--starts` initialisations on the one split that the authors use. The splits from 10 on are those
of `gps_nba`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import train_test_split

from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.models.encoders import NORMS
from core.models.gps import attacker, ego
from core.registry import make_method
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.benchmarks.finite import print_finite
from tests.benchmarks.gps_nba import load_nba, run
from tests.conftest import find_data_root


@dataclass(frozen=True)
class Layers:
    """Departures from plain layers in both encoders.

    norm     batch normalisation inside GIN's perceptron, or after GraphSAGE's first layer
    uniform  first weights within 1/sqrt(inputs), biases too, instead of Glorot's and zero
    drop     dropout on the inputs as well
    joined   the proximity encoder hands on both of GIN's layers
    role     backbone of the role encoder; empty: that of the proximity encoder

    aggregate  aggregation of the backbone, and whether it counts the node itself
    features   False: without features
    scaling    "standard": mean 0, deviation 1, and a column of ones
    settings   of the attack
    """

    norm: bool = False
    uniform: bool = False
    drop: bool = False
    joined: bool = False
    role: str = ""
    aggregate: tuple[str, bool] | None = None
    features: bool = True
    scaling: str = "range"
    settings: tuple[tuple[str, Any], ...] = ()


@contextmanager
def changed(layers: Layers) -> Iterator[None]:
    """GPS with other layers while it lasts."""

    def make_proximity(backbone, num_in, hidden, seed, rate, _plain):
        made = Proximity(backbone, num_in, hidden, seed, rate, not layers.norm)
        made.drops_inputs, made.is_joined = layers.drop, layers.joined
        made.num_out = hidden * (2 if layers.joined else 1)
        return made

    def make_role(backbone, num_in, hidden, seed, rate, _plain):
        made = Role(layers.role or backbone, num_in, hidden, seed, rate, not layers.norm)
        made.drops_inputs = layers.drop
        return made

    def draw(model, generator):
        if layers.uniform:
            draw_uniform(model, generator)

    def make_blocks(batch, num_nodes, backbone, device):
        return make_ego_blocks(batch, num_nodes, layers.role or backbone, device)

    def make_inputs(graph, device):
        return scale(graph, device, layers.scaling)

    Proximity, Role, scale = attacker.ProximityEncoder, attacker.RoleEncoder, attacker.make_inputs
    draw_uniform, make_ego_blocks = attacker.draw_uniform, ego.EgoBatch.make_blocks
    norms = {} if layers.aggregate is None else dict.fromkeys(("sage", "gin"), layers.aggregate)
    with (
        patch.object(attacker, "ProximityEncoder", make_proximity),
        patch.object(attacker, "RoleEncoder", make_role),
        patch.object(attacker, "draw_uniform", draw),
        patch.object(attacker, "make_inputs", make_inputs),
        patch.object(ego.EgoBatch, "make_blocks", make_blocks),
        patch.dict(NORMS, norms),
    ):
        yield


AUTHORS = {
    "gin": Layers(norm=True, uniform=True, drop=True, joined=True),
    "sage": Layers(norm=True, uniform=True, drop=True, role="gin"),
}


def list_rows(backbone: str) -> dict[str, Layers]:
    authors, here = AUTHORS[backbone], Layers()
    own = {"gin": {"joined": True}, "sage": {"role": "gin"}}[backbone]
    parts = {"norm": True, "uniform": True, "drop": True, **own}
    names = {
        "norm": "batch normalisation inside",
        "uniform": "first weights within 1/sqrt(inputs)",
        "drop": "dropout on the inputs",
        "joined": "both layers handed on",
        "role": "GIN in the role encoder",
    }
    rows = {"plain": here}
    rows |= {names[key]: replace(here, **{key: value}) for key, value in parts.items()}
    rows["all of these"] = authors
    rows |= {
        f"all but {names[key]}": replace(authors, **{key: getattr(here, key)}) for key in parts
    }
    others: dict[str, Layers] = {
        "dropout 0.5": replace(here, settings=(("dropout", 0.5),)),
        "100 epochs": replace(here, settings=(("epochs", 100),)),
        "1,000 epochs": replace(here, settings=(("epochs", 1000),)),
        "hidden 16 and 16": replace(here, settings=(("hidden", 16),)),
        "standardised features": replace(here, scaling="standard"),
        "no features": replace(here, features=False),
        "learning rate 0.01": replace(here, settings=(("lr", 0.01),)),
        "proximity encoder alone": replace(here, settings=(("branches", "proximity"),)),
        "proximity encoder alone, all of these": replace(
            authors, settings=(("branches", "proximity"),)
        ),
        "proximity encoder alone, learning rate 0.01": replace(
            here, settings=(("branches", "proximity"), ("lr", 0.01))
        ),
        "proximity encoder alone, no features": replace(
            here, features=False, settings=(("branches", "proximity"),)
        ),
        "role encoder alone": replace(here, settings=(("branches", "role"),)),
        "sum of neighbours": replace(here, aggregate=("none", backbone == "gin")),
        "mean of neighbours": replace(here, aggregate=("row", backbone == "gin")),
        "symmetric": replace(here, aggregate=("symmetric", backbone == "gin")),
    }
    same = "sum of neighbours" if backbone == "gin" else "mean of neighbours"
    return rows | {name: layers for name, layers in others.items() if name != same}


def draw_authors_split(graph: Graph, order: list[str]) -> AttributeThreat:
    """The split of the authors' code: stratified, 10 % known, in the order of the file."""
    place = {str(name): index for index, name in enumerate(graph.node_ids)}
    rows = np.array([place[name] for name in order])
    codes = graph.column("country").codes[rows]
    valid = np.flatnonzero(codes >= 0)
    known, _ = train_test_split(valid, train_size=0.1, stratify=codes[valid], random_state=0)
    return draw_attribute_threat(graph, "country", 0.1, Seed(0), given=rows[known])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backbones", default="sage,gin")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=400, help="of the authors' settings file")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    root = find_data_root()
    if root is None or not (root / "nba").is_dir():
        print("skipped: set AUDIT_DATA to a folder that holds nba/")
        return
    graph = load_nba(root)
    lines = (root / "nba" / "nba.csv").read_text().splitlines()[1:]
    fixed = draw_authors_split(graph, [line.split(",")[0] for line in lines if line])
    splits = range(options.first, options.first + options.splits)
    print(f"splits {splits.start} to {splits.stop - 1}; {fixed.known.sum()} known on the fixed one")
    for backbone in options.backbones.split(","):
        base = None
        print(f"{backbone} | splits | difference (standard error) | the authors' split | CPU s")
        for name, layers in list_rows(backbone).items():
            if options.only and name != "plain" and not any(map(name.startswith, options.only)):
                continue
            used = graph if layers.features else graph.update_columns(features=None)
            attack = make_method(
                "gps",
                {"backbone": backbone, "epochs": options.epochs, **dict(layers.settings)},
                "attribute_attack",
            )
            start = time.process_time()
            with changed(layers):
                scores = np.array(
                    [
                        run(
                            attack,
                            used,
                            draw_attribute_threat(used, "country", 0.1, Seed(index)),
                            Seed(index).child("gps"),
                        )[0]
                        for index in splits
                    ]
                )
                seconds = (time.process_time() - start) / len(splits)
                starts = [
                    run(attack, used, fixed, Seed(index).child("start"))[0]
                    for index in range(options.starts)
                ]
            base = scores if base is None else base
            gap = 100 * (scores - base)
            error = gap.std(ddof=1) / len(gap) ** 0.5
            print(
                f"{name} | {100 * scores.mean():.1f} ({100 * scores.std():.1f}) | "
                f"{gap.mean():+.1f} ({error:.1f}) | {100 * np.mean(starts):.1f} "
                f"({100 * np.std(starts):.1f}) | {seconds:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    print_finite(main)
