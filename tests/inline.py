"""Runs an audit in this process, without workers."""

from __future__ import annotations

import secrets
from pathlib import Path

from core.audit.asked.spec import AuditSpec
from core.audit.assemble import assemble_view
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs.cells import Job, execute_cell
from core.audit.results.provenance import describe_run
from core.audit.results.view import AuditView
from core.audit.store.database import Store
from core.audit.store.states import State
from core.graph import Graph


def run_inline(
    spec: AuditSpec, graph: Graph, home: str | Path, name: str = "", store: Store | None = None
) -> AuditView:
    """Plan an audit, compute cells that are not stored, and return its view.

    Raises InputError if the threats cannot be drawn on the graph; failed cells are results with
    their reason.
    """
    own = store or Store(home)
    audit_id = secrets.token_hex(5)
    try:
        own.save_graph(graph)
        audit = PreparedAudit.load(spec, own.load_graph)
        spec, cells = audit.spec, plan_audit(audit)
        own.add_audit(audit_id, name or spec.graph_name, spec, cells, describe_run(spec))
        own.claim_audit(audit_id)
        own.requeue_damaged_cells(audit_id)
        kept = {row.key for row in own.list_cells(audit_id, "key", "state") if row.state.is_kept}
        text = spec.model_dump_json()
        for cell in cells:
            if cell.key not in kept:
                execute_cell(Job(str(own.home), own.url, audit_id, text, cell))
        own.update_audit(audit_id, state=State.DONE)
        view = assemble_view(own, own.find_audit(audit_id))
        for load in (view.load_nodes, view.load_profile, view.load_rocs):
            load()  # a script's home may be gone when it asks for them
        view.link_channels.find_known()
        nodes = view.node_channels
        nodes.find_source()
        for summary in view.releases:
            view.link_channels.find_leaving(summary.id)
            view.link_channels.find_repeats(summary.id)
            for find in (nodes.find_leaving, nodes.find_incomparable, nodes.find_unchanged):
                find(summary.id)
        return view
    finally:
        if store is None:
            own.close()
