"""`publish --pseudonyms keyed:FILE --domain NAME`: one secret, a domain for each recipient."""

from __future__ import annotations

import json
import tarfile

import pytest

import core
import core.cli.main as command
from core.data.catalogue import load_dataset
from core.data.keyed_pseudonyms import KeyedPseudonyms
from core.data.readers import load_graph
from core.errors import InputError

IDS = load_dataset("karate").graph.node_ids


def publish(path, *more, defense="edge_rand:epsilon=3"):
    parts = ["publish", "--graph", "karate", "--defense", defense, "--out", str(path)]
    return command.main([*parts, *map(str, more)])


def test_one_secret_names_people_by_recipient(audit_home, tmp_path, capsys):
    file = tmp_path / "pseudonyms.secret"
    keyed = ("--pseudonyms", f"keyed:{file}", "--domain")
    assert publish(tmp_path / "a.csv", *keyed, "clinic") == 0
    said = capsys.readouterr().err
    assert f"A new secret of pseudonyms is in {file}. Whoever has it finds people" in said
    assert publish(tmp_path / "b.csv", *keyed, "clinic") == 0
    assert publish(tmp_path / "c.csv", *keyed, "university") == 0
    assert "secret" not in capsys.readouterr().err
    script = {"pseudonyms": f"keyed:{file}", "domain": "clinic"}
    core.publish(load_dataset("karate").graph, "edge_rand:epsilon=3", tmp_path / "d.csv", **script)
    secret = bytes.fromhex(file.read_text())
    for name, domain in {"a": "clinic", "b": "clinic", "c": "university", "d": "clinic"}.items():
        expected = set(KeyedPseudonyms(secret, domain).make_pseudonyms(IDS))
        graph = load_graph(tmp_path / f"{name}.csv").graph
        assert set(graph.node_ids) <= expected
        assert graph.num_nodes > 30, "but for those whom the noise left no link"
        record = json.loads((tmp_path / f"{name}.provenance.json").read_text())
        assert record["release"]["is_pseudonymous"]
        assert record["release"]["pseudonym_domain"] == domain
    check_kept_apart(secret, tmp_path, capsys)


def check_kept_apart(secret, folder, capsys):
    """The secret is in no release, no backup and no file of the home."""
    backup = folder / "backup.tar"
    assert command.main(["doctor", "--backup", str(backup)]) == 0
    with tarfile.open(backup) as archive:
        assert not [name for name in archive.getnames() if "secret" in name]
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".secret"]
    assert len(files) > 12
    for path in files:
        content = path.read_bytes()
        assert secret not in content
        assert secret.hex().encode() not in content.lower()
    capsys.readouterr()
    assert command.main(["trail"]) == 0
    assert "domain: university" in capsys.readouterr().out


def test_what_does_not_fit_is_refused_before_a_secret_is_made(audit_home, tmp_path, capsys):
    file = tmp_path / "s"
    keyed = ("--pseudonyms", f"keyed:{file}")
    for more, told in (
        (keyed, "domain of the pseudonyms must be a name of 1 to 64 characters"),
        ((*keyed, "--domain", " "), "must be a name of 1 to 64 characters"),
        (("--pseudonyms", "--domain", "clinic"), "--domain is for keyed pseudonyms only; got clin"),
        (("--no-pseudonyms", "--domain", "clinic"), "--domain is for keyed pseudonyms only"),
        (("--pseudonyms", "kyed:s"), "--pseudonyms must have no value, or be keyed:FILE; got kyed"),
        (("--pseudonyms", "keyed:"), "--pseudonyms must have no value, or be keyed:FILE; got key"),
    ):
        assert publish(tmp_path / "out.csv", *more) == 2
        assert told in capsys.readouterr().err
        assert not file.exists()
    inside = f"keyed:{audit_home / 'secret'}"
    assert publish(tmp_path / "out.csv", "--pseudonyms", inside, "--domain", "clinic") == 2
    assert "must be kept outside AUDIT_HOME" in capsys.readouterr().err
    for drawn in ("dp_1k", "dp_2k", "priv_skg", "node_private", "without_columns:defense=dp_1k"):
        assert publish(tmp_path / "out.csv", *keyed, "--domain", "clinic", defense=drawn) == 2
        assert "needs a defense that keeps the nodes" in capsys.readouterr().err
    assert file.exists()
    assert publish(file, *keyed, "--domain", "clinic", "--overwrite") == 2
    with pytest.raises(InputError, match="is for keyed pseudonyms only"):
        core.publish(load_dataset("karate").graph, "edge_rand", tmp_path / "d.csv", domain="x")
    assert not list(tmp_path.glob("out*"))
