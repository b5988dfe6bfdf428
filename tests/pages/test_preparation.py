"""What is made ready while the browser loads: all that the first page needs, or an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from core.audit.store.database import Store
from pages.ui import service, sign_in

ROOT = Path(__file__).parents[2]

OPEN_FIRST_PAGE = """
import json
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from pages.ui import preparation, service

preparation.start()
preparation.wait()
assert service._service is not None
before = set(sys.modules)
app = AppTest.from_file(Path("pages/ui/app_shell.py").resolve(), default_timeout=120).run()
assert not app.exception, app.exception
assert app.header
late = [n for n in set(sys.modules) - before if n.startswith(("core.", "pages."))]
heavy = {"torch", "networkx", "distributed", "reportlab"} & set(sys.modules)
print(json.dumps([sorted(late), sorted(heavy)]))
service.close_service()
"""


OPEN_NEW_HOME = """
import json
import os
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from pages.ui import preparation, service

def read(app):
    assert not app.exception, app.exception
    return [f"{i.type}: {getattr(i, 'proto', None)}" for i in app]

preparation.LATEST_S, preparation.PAUSE_S = 600.0, 600.0
preparation.start()
try:
    preparation.wait_for_page()
    app = AppTest.from_file(Path("pages/ui/app_shell.py").resolve(), default_timeout=120).run()
    first, imported = read(app), sorted(sys.modules)
    assert service._service is None
    again = read(app.run())
    assert service._service is not None
finally:
    preparation.end()
service.close_service()
print(json.dumps([imported, first, again]))
"""

HEAVY = {"dask", "distributed", "networkx", "numba", "pandas", "psutil", "pyarrow", "pydantic"}
HEAVY |= {"reportlab", "scipy", "sklearn", "sqlalchemy", "torch"}


def run_python(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    env = {"AUDIT_HOME": str(home), "PATH": "/usr/bin:/bin", "HOME": str(home.parent)}
    env["AUDIT_DEVICE"] = "cpu"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=300)


def test_the_first_page_imports_nothing_more(tmp_path):
    done = run_python(OPEN_FIRST_PAGE, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    late, heavy = json.loads(done.stdout)
    assert not late, f"imported after the preparation: {late}"
    assert not heavy, f"not needed by the first page: {heavy}"


def test_a_new_home_is_shown_before_what_it_does_not_need_is_imported(tmp_path):
    done = run_python(OPEN_NEW_HOME, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    imported, first, again = json.loads(done.stdout)
    assert {"numpy", "pages.ui.load_form"} <= set(imported)
    assert not HEAVY & set(imported), "not needed by the first page"
    assert not [name for name in imported if name.startswith("core.audit.service")]
    assert any("Overview" in item for item in first)
    assert first == again  # drawn from the store


def test_a_home_is_new_to_its_only_user_until_something_is_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path))
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    service.use_service(None)
    assert service.is_new()
    assert service.list_audits() == []
    with monkeypatch.context() as patch:
        patch.setenv("AUDIT_DATABASE", "postgresql://database/audits")
        assert not service.is_new()
    Store(tmp_path).close()
    assert not service.is_new()


def test_nothing_is_new_to_who_signs_in(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path))
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    monkeypatch.setattr(sign_in, "has_sign_in", lambda: True)
    service.use_service(None)
    assert not service.is_new()


def test_a_store_that_cannot_be_opened_ends_the_server_with_one_line(tmp_path):
    home = tmp_path / "home"
    home.write_text("")
    code = "from pages.ui import preparation; preparation.start(); preparation.wait(); print('on')"
    done = run_python(code, home)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert str(home) in done.stderr
    assert "on" not in done.stdout
