"""bdrmapIT's file of annotations: SQLite, a table ``annotation`` with a row for each address."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from pipeline.errors import FormatError, first_line
from pipeline.judge.outputs.output import Output
from pipeline.model.addresses import parse_addr
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport, printable_path
from pipeline.model.topology import NO_ASN

MAGIC = b"SQLite format 3\x00"
_TABLE = "annotation"


def read_bdrmapit(path: Path) -> tuple[Output, ReadReport]:
    """Read owners of addresses, and their routers where alias sets were given.

    Raises
    ------
    FormatError
        If it is no such file, or holds no address.
    """
    report = ReadReport(printable_path(path), "bdrmapIT")
    words, asns, routers = [], [], []
    try:
        with closing(_connected(path)) as database:
            for addr, asn, router in _rows(database, path):
                try:
                    words.append(parse_addr(addr if isinstance(addr, str) else ""))
                except ValueError:
                    report.reject(_TABLE, "not an address", str(addr))
                    continue
                is_as = isinstance(asn, int) and 0 < asn <= MAX_ASN  # below 0: exchange points
                asns.append(asn if is_as else NO_ASN)
                routers.append(router if isinstance(router, str) else "")
    except sqlite3.Error as error:
        raise FormatError(path, "", f"not a whole SQLite file: {first_line(error)}") from error
    report.n_records = len(words)
    if not words:
        raise FormatError(path, _TABLE, "no address in it")
    addrs = np.array(words, np.uint64).reshape(-1, 2)
    output = Output.of_addresses("bdrmapIT", addrs, np.array(asns, np.int64), routers)
    return output, report


def _connected(path: Path) -> sqlite3.Connection:
    """The file, which may be anybody's: nothing of it is run, and nothing is written."""
    uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    database = sqlite3.connect(uri, uri=True)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    return database


def _rows(database: sqlite3.Connection, path: Path) -> Any:
    """Address, AS and router of each row."""
    made = database.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (_TABLE,)
    ).fetchone()
    # A virtual table, or a column that is computed, would run what the file says.
    if made is None or not str(made[0]).upper().lstrip().startswith("CREATE TABLE"):
        raise FormatError(path, "", f"has no table {_TABLE}: it is not of bdrmapIT")
    columns = database.execute(f"PRAGMA table_xinfo({_TABLE})").fetchall()
    plain = {str(name) for _, name, *_, hidden in columns if not hidden}
    if lacking := {"addr", "asn"} - plain:
        raise FormatError(path, _TABLE, f"has no column {', '.join(sorted(lacking))}")
    router = "router" if "router" in plain else "NULL"
    return database.execute(f"SELECT addr, asn, {router} FROM {_TABLE}")
