"""One click to audit a defense at several strengths."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.method_choice import SWEEP_STEPS, MethodChoice
from core.audit.asked.presets import add_data_independent
from core.audit.results.view import AuditView
from pages.ui import page
from pages.ui.estimate import estimate_audit


def show_sweep(view: AuditView) -> None:
    """Offer the strengths of a defense of the audit that it has not tried, if there is one."""
    if view.summary.state.is_active or view.spec.external_release is not None:
        return
    made = {choice.id for choice in view.spec.defenses}
    offered: dict[str, tuple[str, list[MethodChoice]]] = {}
    for choice in view.spec.defenses:
        defense = choice.make_defense()
        if getattr(defense, "data_free", False):
            continue
        more = [MethodChoice.of(each) for each in defense.vary(SWEEP_STEPS)]
        more = [each for each in more if each.id not in made]
        if defense.acts_by is not None and more:
            offered.setdefault(defense.info.key, (defense.info.title, more))
    if not offered:
        return
    left, middle, right = st.columns([3, 3, 5], vertical_alignment="bottom")
    key = left.selectbox(
        "Curve of a defense",
        list(offered),
        format_func=lambda key: offered[key][0],
        key=f"sweep-of-{view.summary.id}",
    )
    title, more = offered[key]
    fields = page.keep_fields(view)
    fields["defenses"] = add_data_independent([*view.spec.defenses, *more])
    if middle.button(
        f"Audit {len(more)} more strengths",
        key="sweep",
        icon=":material/timeline:",
        width="stretch",
    ):
        page.start_audit(fields)
    time = estimate_audit(fields).replace(" ", "\u00a0")  # "s" stood alone on a line
    right.caption(f"Draws risk and usefulness of {title} as a curve. The audit takes {time}.")
