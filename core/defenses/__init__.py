"""Defenses: one file a method; this list says which exist."""

from core.defenses.blink import Blink
from core.defenses.deletion import BetweennessDeletion, DegreeDeletion, RandomDeletion
from core.defenses.dp_1k import Dgg, Dp1k
from core.defenses.dpr import Dpr, PrivDpr
from core.defenses.edge_synthesis import DpgGan, DpgVae
from core.defenses.gap import Gap
from core.defenses.gps_sampling import GpsSampling
from core.defenses.k_degree_anonymity import KDegreeAnonymity
from core.defenses.lap_graph import LapGraph, LocalDpGcn, Tmf
from core.defenses.ldpgen import LdpGen
from core.defenses.netfense import NetFense, Nettack
from core.defenses.ppgsl import Ppgsl
from core.defenses.ppne import Ppne
from core.defenses.priv_graph import PrivGraph
from core.defenses.randomized_response import (
    DegreePreservingRR,
    EdgeRand,
    Rabv,
    RandomizedResponse,
    SymRR,
)
from core.defenses.rewiring import Dice, RandomRewiring, RwLp
from core.defenses.solitude import Solitude
from core.defenses.uniqueness_aware import UniquenessAware
from core.defenses.without_columns import Pseudonyms, WithoutColumns

DEFENSES = (
    Pseudonyms,
    RandomDeletion,
    RandomRewiring,
    DegreeDeletion,
    BetweennessDeletion,
    Rabv,
    KDegreeAnonymity,
    UniquenessAware,
    GpsSampling,
    NetFense,
    Nettack,
    Ppgsl,
    Dice,
    RwLp,
    Ppne,
    EdgeRand,
    LapGraph,
    Tmf,
    Dp1k,
    Dgg,
    PrivGraph,
    Blink,
    RandomizedResponse,
    SymRR,
    LocalDpGcn,
    DegreePreservingRR,
    LdpGen,
    Solitude,
    PrivDpr,
    Dpr,
    DpgGan,
    DpgVae,
    Gap,
    WithoutColumns,
)

WithoutColumns.members = {
    defense.info.key: defense for defense in DEFENSES if defense is not WithoutColumns
}
