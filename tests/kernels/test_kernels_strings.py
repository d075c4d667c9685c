"""String kernels against explicit features: every substring and subsequence enumerated."""

import gzip
import itertools
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer

from linnaeus.errors import UserError
from linnaeus.kernels import (
    BagOfWordsKernel,
    LinearKernel,
    SpectrumKernel,
    SubsequenceKernel,
    SyllableSequenceKernel,
    WordSequenceKernel,
    normalize,
    syllables,
)
from linnaeus.kernels.sequences import encode
from linnaeus.kernels.spectrum import count_windows
from linnaeus.text import TfidfVectorizer

STRINGS = st.lists(st.text("abc", max_size=7), min_size=1, max_size=5)
TOKENS = st.lists(st.lists(st.sampled_from([1, "b", (2, 3), None]), max_size=6), min_size=1)


def substrings(s, length, presence=False):
    found = Counter(tuple(s[i : i + length]) for i in range(len(s) - length + 1))
    return Counter(set(found)) if presence else found


def subsequences(s, length, decay):
    found = Counter()
    for at in itertools.combinations(range(len(s)), length):
        found[tuple(s[i] for i in at)] += decay ** (at[-1] - at[0] + 1)
    return found


def dot(a, b):
    return sum(a[u] * b[u] for u in a)


def table(A, B, features):
    return np.array([[dot(features(s), features(t)) for t in B] for s in A], dtype=float)


def test_golden_kernels(golden_file):
    for case in golden_file("kernels")["kernels"]:
        if case["kernel"] == "gapweighted":
            kernel = SubsequenceKernel(case["p"], case["lambda"])
        else:
            kernel = SpectrumKernel(case["p"], case.get("q"))
        found = kernel.gram([case["s"]], [case["t"]], dtype=np.float64)
        assert_allclose(found, [[case["value"]]], rtol=1e-12)


def test_golden_tfidf_through_the_linear_kernel(golden_file):
    case = golden_file("kernels")["tfidf"]
    X = TfidfVectorizer(norm=None, dtype=np.float64).fit_transform(case["docs"])
    plain, unit = LinearKernel(), normalize(LinearKernel())
    assert_allclose(plain.gram(X, dtype=float)[0, 1], case["dot01"], rtol=1e-12)
    assert_allclose(unit.gram(X, dtype=float)[0, 1], case["cos01"], rtol=1e-12)


@given(STRINGS | TOKENS, STRINGS | TOKENS, st.integers(1, 4), st.booleans())
def test_spectrum_is_the_product_of_substring_counts(A, B, p, presence):
    expected = table(A, B, lambda s: substrings(s, p, presence))
    kernel = SpectrumKernel(p, presence=presence)
    assert_array_equal(kernel.gram(A, B), expected)
    assert_array_equal(kernel.gram(A), table(A, A, lambda s: substrings(s, p, presence)))
    assert_array_equal(kernel.diagonal(A), np.diag(kernel.gram(A)))


@given(STRINGS, st.integers(1, 3), st.integers(0, 2))
def test_a_range_is_the_sum_of_its_spectra(A, q, more):
    spectra = [SpectrumKernel(n).gram(A) for n in range(q, q + more + 1)]
    assert_array_equal(SpectrumKernel(q + more, q).gram(A), sum(spectra))


@pytest.mark.parametrize("p", [1, 5, 21, 40])
def test_long_substrings_of_a_large_alphabet_are_exact(p):
    rng = np.random.default_rng(p)
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 1000)))
    motif = "".join(rng.choice(list(letters), 60))
    A = [motif, "".join(rng.choice(list(letters), 50)) + motif, motif[5:50] + "x" + motif, ""]
    assert_array_equal(SpectrumKernel(p).gram(A), table(A, A, lambda s: substrings(s, p)))


def test_windows_do_not_cross_from_one_sequence_to_the_next():
    assert_array_equal(SpectrumKernel(2).gram(["a", "b", "ab", ""]), np.diag([0, 0, 1, 0]))


def test_protein_sequences(shared):
    with gzip.open(shared("data", "enzyme", "train.jsonl.gz"), "rt") as lines:
        A = [json.loads(line)["text"] for line in itertools.islice(lines, 200)]
    X = CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False).fit_transform(A)
    K = SpectrumKernel(4).gram(A)
    assert_array_equal(K, (X @ X.T).toarray())
    assert_allclose(normalize(SpectrumKernel(4)).gram(A), normalize(K), rtol=1e-6)


def test_columns_are_in_lexicographic_order():
    encoded = encode(["banana", "cab"])
    counts, at = count_windows(encoded, 2)
    text = "bananacab"
    assert [text[i : i + 2] for i in at] == ["ab", "an", "ba", "ca", "na"]
    assert counts.toarray().tolist() == [[0, 2, 1, 0, 2], [1, 0, 0, 1, 0]]


