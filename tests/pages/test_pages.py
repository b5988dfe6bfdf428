"""Every page: with nothing loaded, and with a finished audit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.audit.access.authorised import AuthorisedService
from core.audit.asked.presets import Asked, list_attacks
from core.audit.asked.spec import AuditSpec
from core.audit.assemble import summarize
from core.audit.store.states import State
from core.findings import tables, tradeoff
from core.findings.labels import MAIN_UTILITY_METRICS
from core.findings.policy import find_policy
from core.registry import list_methods
from pages.ui import cache
from pages.ui.text import escape
from tests.pages.conftest import PAGES, OpenApp, open_tab

WITH_SUMMARY = ("attack", "defend", "risk", "homophily", "tradeoff")
NEED_AUDIT = ("risk", "homophily", "tradeoff", "report")


def texts(app) -> str:
    return "\n".join(item.value for item in [*app.markdown, *app.info, *app.caption])


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_with_nothing_loaded(open_app: OpenApp, page: str) -> None:
    app = open_app(page)
    assert [title.value for title in app.title] == [PAGES[page]]
    assert "graph" not in app.session_state  # nothing is loaded behind the user's back
    asks = page not in ("overview", "data", "audits", "help")
    assert ("No graph is open. Upload" in texts(app)) == asks


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_without_an_audit(open_app: OpenApp, page: str, example: str) -> None:
    app = open_app(page, graph=example)
    assert [title.value for title in app.title] == [PAGES[page]]
    assert app.session_state["graph"] == example
    if page in NEED_AUDIT:
        assert "No audit of social is open" in texts(app)


@pytest.mark.parametrize("page", PAGES)
def test_page_shows_a_finished_audit(open_app: OpenApp, page: str, audit_id: str) -> None:
    app = open_app(page, audit=audit_id)
    assert [title.value for title in app.title] == [PAGES[page]]
    assert app.session_state["audit"] == audit_id
    assert not app.error
    if page in WITH_SUMMARY:
        assert app.metric
        assert any(e.label == "Exact figures" for e in app.expander) or page == "tradeoff"


def test_data_page_counts_the_open_graph(open_app: OpenApp, example: str) -> None:
    app = open_app("data", graph=example)
    assert "1,000 people and 11,928 links" in texts(app)


def test_the_word_for_nodes_is_chosen_on_the_data_page(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("data", audit=audit_id)
    assert "34 people and" in texts(app)
    box = next(box for box in app.selectbox if box.label == "The nodes are")
    box.set_value("accounts").run()
    assert not app.exception
    assert "34 accounts and" in texts(app)
    graph = app.session_state["graph"]
    assert app.session_state["threats"][graph].spec_fields["noun"] == "accounts"


def test_audit_survives_moving_between_pages(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("attack", audit=audit_id)
    app.switch_page("../tradeoff.py").run()
    assert app.session_state["audit"] == audit_id
    assert app.query_params["audit"] in (audit_id, [audit_id])


def test_unknown_audit_is_said_and_nothing_opens(open_app: OpenApp) -> None:
    app = open_app("overview", audit="0123456789")
    assert any("audit" in item.value for item in app.warning)
    assert "graph" not in app.session_state


def test_attack_page_repeats_the_stored_numbers(open_app: OpenApp, audited, audit_id: str) -> None:
    from core.findings.strongest import summarize_attacks

    summary = summarize_attacks(audited[0].get_view(audit_id))
    app = open_app("attack", audit=audit_id)
    text = texts(app)
    assert escape(summary.sentence, 400) in text
    for line in summary.exact:
        assert escape(line, 600) in text
    shown = [(metric.label.rpartition(":] ")[-1], metric.value) for metric in app.metric]
    assert shown == [(escape(card.title, 120), card.value) for card in summary.cards]


def test_defend_page_lists_every_release(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("defend", audit=audit_id)
    table = app.table[0].value
    assert table["Release"].iloc[0] == "Original"
    assert len(table) == 2
    assert list(table["Guarantee"]) == ["none", "empirical only"]


def test_risk_draws_the_release_of_its_headline(
    open_app: OpenApp, audit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cards told of one release and the heatmap below showed another."""
    release = "random_deletion:strength=0.5"
    cache._remember.clear()
    monkeypatch.setattr("pages.ui.policy.chosen_release", lambda _view: release)
    monkeypatch.setattr("core.findings.exposure.find_least_exposing", lambda *_: "original")
    app = open_app("risk", audit=audit_id)
    cache._remember.clear()
    (shown,) = [w for w in app.multiselect if w.key.startswith("risk-releases")]
    assert shown.value == ["original", release]


