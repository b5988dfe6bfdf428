"""Block model: unsupervised blocks of nodes with similar link patterns, then labelled."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator
from scipy.special import softmax

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import draw_folds, hold_out
from core.node_column import MISSING
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, count_shares


class BlockModelAttack(AttributeAttack):
    """Blocks from the links alone, assortative or disassortative; then their classes.

    Known nodes and class shares label the blocks: every labelling is weighted by how well it
    predicts them, so that with few known nodes, or blocks unrelated to the classes, the
    probabilities stay near the shares. The number of blocks is chosen by model evidence.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="block_model",
        title="Block model",
        summary="Finds blocks in the links without labels and names them by few known people.",
        source=(
            "Decelle et al., Phys. Rev. E 84, 2011; Yan et al., J. Stat. Mech. 2014 (degrees); "
            "metadata as Newman and Clauset, Nature Communications 7, 2016"
        ),
        group="propagation",
        cost="seconds",
        version=2,
    )
    holds_out = True
    max_blocks: int = Field(24, ge=2, le=64, description="Blocks at most.")
    class_shares: str = Field(
        "",
        description="Shares of the classes that are known from elsewhere, in their order, joined "
        "by +; empty: as among the known people.",
    )

    @field_validator("class_shares")
    @classmethod
    def check_shares(cls, value: str) -> str:
        """Validate the text of the shares: positive numbers that sum to 1."""
        if value:
            parse_shares(value)
        return value

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        if not self.class_shares or len(parse_shares(self.class_shares)) == threat.num_classes:
            return None
        return (
            f"needs one share for each of the {threat.num_classes} classes; give as many, or none"
        )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.blocks import find_blocks

        graph, observed = release.graph, threat.observed
        name = ("blocks", self.info.version, graph.content_hash, self.max_blocks)
        found = context.share(name, lambda inner: find_blocks(graph, self.max_blocks, inner))
        given = parse_shares(self.class_shares) if self.class_shares else None

        def infer(codes: np.ndarray) -> np.ndarray:
            return predict_classes(
                [blocks.chances for blocks in found], codes, threat.num_classes, given
            )

        held_out = np.full((len(observed), threat.num_classes), np.nan)
        for rest, fold in hold_out(observed, draw_folds(observed, 5, context.rng("folds"))):
            held_out[fold] = infer(rest)[fold]
            context.progress.check()
        count = max((blocks.chances.shape[1] for blocks in found), default=1)
        return ClassProbabilities(infer(observed), {"blocks": count}, held_out)


def predict_classes(
    models: list[np.ndarray], observed: np.ndarray, num_classes: int, given: np.ndarray | None
) -> np.ndarray:
    """(n, C) probabilities by several models' (n, B) blocks, each weighted by its prediction of
    known nodes.

    given  (C,) external class shares; None: those of the known nodes, with one pseudo-count per
    class and their standard error
    """
    from core.models.blocks import label_blocks

    shares, spread = given, 0.0
    if shares is None:
        shares = count_shares(observed, num_classes)
        spread = float(np.sqrt(0.25 / ((observed != MISSING).sum() + num_classes)))
    if not models:
        return np.tile(shares, (len(observed), 1))
    namings = [label_blocks(memberships, observed, shares, spread) for memberships in models]
    evidence = np.array([naming.evidence for naming in namings])
    parts = zip(softmax(evidence), models, namings, strict=True)
    mixed = sum(weight * memberships @ naming.table for weight, memberships, naming in parts)
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


def parse_shares(text: str) -> np.ndarray:
    """(C,) class shares from a text like 0.5+0.3+0.2; raises ValueError."""
    shares = np.array([float(part) for part in text.split("+")])
    if not (shares > 0).all() or abs(shares.sum() - 1.0) > 0.01:
        raise ValueError("must be shares above 0 that sum to 1, joined by +")
    return np.asarray(shares / shares.sum())