@given(
    STRINGS | TOKENS, STRINGS | TOKENS, st.integers(1, 4), st.sampled_from([0.1, 0.5, 0.93, 1.0])
)
def test_subsequences_are_those_enumerated(A, B, p, decay):
    kernel = SubsequenceKernel(p, decay)
    expected = table(A, B, lambda s: subsequences(s, p, decay))
    assert_allclose(kernel.gram(A, B, dtype=float), expected, rtol=1e-12, atol=0)
    square = kernel.gram(A, dtype=float)
    assert_allclose(square, table(A, A, lambda s: subsequences(s, p, decay)), rtol=1e-12)
    assert_array_equal(kernel.diagonal(A), np.diag(square))
    assert_array_equal(kernel.pairs(A, B).diagonals()[1], kernel.diagonal(B))


def test_length_one_counts_letters():
    A = ["banana", "band"]
    assert_allclose(SubsequenceKernel(1, 1.0).gram(A), SpectrumKernel(1).gram(A))


def test_sequences_of_words_and_syllables():
    A, B = ["The cat WAS chased.", "a dog"], ["the fat cat chased", ""]
    tokens = [["the", "cat", "was", "chased"], ["a", "dog"]]
    others = [["the", "fat", "cat", "chased"], []]
    word = WordSequenceKernel(2, 0.8).gram(A, B, dtype=float)
    assert_array_equal(word, SubsequenceKernel(2, 0.8).gram(tokens, others, dtype=float))
    assert_array_equal(word, WordSequenceKernel(2, 0.8).gram(tokens, others, dtype=float))
    assert WordSequenceKernel(1, 1.0, lowercase=False).gram(["The"], ["the"])[0, 0] == 0
    by_syllable = SyllableSequenceKernel(2, 0.5).gram(["Taxonomy!"], ["My taxi"], dtype=float)
    parts = [["ta", "xo", "no", "my"]], [["my", "ta", "xi"]]
    assert_array_equal(by_syllable, SubsequenceKernel(2, 0.5).gram(*parts, dtype=float))


def test_bag_of_words_folds_case():
    A = ["The cat was chased by the fat dog", "the dog was fat", "A cat and a dog", ""]
    tokens = [text.casefold().split() for text in A]
    expected = table(tokens, tokens, Counter)
    assert_array_equal(BagOfWordsKernel().gram(A), expected)
    assert_array_equal(BagOfWordsKernel().gram(tokens, tokens), expected)
    assert expected[0, 1] == 5  # the twice
    assert BagOfWordsKernel(lowercase=False).gram(A)[0, 1] == 4


@pytest.mark.parametrize(
    "word, expected",
    [
        ("hierarchy", "hie rar chy"),
        ("Margin", "Mar gin"),
        ("naïveté", "naï ve té"),
        ("question", "ques tion"),
        ("problem", "pro blem"),
        ("rhythm", "rhythm"),
        ("e", "e"),
        ("b2b", "b2b"),
        ("extra", "ex tra"),
        ("angstrom", "angs trom"),
    ],
)
def test_syllables(word, expected):
    assert syllables(word) == expected.split()


@given(st.text("abehlqrstuyïÉ1x", max_size=12))
def test_syllables_make_the_word(word):
    parts = syllables(word)
    assert "".join(parts) == word and all(parts)


A_FEW = ["abc", "ab"]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SpectrumKernel(0), "p=0, q=None. Use whole numbers"),
        (lambda: SpectrumKernel(2, 3), "p=2, q=3"),
        (lambda: SpectrumKernel(2.5), "p=2.5"),
        (lambda: SpectrumKernel("3"), "p='3'"),
        (lambda: SubsequenceKernel(0, 0.5), "length p is 0. Use a whole number"),
        (lambda: SubsequenceKernel(2, 0.0), "decay is 0.0. Use a number above 0"),
        (lambda: SubsequenceKernel(2, 1.5), "decay is 1.5"),
        (lambda: WordSequenceKernel(2, float("nan")), "decay is nan"),
        (lambda: SpectrumKernel(2).gram("abc"), "A is 'abc'. Give a list of strings"),
        (lambda: SpectrumKernel(2).gram(5), "A is 5"),
        (lambda: SpectrumKernel(2).gram([]), "A is empty. Give at least one"),
        (lambda: SpectrumKernel(2).gram(A_FEW, []), "B is empty"),
        (lambda: SubsequenceKernel(2, 0.5).gram(["a", None]), "Sequence 1 of A is None"),
        (lambda: SpectrumKernel(2).gram(A_FEW, [3.5]), "Sequence 0 of B is 3.5"),
        (lambda: SpectrumKernel(2).gram([["a"], [["b"]]]), "Sequence 1 is.*Use strings"),
        (lambda: SpectrumKernel(2).gram(A_FEW, dtype=int), "dtype is int64.*float32 or float64"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(UserError, match=message):
        make()
