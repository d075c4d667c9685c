"""Small collections on disk."""

import gzip

import pytest

TREE = "root\tA\nroot\tB\nA\tA1\nA\tA2\n"


@pytest.fixture
def folder(tmp_path):
    """A function that writes files into one folder and answers the folder."""

    def write(files, taxonomy=TREE):
        files = dict(files) if taxonomy is None else {"taxonomy.tsv": taxonomy, **files}
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path

    return write
