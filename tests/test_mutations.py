"""The list of planted bugs fits today's code; `python -m tests.mutations` plants them."""

from __future__ import annotations

import ast

import pytest

from tests.mutations import ROOT, Mutation, load_mutations


@pytest.mark.parametrize("mutation", load_mutations(), ids=lambda mutation: mutation.bug)
def test_a_planted_bug_fits_the_code(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text(encoding="utf-8")
    changed = mutation.plant(text)
    assert changed != text
    ast.parse(changed)
    named = [word.partition("::")[0] for word in mutation.tests.split() if ".py" in word]
    assert named
    assert all((ROOT / path).is_file() for path in named)


def test_layout_and_names_do_not_matter() -> None:
    text = "def f(a):\n    return g(\n        a,  # why\n        1,\n    )\n"
    mutation = Mutation("", "m:f", "g($x, 1)", "g($x, 2)", "")
    assert mutation.plant(text) == "def f(a):\n    return g(a, 2)\n"
    with pytest.raises(ValueError, match="0 places"):
        Mutation("", "m:f", "g($x, 3)", "0", "").plant(text)
    with pytest.raises(ValueError, match="2 places"):
        Mutation("", "m", "$x", "0", "").plant("a\nb\n")
