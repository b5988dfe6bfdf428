"""Copies a database table to Parquet, by an address such as sqlite:///people.db#follows.

Rows are streamed in a read-only transaction; the file is then read like any other. Passwords never
appear in messages: use ~/.pgpass or PGPASSWORD.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from core.data.text_input import MAX_CELLS, check_cells
from core.errors import FormatError, InputError

ROWS = 50_000
"""Rows held in memory at a time."""
REMEDY = "write sqlite:///FILE#TABLE or postgresql+psycopg://USER@HOST/DATABASE#TABLE"


def copy_table(address: str, folder: Path) -> tuple[Path, int]:
    """Write the table as TABLE.parquet to `folder`; returns its number of rows.

    Integers and floats keep their type, everything else becomes text; InputError (FormatError,
    ResourceError) names address, rule and value.
    """
    import pyarrow as pa
    from pyarrow import parquet

    text, _, name = address.partition("#")
    try:
        url = sa.make_url(text)
        shown = url.render_as_string(hide_password=True)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("database", "must be an address", text[:20] + "…", REMEDY) from None
    if not name:
        raise InputError("database", "must be followed by # and a table", shown, REMEDY)
    what = f"table '{name}' of {shown}"
    path = folder / (re.sub(r"[^\w-]+", "_", name)[:80] + ".parquet")
    engine = _open_engine(url, shown)
    try:
        with engine.connect() as connection:
            options = {"stream_results": True, "yield_per": ROWS}
            if engine.dialect.name == "postgresql":
                options["postgresql_readonly"] = True
            connection = connection.execution_options(**options)
            table = _find_table(connection, name, what)
            kinds = [_choose_kind(column.type) for column in table.columns]
            schema = pa.schema(list(zip(table.columns.keys(), kinds, strict=True)))
            count = 0
            with parquet.ParquetWriter(path, schema) as writer:
                for rows in connection.execute(sa.select(table)).partitions():
                    count += len(rows)
                    check_cells(what, count, len(kinds), most=MAX_CELLS)
                    writer.write_table(_make_table(rows, schema, what))
    except sa.exc.SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        raise InputError("database", "must be readable", shown, reason) from None
    finally:
        engine.dispose()
    return path, count


def _open_engine(url: sa.URL, shown: str) -> sa.Engine:
    """A read-only engine; only databases that can enforce it are supported."""
    if url.get_backend_name() == "sqlite" and url.database:
        file = Path(url.database)
        if not file.is_file():
            raise InputError("database", "must be a file that exists", shown, "check the path")
        place = f"file:{quote(str(file.absolute()))}?mode=ro"
        return sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(place, uri=True))
    if url.get_backend_name() == "postgresql":
        try:
            return sa.create_engine(url)
        except ModuleNotFoundError as error:
            remedy = "pip install 'psycopg[binary]', and write postgresql+psycopg://…"
            raise InputError("database", "needs its driver", str(error.name), remedy) from None
    raise InputError("database", "must be of SQLite or PostgreSQL", url.drivername, REMEDY)


def _find_table(connection: sa.Connection, name: str, what: str) -> sa.Table:
    """A table or view, optionally of a schema."""
    schema, _, own = name.rpartition(".")
    try:
        return sa.Table(own, sa.MetaData(), schema=schema or None, autoload_with=connection)
    except sa.exc.NoSuchTableError:
        inspector = sa.inspect(connection)
        names = [*inspector.get_table_names(), *inspector.get_view_names()][:20]
        raise InputError(what, "must exist", remedy=f"tables: {', '.join(names)}") from None


def _choose_kind(kind: sa.types.TypeEngine[Any]) -> Any:
    import pyarrow as pa

    if isinstance(kind, sa.Integer):
        return pa.int64()
    return pa.float64() if isinstance(kind, sa.Numeric | sa.Float) else pa.string()


def _make_table(rows: Sequence[Any], schema: Any, what: str) -> Any:
    import pyarrow as pa

    columns = []
    for position, field in enumerate(schema):
        cells = [row[position] for row in rows]
        if pa.types.is_string(field.type):
            wrong = next((c for c in cells if isinstance(c, bytes | list | dict)), None)
            if wrong is not None:
                rule = "must hold single values"
                raise FormatError(f"{what}: column '{field.name}'", rule, type(wrong).__name__)
            cells = [None if cell is None else str(cell) for cell in cells]
        elif pa.types.is_floating(field.type):
            cells = [float(c) if _is_number(c) else c for c in cells]
        try:
            columns.append(pa.array(cells, field.type))
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            shown = str(error).partition("\n")[0]
            rule = f"must hold values of its type ({field.type})"
            raise FormatError(f"{what}: column '{field.name}'", rule, shown) from None
    return pa.Table.from_arrays(columns, schema=schema)


def _is_number(cell: Any) -> bool:
    """Decimals and whole numbers of a column of numbers; texts are not converted."""
    return cell is not None and not isinstance(cell, str | bytes | float)
