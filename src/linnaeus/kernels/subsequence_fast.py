# mypy: ignore-errors
"""Subsequences with gaps that two sequences have in common.

    k_p(s, t) = sum over i_1 < .. < i_p and j_1 < .. < j_p with s[i] = t[j]
                of  decay^(i_p - i_1 + 1 + j_p - j_1 + 1)

Let S_l(i, j) be that sum for length l over the pairs that end in (i, j), and

    D_l(i, j) = sum_{i' <= i, j' <= j} decay^(i - i' + j - j') S_l(i', j').

Then, with [..] for 0 or 1,

    S_1(i, j) = decay^2 [s_i = t_j],     S_{l+1}(i, j) = decay^2 [s_i = t_j] D_l(i-1, j-1),
    D_l(i, j) = decay D_l(i-1, j) + R,   R = sum_{j' <= j} decay^(j - j') S_l(i, j'),

and k_p = sum_ij S_p(i, j): O(p |s| |t|) time, as in [Lodhi2002]. One row of every D_l
is kept; going down in l, level l + 1 reads row i - 1 of level l before level l moves on to row i.
"""

from linnaeus.compiled import loop, part


@loop
def subsequence_block(numbers, starts, row, column, p, decay, work, out):
    """out[i, j] = k_p of the sequences row + i and column + j.

    numbers, starts : the sequences, one after the other
    work : (p, longest + 1) work space
    """
    for i in range(out.shape[0]):
        s = numbers[starts[row + i] : starts[row + i + 1]]
        for j in range(out.shape[1]):
            t = numbers[starts[column + j] : starts[column + j + 1]]
            out[i, j] = _pair(s, t, p, decay, work)


@loop
def subsequence_diagonal(numbers, starts, p, decay, work, out):
    """out[i] = k_p of sequence i with itself."""
    for i in range(out.size):
        s = numbers[starts[i] : starts[i + 1]]
        out[i] = _pair(s, s, p, decay, work)


@part
def _pair(s, t, p, decay, work):
    """work[l, j + 1] = D_{l+1}(i, j); row p - 1 is not used."""
    square = decay * decay
    total = 0.0
    if s.size < p or t.size < p:
        return total
    work[:, : t.size + 1] = 0.0
    for i in range(s.size):
        for j in range(t.size):
            if s[i] == t[j]:
                total += square * (work[p - 2, j] if p > 1 else 1.0)
        for level in range(p - 2, -1, -1):
            R = 0.0
            for j in range(t.size):
                R *= decay
                if s[i] == t[j]:
                    R += square * (work[level - 1, j] if level > 0 else 1.0)
                work[level, j + 1] = decay * work[level, j + 1] + R
    return total
