"""AUDIT_HOME: made for its owner alone; a folder of others is neither used nor changed."""

from __future__ import annotations

import os
import stat

import pytest

from core.audit.store.database import Store
from core.errors import InputError
from core.home import find_home


def read_mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_the_owners_alone(tmp_path):
    home = find_home(tmp_path / "new" / "home")
    assert read_mode(home) == 0o700


@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o770, 0o1755, 0o2770])
def test_a_shared_folder_is_refused_and_left_as_it_is(tmp_path, mode):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    with pytest.raises(InputError, match=r"others cannot write to.*such as .*graph-privacy-audit"):
        find_home(shared)
    assert read_mode(shared) == mode
    inside = read_mode(find_home(shared / "graph-privacy-audit"))
    assert inside & 0o777 == 0o700  # a group's folder hands its group on


def test_an_own_folder_keeps_its_mode_and_what_is_put_in_is_private(tmp_path):
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        Store(tmp_path).close()
    finally:
        os.umask(before)
    assert read_mode(tmp_path) == 0o755
    made = {path.name: read_mode(path) & 0o077 for path in tmp_path.iterdir()}
    assert "audit.db" in made
    assert set(made.values()) == {0}


def test_a_file_is_no_home(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="must be a folder"):
        find_home(tmp_path / "file")
