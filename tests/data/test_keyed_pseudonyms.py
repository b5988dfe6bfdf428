"""Pseudonyms of one recipient: the same in every release, and none that another recipient has."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

import numpy as np
import pytest

from core.attacks.identity.structural_alignment import StructuralAlignment
from core.attacks.network_alignment import align_networks
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.keyed_pseudonyms import (
    KeyedPseudonyms,
    check_domain,
    find_secret,
    make_secret,
    parse_secret,
)
from core.data.readers import load_graph
from core.data.second_graph import draw_identity_threat
from core.data.writers import write_release
from core.errors import InputError
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import two_communities

KEYS = [bytes([k]) * 32 for k in range(3)]
CLINIC = KeyedPseudonyms(KEYS[0], "clinic")
IDS = (*map(str, range(5000)), "Ada", "ada", " ada", "ådå", "")


def hash_by_hand(key: bytes, message: bytes) -> bytes:
    """HMAC by its definition: H(k ⊕ opad ‖ H(k ⊕ ipad ‖ m))."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def test_a_pseudonym_is_that_of_the_definition():
    domain_key = hash_by_hand(KEYS[0], b"clinic")
    expected = ["p" + hash_by_hand(domain_key, node.encode())[:16].hex() for node in IDS[-5:]]
    assert list(CLINIC.make_pseudonyms(IDS[-5:])) == expected


def test_no_two_people_domains_or_secrets_share_a_pseudonym():
    names = ("clinic", "Clinic", "clinic2", "university")
    found = [KeyedPseudonyms(key, name).make_pseudonyms(IDS) for key in KEYS for name in names]
    assert len({name for each in found for name in each}) == len(found) * len(IDS)
    assert CLINIC.make_pseudonyms(IDS) == found[0]
    # where the name ends and the id begins makes a difference
    assert KeyedPseudonyms(KEYS[0], "a").make_pseudonyms(("bc",)) != (
        KeyedPseudonyms(KEYS[0], "ab").make_pseudonyms(("c",))
    )


def test_the_secret_is_in_no_text_of_an_object():
    assert "secret" not in repr(CLINIC)
    assert KEYS[0].hex() not in repr(CLINIC)


def test_data_follow_their_people_and_the_order_tells_nothing():
    graph = two_communities(40)
    renamed = CLINIC.rename_nodes(graph)
    behind = dict(zip(CLINIC.make_pseudonyms(graph.node_ids), range(40), strict=True))
    nodes = np.array([behind[name] for name in renamed.node_ids])
    assert list(renamed.node_ids) == sorted(renamed.node_ids)
    codes = np.sort(nodes[renamed.edges], axis=1)
    assert sorted(codes.tolist()) == graph.edges.tolist()
    assert (renamed.column("label").codes == graph.column("label").codes[nodes]).all()
    assert (renamed.features == graph.features[nodes]).all()
    other = KeyedPseudonyms(KEYS[0], "university").rename_nodes(graph)
    assert renamed.edges.tolist() != other.edges.tolist()


def read_release(graph, folder, domain):
    keyed = KeyedPseudonyms(KEYS[0], domain)
    paths = write_release(Release(graph), folder, domain, {}, ("graphml",), pseudonyms=keyed)
    return load_graph(paths[0]).graph, paths[-1].read_text(encoding="utf-8")


def test_releases_of_one_domain_are_joined_by_pseudonyms_and_of_two_are_not(tmp_path):
    """By structure they are: pseudonyms hide names alone."""
    graph = load_dataset("karate").graph
    later = graph.with_edges(graph.edges[3:])
    first, told = read_release(graph, tmp_path, "clinic")
    second = read_release(later, tmp_path / "later", "clinic")[0]
    other = read_release(later, tmp_path, "university")[0]
    assert '"pseudonym_domain": "clinic"' in told
    assert KEYS[0].hex() not in told
    threat = draw_identity_threat(first, Seed(0), num_seeds=0, known=second)
    assert (threat.people >= 0).all()
    with pytest.raises(InputError, match="must have people in common"):
        draw_identity_threat(first, Seed(0), num_seeds=0, known=other)
    found = align_networks(first, other, Context(Seed(0)), [StructuralAlignment()])[0]
    mine, theirs = (
        KeyedPseudonyms(KEYS[0], name).make_pseudonyms(graph.node_ids)
        for name in ("clinic", "university")
    )
    pairs = set(zip(mine, theirs, strict=True))
    named = [first.node_ids[node] for node in found.nodes.tolist()]
    right = [pair in pairs for pair in zip(named, other.node_ids, strict=True)]
    assert sum(right) >= 10  # of 34; one is expected of a random order


def test_a_secret_is_made_once_and_closed_to_others(tmp_path, audit_home):
    path = tmp_path / "clinic.secret"
    assert find_secret(path) is None
    old = os.umask(0)
    try:
        secret = make_secret(path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o600
    assert find_secret(path) == secret
    assert len(secret) == 32
    with pytest.raises(FileExistsError):
        make_secret(path)
    assert make_secret(tmp_path / "other") != secret


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610])
def test_a_secret_that_others_may_use_is_refused(mode, tmp_path, audit_home):
    path = tmp_path / "secret"
    make_secret(path)
    path.chmod(mode)
    with pytest.raises(InputError, match=r"must be closed to others; got mode 6\d\d; .*chmod 600"):
        find_secret(path)


def test_a_secret_is_not_kept_in_the_home_whose_backup_leaves(tmp_path, audit_home):
    link = tmp_path / "link"
    link.symlink_to(audit_home / "graphs" / "secret")
    for path in (audit_home / "secret", audit_home / "graphs" / "secret", link):
        with pytest.raises(InputError, match="must be kept outside AUDIT_HOME"):
            find_secret(path)


@pytest.mark.parametrize("content", [b"", b"ab" * 31, b"ab" * 33, b"zz" * 32, b"\xff" * 64])
def test_what_is_no_secret_is_refused_and_not_shown(content, tmp_path, audit_home):
    path = tmp_path / "secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="must hold 64 hexadecimal digits; as publish") as error:
        find_secret(path)
    assert "abab" not in str(error.value)
    with pytest.raises(InputError, match="must be a file that can be read"):
        find_secret(tmp_path)
    assert parse_secret(b"ab" * 32 + b"\n", "secret") == b"\xab" * 32


def test_a_domain_has_a_name():
    assert check_domain(" cafe\u0301 ") == "caf\u00e9"
    assert check_domain("x" * 64) == "x" * 64
    for wrong in (None, "", "  ", "x" * 65):
        with pytest.raises(InputError, match="must be a name of 1 to 64 characters"):
            check_domain(wrong)


def test_ids_that_were_equal_stay_an_error():
    graph = two_communities(4)
    with pytest.raises(InputError, match="must be distinct"):
        replace(graph, node_ids=CLINIC.make_pseudonyms(("a", "a", "b", "c")))
