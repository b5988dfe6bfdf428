"""Files for download on the Report page, built on request."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from core.audit.results.export import describe_audit, make_file_name
from core.audit.results.view import AuditView
from core.data.keyed_pseudonyms import KeyedPseudonyms
from core.findings.channels import describe_channels
from core.findings.uses import describe_uses
from core.findings.verdict import Verdict
from core.partitioned.writing import write_release
from core.release import Release
from core.report import ReportOptions, format_dpia, render_preview, write_report
from core.seeding import Seed


def make_pdf(view: AuditView, options: ReportOptions) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_report(view, Path(folder) / "report.pdf", options).read_bytes()


def make_dpia(view: AuditView, options: ReportOptions, name: str) -> bytes:
    """Content of dpia.md or dpia.json, as written by the command line."""
    return format_dpia(view, options)[name].encode()


def make_json(view: AuditView, verdict: Verdict) -> bytes:
    """Content of audit.json, as written by the command line."""
    more = {
        "verdict": verdict.describe(),
        "channels": describe_channels(view),
        "columns": describe_uses(view),
    }
    content = {**more, **describe_audit(view)}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def render_pages(view: AuditView, options: ReportOptions) -> list[bytes]:
    """PNG images of the pages of the report."""
    num_claims = sum(run.check is not None for run in view.claims)
    state = (view.summary.cells_done, num_claims)
    return _render_pages(view.summary.id, state, repr(options), view, options)


@st.cache_data(max_entries=4, show_spinner=False)
def _render_pages(
    audit_id: str, state: tuple[int, int], key: str, _view: AuditView, _options: ReportOptions
) -> list[bytes]:
    return render_preview(_view, _options)


def make_archive(
    release: Release,
    name: str,
    provenance: dict[str, Any],
    formats: Sequence[str],
    columns: Sequence[str],
    pseudonyms: bool | KeyedPseudonyms,
) -> bytes:
    """Zip archive of the release's files and its provenance; `columns` as in `write_release`.

    pseudonyms  whether ids are replaced, or by which
    """
    buffer, keyed = io.BytesIO(), pseudonyms if isinstance(pseudonyms, KeyedPseudonyms) else None
    with tempfile.TemporaryDirectory() as folder:
        paths = write_release(
            release,
            folder,
            make_file_name(name),
            provenance,
            tuple(formats),
            columns=columns,
            pseudonyms=keyed or (Seed.from_entropy() if pseudonyms else None),
        )
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in paths:
                archive.write(path, path.name)
    return buffer.getvalue()
