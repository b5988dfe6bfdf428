"""The pages on a service of the tests' own, with one small finished audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import sqlalchemy as sa
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.audit.store.schema import HolderRow
from core.data.catalogue import load_dataset
from pages.ui import page as ui_page
from pages.ui import service as pages_service
from pages.ui.threat_choice import ThreatChoice
from tests.inline import run_inline

APP_SHELL = Path(__file__).parents[2] / "pages" / "ui" / "app_shell.py"
TIMEOUT_S = 120

PAGES = {
    "overview": "Overview",
    "decision": "Release decision",
    "data": "Data",
    "attack": "Attack",
    "defend": "Defend",
    "risk": "Risk",
    "map": "Map",
    "homophily": "Homophily (GHRatio)",
    "tradeoff": "Trade-off",
    "report": "Report",
    "audits": "Audits",
    "help": "Help",
}
"""File name of every page → its heading."""

OpenApp = Callable[..., AppTest]


@pytest.fixture
def all_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages draw every tab and every fold."""

    def draw_all(key, contents):
        for draw in contents.values():
            draw()

    monkeypatch.setattr(ui_page, "show_tabs", draw_all)
    monkeypatch.setattr(ui_page, "show_folded", lambda label, key, draw, **_: draw())


@pytest.fixture(scope="session", autouse=True)
def scanned_once() -> Iterator[None]:
    """Streamlit looks for components of its own in all that is installed, once for each session of
    a test: half of the time of one."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AuditService, str]]:
    """A service whose home holds one finished audit, and that audit's id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        home = tmp_path_factory.mktemp("home")
        graph = load_dataset("karate").graph
        spec = AuditSpec.check_spec(
            {
                "graph_name": "karate",
                "graph_hash": graph.content_hash,
                "private": "label",
                "known": 0.3,
                "hide_links": 0.2,
                "num_repeats": 2,
                "attacks": [
                    MethodChoice(key=key)
                    for key in (
                        "common_neighbors",
                        "degree_product",
                        "label_propagation",
                        "class_prior",
                    )
                ],
                "defenses": [MethodChoice(key="random_deletion", config={"strength": 0.5})],
            }
        )
        view = run_inline(spec, graph, home, "karate")
        service = AuditService(home)
        yield service, view.summary.id
        service.close()


@pytest.fixture
def warmed(audited: tuple[AuditService, str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gets an entry each time a page asks for workers, which these tests do without."""
    asked: list[str] = []
    monkeypatch.setattr(audited[0], "warm_up", lambda: asked.append("workers"))
    return asked


@pytest.fixture
def open_app(audited: tuple[AuditService, str], warmed: list[str]) -> Iterator[OpenApp]:
    """`open_app(page, **address)`: a fresh session on a page; the service is the tests' own."""
    pages_service.use_service(audited[0])

    def open_page(page: str, **address: str) -> AppTest:
        app = AppTest.from_file(APP_SHELL, default_timeout=TIMEOUT_S)
        for name, value in address.items():
            app.query_params[name] = value
        if page != "overview":
            app.switch_page(f"../{page}.py")
        app.run()
        assert not app.exception, app.exception
        return app

    yield open_page
    pages_service.use_service(None)
    with audited[0]._store.write() as connection:  # what a test chose is kept for no other
        connection.execute(sa.update(HolderRow).values(choice=sa.null()))


@pytest.fixture
def example(audited: tuple[AuditService, str]) -> str:
    """Hash of the generated network of 1,000 people, stored but in no audit, as just loaded."""
    graph = load_dataset("social").graph
    graph_hash = audited[0].save_graph(graph)
    choice = ThreatChoice.propose(graph, "affiliation", "label")
    audited[0].save_choice(graph_hash, choice.write())
    return graph_hash


def open_tab(app: AppTest, tabs: str, label: str) -> AppTest:
    """Open a tab: its content runs only then."""
    app.session_state[tabs] = label
    app.run()
    assert not app.exception, app.exception
    return app


@pytest.fixture
def audit_id(audited: tuple[AuditService, str]) -> str:
    return audited[1]
