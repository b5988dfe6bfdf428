"""Tables of databases: what pandas writes comes back, nothing is written, and what is wrong."""

from __future__ import annotations

import sqlite3
import stat

import pandas as pd
import pytest
import sqlalchemy as sa

import core.cli.main as command
from core.cli.arguments import load_input
from core.data import database_table
from core.data.database_table import copy_table
from core.errors import InputError

LINKS = pd.DataFrame({"source": [7, 8, 9, 9], "target": [8, 9, 7, 9], "weight": [1.5, 2, 0.5, 1]})
PEOPLE = pd.DataFrame({"id": [7, 8, 9], "team": ["red", None, "blué"], "age": [30.0, 40.0, 50.0]})


@pytest.fixture
def file(tmp_path):
    """A database as pandas writes one."""
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as connection:
        LINKS.to_sql("follows", connection, index=False)
        PEOPLE.to_sql("people", connection, index=False)
        connection.execute("CREATE VIEW strong AS SELECT * FROM follows WHERE weight > 1")
    connection.close()
    return path


def load(*words):
    told = []
    parser = command.build_parser()
    options = parser.parse_args(["ledger", *words])
    command.split_private(options)
    return load_input(options, told.append), told


def test_both_tables_through_the_command_line(file):
    address = f"sqlite:///{file}"
    before = file.read_bytes()
    words = ("--graph", f"{address}#follows", "--nodes", f"{address}#people", "--private", "team")
    loaded, told = load(*words)
    graph = loaded.graph
    assert graph.name == "follows"
    assert graph.node_ids == ("7", "8", "9")
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.weights.tolist() == [1.5, 0.5, 2]
    assert graph.dense_features()[:, 0].tolist() == [30, 40, 50]
    team = graph.column("team")
    assert [(*team.classes, "?")[code] for code in team.codes] == ["red", "?", "blué"]
    assert told[:3] == [
        "4 rows of table 'follows'",
        "3 rows of table 'people'",
        "3 nodes, 3 links; dropped 1 self-loops, 0 duplicates, 0 reverse directions",
    ]
    assert file.read_bytes() == before
    assert load("--graph", f"{address}#strong")[0].graph.num_edges == 2


def test_rows_are_streamed(file, tmp_path, monkeypatch):
    monkeypatch.setattr(database_table, "ROWS", 3)
    sizes = []
    make = database_table._make_table
    monkeypatch.setattr(
        database_table,
        "_make_table",
        lambda rows, *more: sizes.append(len(rows)) or make(rows, *more),
    )
    path, count = copy_table(f"sqlite:///{file}#follows", tmp_path)
    assert (sizes, count) == ([3, 1], 4)
    pd.testing.assert_frame_equal(pd.read_parquet(path), LINKS)


def test_no_connection_can_write(file):
    engine = database_table._open_engine(sa.make_url(f"sqlite:///{file}"), "")
    with engine.connect() as connection, pytest.raises(sa.exc.OperationalError, match="readonly"):
        connection.execute(sa.text("DELETE FROM follows"))
    engine.dispose()


def test_a_table_of_postgresql_is_read_only(postgres, tmp_path):
    url = sa.make_url(f"{postgres}/postgres")
    engine = sa.create_engine(url)
    LINKS.to_sql("follows", engine, index=False, if_exists="replace")
    trigger = "CREATE OR REPLACE VIEW writes AS SELECT nextval('counted') AS source, 1 AS target"
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SEQUENCE IF NOT EXISTS counted"))
        connection.execute(sa.text(trigger))
    engine.dispose()
    address = url.render_as_string(hide_password=False)
    path, count = copy_table(f"{address}#follows", tmp_path)
    assert count == 4
    pd.testing.assert_frame_equal(pd.read_parquet(path), LINKS)
    assert copy_table(f"{address}#public.follows", tmp_path)[1] == 4
    with pytest.raises(InputError, match="read-only transaction"):
        copy_table(f"{address}#writes", tmp_path)


def execute(file, *lines):
    with sqlite3.connect(file) as connection:
        for line in lines:
            connection.execute(line)
    connection.close()


MALFORMED = [
    ("sqlite:///{file}", (), "followed by # and a table"),
    ("sqlite:///{file}#", (), "followed by # and a table"),
    ("sqlite:///{file}#nothing", (), "must exist.*tables: follows, people, strong"),
    ("sqlite:///{file}.not#follows", (), "must be a file that exists"),
    ("sqlite://#follows", (), "SQLite or PostgreSQL"),
    ("mysql://a:s3cret@host/db#follows", (), "SQLite or PostgreSQL; got mysql"),
    ("://#follows", (), "must be an address"),
    ("postgresql+psycopg://a:s3cret@127.0.0.1:1/db#follows", (), "must be readable"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source INT, target INT)",
                              "INSERT INTO bad VALUES ('x', 1)"), "values of its type"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source TEXT, target BLOB)",
                              "INSERT INTO bad VALUES ('x', x'00')"), "single values; got bytes"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source INT, target INT, weight REAL)",
                              "INSERT INTO bad VALUES (1, 2, 'much')"), "values of its type"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source INT, target INT)",
                              "INSERT INTO bad VALUES (NULL, 1)"), "no empty cells"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source INT)",), "two columns"),
    ("sqlite:///{file}#bad", ("CREATE TABLE bad (source INT, target INT)",), "two nodes"),
    ("sqlite:///{file}#bad", ("CREATE VIEW bad AS SELECT * FROM gone",), "must be readable"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "lines", "message"), MALFORMED)
def test_what_is_wrong_is_said_in_one_line_without_the_password(file, address, lines, message):
    execute(file, *lines)
    with pytest.raises(InputError, match=message) as error:
        load("--graph", address.format(file=file))
    assert "\n" not in str(error.value)
    assert "s3cret" not in str(error.value)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\x00" + bytes(range(256)))
    path.chmod(stat.S_IRUSR)
    with pytest.raises(InputError, match="must be readable"):
        load("--graph", f"sqlite:///{path}#follows")


def test_more_cells_than_fit_are_refused_while_they_stream(file, tmp_path, monkeypatch):
    monkeypatch.setattr(database_table, "MAX_CELLS", 9)
    monkeypatch.setattr(database_table, "ROWS", 2)
    with pytest.raises(InputError, match="at most 9 cells"):
        copy_table(f"sqlite:///{file}#follows", tmp_path)
