"""All tables by their names, paper by paper; last, all methods on all collections."""

from __future__ import annotations

from studies import cai, gopal, gopal_full, matrix, rousu
from studies.tables import Table

TABLES: dict[str, Table] = {
    table.name: table
    for source in (rousu, cai, gopal, gopal_full, matrix)
    for table in source.TABLES
}
