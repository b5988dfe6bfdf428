"""Every public class, function and method of the core says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CORE = Path(__file__).parents[1] / "core"
FILES = sorted(p for p in CORE.rglob("*.py") if "versions" not in p.parts)
Definition = ast.ClassDef | ast.FunctionDef


def _definitions(body: list[ast.stmt]) -> Iterator[Definition]:
    for item in body:
        if isinstance(item, ast.ClassDef | ast.FunctionDef) and not item.name.startswith("_"):
            yield item


@cache
def _parse_all() -> dict[str, ast.Module]:
    """File of the core → its tree."""
    return {str(path.relative_to(CORE)): ast.parse(path.read_text()) for path in FILES}


@cache
def _list_classes() -> dict[str, ast.ClassDef]:
    """Classes of the core by name, private ones as well."""
    nodes = (node for tree in _parse_all().values() for node in ast.walk(tree))
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def _overrides(owner: ast.ClassDef, name: str) -> bool:
    """Whether a base has the method: its docstring there, or a library's manual, holds here too."""
    for base in owner.bases:
        expression = base.value if isinstance(base, ast.Subscript) else base
        short = ast.unparse(expression).rpartition(".")[2]
        if (parent := _list_classes().get(short)) is not None:
            if any(item.name == name for item in _definitions(parent.body)):
                return True
            if _overrides(parent, name):
                return True
        elif short == "Module" and name == "forward":
            return True
    return False


def _is_statement(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef)


def _speaks_for_itself(item: Definition) -> bool:
    """A property of one expression: its name and type are all there is to say."""
    if isinstance(item, ast.ClassDef) or sum(1 for _ in ast.walk(item) if _is_statement(_)) > 2:
        return False
    return any("property" in ast.unparse(decorator) for decorator in item.decorator_list)


def find_undocumented(tree: ast.Module) -> list[str]:
    found = []
    for item in _definitions(tree.body):
        if ast.get_docstring(item) is None:
            found.append(item.name)
        if isinstance(item, ast.ClassDef):
            found += [
                f"{item.name}.{inner.name}"
                for inner in _definitions(item.body)
                if ast.get_docstring(inner) is None
                and not _overrides(item, inner.name)
                and not _speaks_for_itself(inner)
            ]
    return found


def test_public_names_have_docstrings() -> None:
    found = {name: find_undocumented(tree) for name, tree in _parse_all().items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_missing_docstring_is_found() -> None:
    tree = ast.parse("class A:\n    'a'\n    def b(self): pass\ndef _c(): pass\ndef d(): pass")
    assert find_undocumented(tree) == ["A.b", "d"]
