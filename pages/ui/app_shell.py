"""Frame of every page: page list, sidebar and session. Run by `app.py`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui import preparation

if "is_open" in st.session_state or st.query_params:
    preparation.wait()
else:  # nothing was clicked, and no graph or audit is named
    preparation.wait_for_page()
st.session_state["is_open"] = True

from core.errors import AccessError, DamagedError
from pages.ui import drawing, fair_semaphore, login, memory, page, session, sidebar, sign_in, theme

PAGES = Path(__file__).parents[1]

st.set_page_config(
    page_title="Graph privacy audit", page_icon=PAGES.parent / "assets" / "icon.png", layout="wide"
)
memory.exempt_modules()
theme.apply_style()
with drawing.begin():
    login.let_in()
    session.restore_session()

    icons = sidebar.find_icons()
    start = [st.Page(PAGES / "overview.py", title="Overview", icon=":material/home:", default=True)]
    work = [
        st.Page(PAGES / "decision.py", title="Release decision", icon=icons["decision"]),
        st.Page(PAGES / "data.py", title="Data", icon=icons["data"]),
        st.Page(PAGES / "attack.py", title="Attack", icon=icons["attack"]),
        st.Page(PAGES / "defend.py", title="Defend", icon=icons["defend"]),
        st.Page(PAGES / "risk.py", title="Risk", icon=icons["risk"]),
        st.Page(PAGES / "map.py", title="Map", icon=icons["map"]),
        st.Page(PAGES / "homophily.py", title="Homophily (GHRatio)", icon=icons["homophily"]),
        st.Page(PAGES / "tradeoff.py", title="Trade-off", icon=icons["tradeoff"]),
        st.Page(PAGES / "report.py", title="Report", icon=icons["report"]),
    ]
    history = [st.Page(PAGES / "audits.py", title="Audits", icon=":material/history:")]
    if sign_in.has_sign_in():
        history.append(st.Page(PAGES / "users.py", title="Users", icon=":material/group:"))
    history.append(st.Page(PAGES / "help.py", title="Help", icon=":material/help:"))
    chosen = st.navigation({"": start, "Audit a graph": work, "More": history}, expanded=True)
    if chosen is not start[0]:
        preparation.wait()

    with fair_semaphore.PAGES.hold():
        with st.sidebar:
            sidebar.show_sidebar()
            login.show_person()
        try:
            chosen.run()
        except (AccessError, DamagedError) as error:
            page.show_error(error)
        finally:
            memory.collect_garbage()
preparation.go_on()
