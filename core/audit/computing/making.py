"""Makes a release: the defense gets the graph without columns of links, which travel apart."""

from __future__ import annotations

from dataclasses import replace

from core.audit.computing.partitions import explain_method
from core.context import Context
from core.data.link_release import carry_link_columns, refuse_link_columns, strip_link_columns
from core.defenses.external import EXTERNAL
from core.errors import check_support
from core.methods import EMPIRICAL_GROUP, Defense
from core.release import Release, check_release, keep_to_modes
from core.threats import Threats


def make_release(defense: Defense, threats: Threats, context: Context) -> Release:
    """The release of `threats.visible`, with the published columns of its links and, of a graph in
    two modes, without links within one.

    Raises UnsupportedError if the defense does not apply, or must not publish columns of links.
    """
    visible = threats.visible
    check_support(defense.label, explain_method(defense, visible) or None)
    is_private = defense.info.group != EMPIRICAL_GROUP
    if defense.keeps_columns:
        check_support(defense.label, refuse_link_columns(visible, is_private, defense.keeps_nodes))
    threats = replace(threats, visible=strip_link_columns(visible))
    made = defense.publish(threats.visible, threats, context)
    release = check_release(made, threats.visible, defense.label)
    # A release made elsewhere is described as it is; its attackers keep to the modes.
    if defense.keeps_nodes and release.defense != EXTERNAL:
        release = keep_to_modes(release, visible.modes)
    if not defense.keeps_columns:
        return release
    is_private = release.guarantee.is_private
    check_support(defense.label, refuse_link_columns(visible, is_private, defense.keeps_nodes))
    return carry_link_columns(visible, release, context.rng("columns of links"))
