"""A withheld column is in no file, log, report or database row of a release that is published."""

from __future__ import annotations

import io
import logging
import shutil
import sqlite3
import subprocess
import zipfile

import numpy as np
import pytest

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.jobs.job import run_job
from core.audit.jobs.publish import PublishJobs
from core.audit.service import AuditService
from core.audit.store.accounts import LOCAL
from core.audit.store.database import Store
from core.audit.store.files import cell_folder
from core.graph import Graph
from core.node_column import NodeColumn
from pages.ui.documents import make_archive
from tests.audit.test_columns import read_all_bytes
from tests.inline import run_inline

NAME, VALUE, NUMBER = "birthplace", "Zwickau", 7391.25
"""A withheld column of texts with its value; and one of numbers, called `wage`."""

N = 40


@pytest.fixture(scope="module")
def people() -> Graph:
    pairs = [(i, (i + step) % N) for i in range(N) for step in (1, 2, 7)]
    numbers = np.stack([NUMBER + np.arange(N), 20 + np.arange(N) % 40], axis=1)
    columns = {
        NAME: [f"{VALUE}{i % 3}" for i in range(N)],
        "opinion": [str(i % 2) for i in range(N)],
        "club": ["Unicorns" if i == 7 else f"club {i % 2}" for i in range(N)],
    }
    return Graph.from_pairs(
        np.array(pairs),
        N,
        node_ids=[f"person-{i}" for i in range(N)],
        features=numbers,
        feature_names=("wage", "age"),
        attributes={name: NodeColumn.from_values(name, v) for name, v in columns.items()},
    )


@pytest.fixture(scope="module")
def published(people, tmp_path_factory):
    """An audit, one of its defenses published, and everything that was logged meanwhile."""
    home = tmp_path_factory.mktemp("home")
    spec = AuditSpec.check_spec(
        {
            "graph_hash": people.content_hash,
            "graph_name": "people",
            "private": "opinion",
            "hide_links": 0.1,
            "identity": {"seeds_known": 2},
            "publish_columns": ["age", "club"],
            "generalize": ["age:bin=10"],
            "leave_out": ["person-7"],
            "attacks": [{"key": k} for k in ("feature_regression", "column_values", "degree")],
            "defenses": [{"key": "random_deletion"}],
            "num_repeats": 1,
        }
    )
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    root.addHandler(handler)
    level, _ = root.level, root.setLevel(logging.INFO)
    try:
        view = run_inline(spec, people, home, "people")
        store = Store(home)
        request = PublishSpec.of_audit(spec, spec.defenses[0])
        store.add_job(
            "run",
            PublishJobs.name,
            audit_id=view.summary.id,
            request=request.model_dump(mode="json"),
            release=request.defense.id,
            signed_by=LOCAL.subject,
        )
        run_job(PublishJobs, str(home), store.url, "run")
        store.close()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    service = AuditService(home)
    yield service, view, logged.getvalue()
    service.close()


def leaks(content: bytes) -> list[str]:
    wanted = [NAME, VALUE, "wage", str(NUMBER)]
    return [text for text in wanted if text.encode() in content]


def test_files_hold_the_coarse_column_and_no_other(published, tmp_path):
    service, _, logged = published
    run = service.get_publish("run")
    assert run.release is not None, run.reason
    assert run.release.graph.num_nodes == N - 1
    columns = list(run.release.graph.columns)
    assert columns == ["club", "age"]
    archive = make_archive(
        run.release, "people", run.provenance, ("csv", "graphml", "npz"), columns, False
    )
    (tmp_path / "release.zip").write_bytes(archive)
    with zipfile.ZipFile(tmp_path / "release.zip") as inside:
        inside.extractall(tmp_path / "inside")
    content = read_all_bytes(tmp_path)
    assert leaks(content) == []
    assert b"person-7" not in content
    assert b"Unicorns" not in content  # person 7's alone
    assert b"age" in content
    assert b"opinion" not in content
    assert leaks(logged.encode()) == []


def test_rows_and_stored_arrays_hold_none(published):
    service, _, _ = published
    folder = cell_folder(service.home, "run")
    stored = [path.name.encode() + path.read_bytes() for path in folder.rglob("*.json")]
    with np.load(folder / "arrays.npz", allow_pickle=False) as arrays:
        for name in arrays.files:
            array = arrays[name]
            stored += [name.encode(), array.tobytes(), "\n".join(map(str, array.ravel())).encode()]
    assert leaks(b"\n".join(stored)) == []
    (database,) = service.home.glob("*.db")
    rows = "\n".join(sqlite3.connect(database).iterdump())
    assert "age:bin=10" in rows
    assert leaks(rows.encode()) == []


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext")
def test_reports_and_scripts_files_hold_none(published, tmp_path):
    from core.audit.results.export import write_audit
    from core.report import write_editions

    service, view, _ = published
    view = service.get_view(view.summary.id)
    write_audit(view, tmp_path)
    write_editions(view, tmp_path)
    content = read_all_bytes(tmp_path)
    for path in tmp_path.glob("*.pdf"):
        text = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True).stdout
        assert len(text) > 100
        if path.name == "report.pdf":  # the internal edition names what was left out, no value
            assert set(leaks(text)) <= {NAME, "wage"}
            for name in (NAME, "wage"):
                text = text.replace(name.encode(), b"")
        content += text
    assert leaks(content) == []
    assert b"Published with the links: age (in steps of 10)" in b" ".join(content.split())


def test_the_search_finds_what_is_not_withheld(people, tmp_path):
    np.savez(
        tmp_path / "all.npz",
        wage=people.dense_features(),
        place=np.array(list(map(str, people.attributes[NAME].classes))),
    )
    assert set(leaks(read_all_bytes(tmp_path))) == {VALUE, "wage", str(NUMBER)}
