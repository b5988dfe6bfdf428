"""The list of planted bugs fits today's code; `python -m tests.mutations` plants them."""

from __future__ import annotations

import pytest

from tests.mutations import MUTATIONS, ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.bug)
def test_what_a_mutation_replaces_is_there_once(mutation):
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    named = [word.partition("::")[0] for word in mutation.tests.split() if ".py" in word]
    assert named
    assert all((ROOT / path).is_file() for path in named)
