#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mxnet_b1_ResNet050-v1.first_pass.nsys.sqlite.gz: the first pass of MXNet out of an Nsight Systems export of 2019.

    first_pass.py mxnet_b1_ResNet050-v1.nsys.sqlite.gz

Kept is what begins from 62.9 ms to 75.6 ms after the first kernel: 53 convolutions on one stream. The names of threads are dropped.
"""
import gzip
import pathlib
import shutil
import sqlite3
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "export.sqlite"
    with gzip.open(sys.argv[1]) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    database = sqlite3.connect(path)
    zero = database.execute("select min(start) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    names = set()
    for (table,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
        columns = {row[1] for row in database.execute(f"pragma table_info({table})")}
        if "start" in columns:
            database.execute(f"delete from {table} where start < ? or start >= ?", (zero + 62_900_000, zero + 75_600_000))
        for column in columns & {"nameId", "shortName", "demangledName"}:
            if table != "ThreadNames":
                names |= {row[0] for row in database.execute(f"select distinct {column} from {table}")}
    database.execute("delete from ThreadNames")
    known = {row[0] for row in database.execute("select id from StringIds")}
    database.executemany("delete from StringIds where id = ?", [(name,) for name in known - names])
    database.commit()
    database.execute("vacuum")
    database.close()
    out = pathlib.Path(__file__).parent / "mxnet_b1_ResNet050-v1.first_pass.nsys.sqlite.gz"
    with path.open("rb") as source, gzip.GzipFile(out, "wb", compresslevel=9, mtime=0) as target:
        shutil.copyfileobj(source, target)
