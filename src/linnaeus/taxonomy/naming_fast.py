# mypy: ignore-errors
"""Equal names get equal numbers, in order of first appearance: one pass over their bytes.

All names lie behind one another in one buffer, each ended by a zero byte. A name is hashed as it
is read (FNV-1a, 64 bits) and looked up in an open-addressing table of the names met so far; the
bytes decide when hashes agree, so the result is exact.
"""

from __future__ import annotations

import numpy as np

from linnaeus.compiled import loop


@loop
def number_by_appearance(buffer, table, hashes, starts, code, first):
    """Write the number of every name into `code`; return how many different names there are.

    buffer : (n_bytes,) uint8   names, each ended by a zero byte
    table  : (2^k,) int32       work space, -1 everywhere, more than twice the number of names
    hashes : (n_names,) uint64  work space: hash of each different name
    starts : (n_names,) int64   work space: where each different name starts
    code   : (n_names,) int32   result: the number of each name
    first  : (n_names,) int32   result: the entry at which each number first appeared
    """
    mask = np.uint64(table.size - 1)
    n_different = 0
    start = 0
    for e in range(code.size):
        h = np.uint64(14695981039346656037)
        end = start
        while buffer[end] != 0:
            h = (h ^ np.uint64(buffer[end])) * np.uint64(1099511628211)
            end += 1
        slot = (h ^ (h >> np.uint64(32))) & mask
        while True:
            known = table[slot]
            if known < 0:
                table[slot] = n_different
                hashes[n_different] = h
                starts[n_different] = start
                first[n_different] = e
                code[e] = n_different
                n_different += 1
                break
            if hashes[known] == h:
                i = 0  # the zero byte at the end is compared too
                while buffer[start + i] == buffer[starts[known] + i] and start + i < end:
                    i += 1
                if start + i == end and buffer[starts[known] + i] == 0:
                    code[e] = known
                    break
            slot = (slot + np.uint64(1)) & mask
        start = end + 1
    return n_different
