"""What assets/deploy says is what the program understands; the proxy is tried where it is there."""

from __future__ import annotations

import http.client
import os
import re
import shlex
import shutil
import subprocess
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from core.audit.store.roles import RoleBook
from core.cli.main import build_parser
from tests.browser.conftest import find_free_port

DEPLOY = Path(__file__).parents[2] / "assets" / "deploy"
ROOT = DEPLOY.parents[1]
PYTHON = ("python", ".venv/bin/python", "/opt/graph-audit/.venv/bin/python")
needs_caddy = pytest.mark.skipif(shutil.which("caddy") is None, reason="no caddy here")


def find_commands() -> dict[str, list[str]]:
    """Place → command, of all that starts the program."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    found = {f"compose: {name}": s["command"] for name, s in services.items() if "command" in s}
    (line,) = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "graph-audit.service").read_text(), re.M)
    found["systemd"] = shlex.split(line)
    for name in ("README.md", "workers.sbatch"):
        text = (DEPLOY / name).read_text().replace("\\\n", " ")
        for number, line in enumerate(
            re.findall(r"^(?:srun )?((?:\S*/)?python -m .*)$", text, re.M)
        ):
            found[f"{name} {number}"] = shlex.split(os.path.expandvars(line))
    return found


@pytest.mark.parametrize("place", find_commands())
def test_commands_are_understood(place):
    from streamlit.config import get_config_options

    command = find_commands()[place]
    if command[0] in PYTHON:
        command = command[2:]
    if command[0] == "core":
        arguments = [word.replace("$AUDIT_SCHEDULER", "tls://host:8786") for word in command[1:]]
        assert callable(build_parser().parse_args(arguments).run)
        return
    assert command[:3] == ["streamlit", "run", "app.py"]
    for option in command[3:]:
        name, equals, _ = option.removeprefix("--").partition("=")
        assert equals
        assert name in get_config_options()


def test_what_compose_names_is_there():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert {"app-1", "app-2", "scheduler", "worker", "database", "proxy"} == set(services)
    for service in services.values():
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
        assert set(service.get("depends_on", ())) <= set(services)
        assert set(service["networks"]) <= set(compose["networks"])
        assert "ports" not in service or service is services["proxy"]
    assert compose["networks"]["inside"]["internal"] is True
    known = set(re.findall(r"AUDIT_\w+", (ROOT / "assets/help/command_line.md").read_text()))
    assert {n for n in services["app-1"]["environment"] if n.startswith("AUDIT_")} <= known
    served = services["proxy"]["environment"]["AUDIT_SERVERS"].split()
    assert [name.partition(":")[0] for name in served] == ["app-1", "app-2"]


def test_the_image_holds_what_the_program_needs():
    text = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (.+) \S+$", text, re.M)
    names = {name for line in copied for name in line.split()}
    for name in names:
        assert (ROOT / name).exists(), name
    assert {"app.py", "core", "pages", "assets", ".streamlit/config.toml"} <= names
    wanted = (ROOT / "tests" / "requirements.txt").read_text() + (
        ROOT / "pyproject.toml"
    ).read_text()
    for pin in re.findall(r'"([\w\[\]]+==[\d.]+)"', text):
        assert pin in wanted


def test_examples_are_what_is_read():
    book = RoleBook.model_validate(tomllib.loads((DEPLOY / "roles.example.toml").read_text()))
    assert book.find_role("i x", "eve@example.org") == "approver"
    assert book.find_role("https://id.example.org 248289761001") == "administrator"
    auth = tomllib.loads((DEPLOY / "secrets.example.toml").read_text())["auth"]
    assert auth["redirect_uri"].endswith("/oauth2callback")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")
def test_the_clusters_certificate_is_private(tmp_path):
    subprocess.run([DEPLOY / "certificates.sh"], cwd=tmp_path, check=True, capture_output=True)
    from core.audit.jobs.engine import make_security

    assert (tmp_path / "cluster.key").stat().st_mode & 0o077 == 0
    assert make_security(*(str(tmp_path / f"cluster.{x}") for x in ("pem", "pem", "key")))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_the_unit_is_valid(tmp_path):
    unit = (DEPLOY / "graph-audit.service").read_text()
    unit = unit.replace("/opt/graph-audit/.venv/bin/python", "/bin/true").replace("=audit", "=root")
    unit = unit.replace("WorkingDirectory=/opt/graph-audit", f"WorkingDirectory={tmp_path}")
    (tmp_path / "graph-audit.service").write_text(unit)
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / "graph-audit.service")]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if "graph-audit" in line]
    assert (done.returncode, lines) == (0, []), done.stderr


def test_the_batch_script_is_a_script():
    subprocess.run(["bash", "-n", DEPLOY / "workers.sbatch"], check=True)


class Answer(BaseHTTPRequestHandler):
    name = ""

    def do_GET(self) -> None:
        body = f"{self.name} {len(self.headers.get('Cookie', ''))}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def run_caddy(tmp_path: Path, servers: list[int], port: int) -> Iterator[None]:
    environment = {
        **os.environ,
        "AUDIT_NAME": f"http://127.0.0.1:{port}",
        "AUDIT_SERVERS": " ".join(f"127.0.0.1:{server}" for server in servers),
        "XDG_DATA_HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    arguments = ["--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
    checked = subprocess.run(
        ["caddy", "validate", *arguments], env=environment, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen(
        ["caddy", "run", *arguments], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def ask(port: int, **headers: str) -> tuple[int, str, str]:
    """Status, body and cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/", headers=headers)
    answer = connection.getresponse()
    text, cookie = answer.read().decode(), answer.headers.get("Set-Cookie", "")
    connection.close()
    return answer.status, text, cookie.partition(";")[0]


@needs_caddy
def test_the_proxy_keeps_a_browser_on_its_server_and_takes_large_cookies(tmp_path):
    port = find_free_port()
    servers = [
        ThreadingHTTPServer(("127.0.0.1", 0), type("Named", (Answer,), {"name": name}))
        for name in ("one", "two")
    ]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with run_caddy(tmp_path, [server.server_address[1] for server in servers], port):
            end = time.monotonic() + 30
            while True:
                try:
                    if ask(port)[0] == 200:
                        break
                except OSError:
                    assert time.monotonic() < end
                    time.sleep(0.1)
            browsers = [ask(port)[1:] for _ in range(12)]
            assert {text.split()[0] for text, _ in browsers} == {"one", "two"}
            for text, cookie in browsers:
                again = [ask(port, Cookie=cookie)[1].split()[0] for _ in range(3)]
                assert again == [text.split()[0]] * 3
            status, text, _ = ask(port, Cookie="x=" + "y" * 30_000)
            assert (status, text.split()[1]) == (200, "30002")
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