def test_node_opens_from_the_address(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id, node="34")
    assert any("Node 34" in item.value for item in app.header)
    assert "among its neighbours" in texts(app)


def test_node_is_found_by_its_id(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id)
    app.text_input(key="find-node").set_value("33").run()
    assert app.session_state["node"] == "33"


def test_margins_of_both_kinds_are_drawn(open_app: OpenApp, audited, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id, threat="attribute")
    open_tab(app, "risk-tabs-5", "Attacker's confidence")
    assert app.selectbox(key="margin-attack").options == ["Label propagation", "Class prior"]
    value = (
        audited[0]
        .get_view(audit_id)
        .estimate("original", "label_propagation", "margin_absolute")
        .value
    )
    assert escape(f"Label propagation is on average {value:.2f}") in texts(app)
    app.segmented_control(key="margin-kind").set_value("absolute").run()
    assert not app.exception


def test_people_come_first_in_order_with_a_reason_each(
    open_app: OpenApp, audited, audit_id: str
) -> None:
    from core.findings.people import Secret, rank_people

    app = open_app("risk", audit=audit_id, threat="link")
    table = app.dataframe[0].value
    people = rank_people(audited[0].get_view(audit_id).nodes, Secret("link"))
    assert table["Node"].tolist() == people.node.tolist()
    assert table["Low"].notna().any()
    assert table["Low"].fillna(-1.0).is_monotonic_decreasing
    shown = app.dataframe[0].proto
    assert list(shown.column_order[:3]) == ["Node", "Low", "Advantage"]
    columns = json.loads(shown.columns)
    assert columns["Low"]["type_config"]["type"] == "progress"
    assert columns["Advantage"]["type_config"]["type"] == "number"
    others = [name for name in shown.column_order if name.startswith("On ")]
    drawn = [column for column in shown.column_order if column not in others[1:]]
    assert sum(columns[column]["width"] for column in drawn) <= 676 - 36  # a page of 1024 pixels
    assert (table["Why"].str.len() > 10).all()
    assert "50 %, since as many links as unlinked pairs" in texts(app).replace("\\", "")


