"""List of the defenses, one file each."""

from core.defenses.betweenness_deletion import BetweennessDeletion
from core.defenses.blink import Blink
from core.defenses.degree_deletion import DegreeDeletion
from core.defenses.dgg import Dgg
from core.defenses.dice import Dice
from core.defenses.dp_1k import Dp1k
from core.defenses.dp_2k import Dp2k
from core.defenses.dpggan import DpgGan
from core.defenses.dpgvae import DpgVae
from core.defenses.dpr import Dpr
from core.defenses.dprr import DegreePreservingRR
from core.defenses.edge_rand import EdgeRand
from core.defenses.gap import Gap
from core.defenses.gps_sampling import GpsSampling
from core.defenses.k_degree_anonymity import KDegreeAnonymity
from core.defenses.l_dpgcn import LocalDpGcn
from core.defenses.lap_graph import LapGraph
from core.defenses.ldpgen import LdpGen
from core.defenses.netfense import NetFense
from core.defenses.nettack import Nettack
from core.defenses.node_private import NodePrivate
from core.defenses.ppgsl import Ppgsl
from core.defenses.ppne import Ppne
from core.defenses.priv_graph import PrivGraph
from core.defenses.priv_hrg import PrivHrg
from core.defenses.priv_skg import PrivSkg
from core.defenses.privdpr import PrivDpr
from core.defenses.pseudonyms import Pseudonyms
from core.defenses.rabv import Rabv
from core.defenses.random_deletion import RandomDeletion
from core.defenses.random_rewiring import RandomRewiring
from core.defenses.randomized_response import RandomizedResponse
from core.defenses.record_swapping import RecordSwapping
from core.defenses.rw_lp import RwLp
from core.defenses.solitude import Solitude
from core.defenses.sym_rr import SymRR
from core.defenses.tmf import Tmf
from core.defenses.uniqueness_aware import UniquenessAware
from core.defenses.without_columns import WithoutColumns

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
    RecordSwapping,
    Dice,
    RwLp,
    Ppne,
    EdgeRand,
    LapGraph,
    Tmf,
    Dp1k,
    Dp2k,
    Dgg,
    PrivSkg,
    PrivHrg,
    PrivGraph,
    Blink,
    RandomizedResponse,
    SymRR,
    LocalDpGcn,
    DegreePreservingRR,
    LdpGen,
    Solitude,
    NodePrivate,
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

NodePrivate.members = {
    method.info.key: method for method in (EdgeRand, LapGraph, Tmf, Dp1k, Dp2k, Dgg, PrivGraph)
}