def test_the_file_has_all_people_and_the_page_the_first(
    open_app: OpenApp, audit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages.ui import node_table

    files = {}
    monkeypatch.setattr(node_table, "MAX_ROWS", 5)
    monkeypatch.setattr(
        node_table, "download_table", lambda table, name: files.update({name: table})
    )
    app = open_app("risk", audit=audit_id, threat="link")
    shown, told = app.dataframe[0].value, files["nodes-link"]()
    assert len(shown) == 5 < len(told)
    assert f"The first 5 of {len(told)}" in texts(app)
    assert told.head(5)[["Node", "Why"]].equals(shown[["Node", "Why"]])
    assert (told["Why"].str.len() > 10).all()


def test_next_and_previous_follow_the_table(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id, threat="link")
    names = app.dataframe[0].value["Node"].tolist()
    app = open_app("risk", audit=audit_id, threat="link", node=names[0])
    assert app.button(key="person-previous").disabled
    app.button(key="person-next").click().run()
    assert app.session_state["node"] == names[1]
    assert app.query_params["node"] in (names[1], [names[1]])
    assert app.query_params["threat"] in ("link", ["link"])


def test_presets_say_how_long_they_take(open_app: OpenApp, example: str) -> None:
    text = texts(open_app("attack", graph=example))
    for title in ("Quick look", "Standard", "Thorough"):
        assert re.search(rf"\*\*{title}\*\*\n\d+( s| min)? to \d+ (s|min|h)\n", text), title


def test_unknown_node_is_said(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("risk", audit=audit_id, node="<b>nobody</b>")
    assert any("no node with this id" in item.value for item in app.warning)
    assert not any("<b>" in item.value.replace("\\<", "") for item in app.header)


def test_presets_choose_attacks(open_app: OpenApp, example: str) -> None:
    app = open_app("attack", graph=example)
    app.button(key="preset-thorough").click().run()
    boxes = [box for box in app.checkbox if re.fullmatch(r"attack\.\w+", str(box.key))]
    fitting = {
        f"attack.{method.info.key}" for method in list_attacks(Asked(links=True, column=True))
    }
    assert {box.key for box in boxes if box.value} == fitting
    assert app.number_input(key="num_repeats").value == 10
    app.button(key="preset-quick").click().run()
    assert not app.checkbox(key="attack.gae_cosine").value
    assert app.checkbox(key="attack.degree_product").value


def test_without_a_secret_only_people_can_be_looked_for(open_app: OpenApp, example: str) -> None:
    app = open_app("data", graph=example)
    for box in app.selectbox:
        if box.label == "Private column":
            box.select_index(0)
        if box.label == "Sensitive links":
            box.select("none")
    app.run()
    assert any("Nothing is secret yet" in item.value for item in app.warning)
    app.switch_page("../attack.py").run()
    assert app.checkbox(key="attack.adamic_adar").disabled
    assert app.checkbox(key="attack.label_propagation").disabled
    assert "Choose them on the Data page" in texts(app)
    assert not app.button(key="run").disabled  # position alone may give people away
    app.switch_page("../defend.py").run()
    app.checkbox(key="defense.netfense").check().run()
    assert "Cannot run here: needs a private" in texts(app)
    assert app.button(key="run").disabled  # a release that cannot be made is nowhere offered
    app.switch_page("../attack.py").run()
    for method in list_methods("identity_attack"):
        if not method.info.is_baseline:
            app.checkbox(key=f"attack.{method.info.key}").uncheck()
    app.run()
    assert app.button(key="run").disabled  # baseline attackers are a yardstick, no audit


@pytest.mark.parametrize(("page", "asks"), [("attack", True), ("decision", True), ("risk", False)])
def test_workers_start_where_somebody_is_about_to_run_an_audit(
    open_app, example, warmed, page, asks
):
    open_app(page, graph=example)
    assert bool(warmed) is asks


def test_the_history_does_not_call_done_what_was_skipped(
    open_app: OpenApp, audited, monkeypatch
) -> None:
    """Of an audit whose defense could not run, the history said 100 %."""
    stored = audited[0].list_audits()
    half = [replace(a, cells_skipped=a.cells_total // 2) for a in stored]
    ended = [replace(a, state=State.INTERRUPTED) for a in half]
    for audits, words in (
        (stored, "done"),
        (half, "done, {} skipped"),
        (ended, "interrupted"),  # as long as the column shows at 1024 pixels
    ):
        monkeypatch.setattr(audited[0], "list_audits", lambda audits=audits: audits)
        table = open_app("audits").dataframe[0].value
        assert table.state[0] == words.format(audits[0].cells_skipped)


def test_the_history_fits_a_narrow_page_and_ends_with_its_last_row(
    open_app: OpenApp, audited, monkeypatch
) -> None:
    """At 1024 pixels the duration was out of sight, and a sliver of an empty row followed."""
    stored = [replace(audited[0].list_audits()[0], policy="Partner under contract")]
    draw, heights = st.dataframe, []
    monkeypatch.setattr(
        st, "dataframe", lambda *a, **k: heights.append(k["height"]) or draw(*a, **k)
    )
    for count in (1, 12, 13):
        monkeypatch.setattr(audited[0], "list_audits", lambda count=count: stored * count)
        shown = open_app("audits").dataframe[0]
        assert shown.value.policy[0] == "Partner under contract"
        columns = json.loads(shown.proto.columns)
        assert sum(columns[name]["width"] for name in shown.value) <= 676 - 36
    assert heights == ["content", "content", "auto"]


def test_the_history_shows_steps_of_searches_and_studies_on_request(
    open_app: OpenApp, audited, monkeypatch
) -> None:
    """A search of ten trials filled the history."""
    stored = [audited[0].list_audits()[0]] * 4
    marks = ({"stage": "screening"}, {"stage": "race"}, {"stage": "confirmation"})
    listed = [replace(a, search=m) for a, m in zip(stored, (*marks, None), strict=True)]
    listed.append(replace(stored[0], study={"id": "s"}))
    for audits, shown in ((listed, 2), (listed[:2], 2), (listed[2:4], 2)):
        monkeypatch.setattr(audited[0], "list_audits", lambda audits=audits: audits)
        app = open_app("audits")
        assert len(app.dataframe[0].value) == shown
        assert f"{len(audits)} audits" in "\n".join(item.value for item in app.markdown)
        steps = [box for box in app.toggle if box.key == "show-steps"]
        assert bool(steps) is any(audit.is_step for audit in audits)
        for box in steps:
            assert str(sum(audit.is_step for audit in audits)) in box.label
            box.set_value(True).run()
            assert len(app.dataframe[0].value) == len(audits)


def test_skipped_parts_are_counted(audited, audit_id: str) -> None:
    service = audited[0]
    row = service._store.find_audit(audit_id)
    counts = {State.DONE: 3, State.SKIPPED: 2, State.FAILED: 1, State.CANCELLED: 4}
    found = summarize(row, counts)
    assert (found.cells_done, found.cells_skipped, found.cells_total) == (6, 2, 10)


def test_every_page_has_its_address(open_app: OpenApp, monkeypatch) -> None:
    """`/data` was "Page not found"."""
    listed = []
    navigate = st.navigation

    def list_pages(groups, **options):
        listed.append([each.url_path for group in groups.values() for each in group])
        return navigate(groups, **options)

    monkeypatch.setattr(st, "navigation", list_pages)
    open_app("overview")
    assert listed[0] == ["", *list(PAGES)[1:]]


def test_a_column_of_several_opens_into_one_each(open_app: OpenApp, audit_id, monkeypatch) -> None:
    """ "Click a cell to open the person" stood where a cell averaged 54."""
    drawn = []

    def click(figure, key="", on_select=None, **options):
        if key != "heatmap":
            return
        drawn.append(len(set(figure.data[1].x)))
        if len(drawn) == 1:
            point = {"customdata": list(figure.data[1].customdata[0])}
            chosen = SimpleNamespace(selection=SimpleNamespace(points=[point]))
            st.session_state["heatmap"] = chosen
            on_select()

    monkeypatch.setattr("core.figures.risk_heatmap.MIN_COLUMN_PIXELS", 160.0)
    monkeypatch.setattr("pages.ui.chart.st.plotly_chart", click)
    st.cache_resource.clear()  # figures with narrow columns
    app = open_app("risk", audit=audit_id)
    assert drawn == [5]
    assert "A column of several nodes expands first" in texts(app)
    assert "node" not in app.session_state
    app.run()
    assert app.session_state["heatmap-ranks"] == (1, 10)
    assert "mean of about" not in texts(app)
    app.button(key="heatmap-all").click().run()
    assert "heatmap-ranks" not in app.session_state
    st.cache_resource.clear()


def test_risk_runs_the_same_audit_with_the_repeats_it_lacks(
    open_app: OpenApp, audited, audit_id, monkeypatch
) -> None:
    """The remedy stood in words only."""
    started: list[AuditSpec] = []
    monkeypatch.setattr(
        AuthorisedService, "start_audit", lambda _, spec: started.append(spec) or audit_id
    )
    app = open_app("risk", audit=audit_id)
    button = app.button(key="more-repeats")
    assert button.label == "Run 2 more repeats"
    assert "people tested in one split once more" in texts(app)
    button.click().run()
    (spec,) = started
    assert spec == audited[0].get_view(audit_id).spec.update(num_repeats=4)


def test_the_tradeoff_starts_with_what_counts_additions_and_the_policys_limit(
    open_app: OpenApp, audit_id: str
) -> None:
    """It began with "links kept", which ignores additions, and a limit of .70 for one of .60."""
    app = open_app("tradeoff", audit=audit_id)
    assert app.selectbox(key="axis-utility").value in MAIN_UTILITY_METRICS
    assert "links_kept" not in MAIN_UTILITY_METRICS
    metric = app.selectbox(key="axis-risk-link").value
    limit = find_policy("public").find_limit("link", metric)
    layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
    (line,) = [s for s in layout["shapes"] if s["line"].get("dash") == "dash"]
    assert line["x0"] == line["x1"] == limit


def test_the_tradeoff_is_found_once_for_each_state_of_an_audit(
    open_app: OpenApp, audit_id: str, monkeypatch
) -> None:
    """Its axes and its answers were most of what each later visit cost."""
    first = open_app("tradeoff", audit=audit_id)
    for name in ("choose_axes", "choose_threat", "summarize_tradeoff", "compute_tradeoff"):
        monkeypatch.setattr(tradeoff, name, None)
    monkeypatch.setattr(tables, "list_metrics", None)
    again = open_app("tradeoff", audit=audit_id)
    assert [box.value for box in again.selectbox] == [box.value for box in first.selectbox]
    assert texts(again) == texts(first)


def test_of_two_modes_no_tab_is_without_a_picture(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    """No neighbour of a reader has a reader's value: the tab asked for a click on nothing."""
    tab, view = "Neighbours against role peers", audited[0].get_view(audit_id)
    assert tab in str(open_app("homophily", audit=audit_id))
    profile = view.profile.assign(ghratio_proximity=np.nan)
    monkeypatch.setattr(cache, "load_view", lambda _: replace(view, load_profile=lambda: profile))
    assert tab not in str(open_app("homophily", audit=audit_id))


def test_roc_curves_have_a_formula_once(open_app: OpenApp, audit_id: str, monkeypatch) -> None:
    """Preferential attachment headed them beside bars that showed it as Degree product alone."""

    def read_names() -> set[str]:
        st.cache_resource.clear()
        charts = open_app("attack", audit=audit_id).get("plotly_chart")
        traces = [trace for chart in charts[:2] for trace in json.loads(chart.proto.spec)["data"]]
        return {trace.get("name", "") for trace in traces if trace["type"] == "scatter"}

    assert "Common neighbours" in read_names()
    monkeypatch.setattr(tables, "find_doubles", lambda _results: {"common_neighbors"})
    assert "Common neighbours" not in read_names()


def test_every_chart_has_its_files(open_app: OpenApp, audit_id: str) -> None:
    """There was no PNG."""
    app = open_app("tradeoff", audit=audit_id)
    charts = app.get("plotly_chart")
    images = [c.proto for c in app.get("bidi_component")]
    assert len(charts) == len(images) == len([b for b in app.get("download_button")])
    for image in images:
        assert {'data-format="png"', 'data-format="svg"'} <= set(
            re.findall(r'data-format="\w+"', image.html_content)
        )


def test_defend_lists_what_a_running_audit_has_still_to_make(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    """It opened with a form of 36 defenses that could not be used."""
    view = audited[0].get_view(audit_id)
    bare = tuple(replace(each, facts={}) for each in view.releases)
    summary = replace(view.summary, state=State.RUNNING)
    for state in (view.summary, summary):
        shown = replace(view, summary=state, releases=bare)
        monkeypatch.setattr(cache, "load_view", lambda _audit, shown=shown: shown)
        said = texts(open_app("defend", audit=audit_id))
        is_running = state is summary
        assert ("Not made yet: " in said) is is_running
        assert ("Each node randomises its own links" in said) is not is_running
