"""Which features are taken for which examples, and what is refused."""

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model import KINDS, choose_features, make_features


def texts(*values):
    return Part([[] for _ in values], [str(i) for i in range(len(values))], texts=list(values))


def numbers():
    return Part([[], []], ["0", "1"], X=np.eye(2), feature_names=["a", "b"])


DNA = ["ACGTACGGTTACGATTACAGG", "TTACGATTACAGGACGTACGG"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (texts("good morning, world", "how are you"), "words"),
        (texts(*DNA), "spectrum"),
        (texts(*DNA, *["short"] * 2), "words"),  # too many that are no sequences
        (texts("", "", DNA[0]), "spectrum"),  # empty ones say nothing
        (texts("", ""), "words"),
        (numbers(), "table"),
    ],
)
def test_auto_looks_at_the_examples(part, kind):
    choice = choose_features(part)
    assert choice.kind == kind and choice.why
    assert choose_features(part, kind).why == "because you chose it"


def test_long_words_of_many_symbols_are_no_sequences():
    alphabet = "".join(chr(ord("a") + i) for i in range(26)) + "".join(map(chr, range(192, 222)))
    assert choose_features(texts(alphabet, alphabet[::-1])).kind == "words"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_rows_with_named_columns(kind):
    part = numbers() if KINDS[kind].of == "a table" else texts("the cat sat", "a dog ran")
    features = make_features(kind, part)
    X = features.fit_transform(part.X if part.texts is None else part.texts)
    assert X.shape == (2, len(features.get_feature_names_out()))


def test_many_texts_leave_out_words_of_one():
    assert make_features("words", texts(*["a b"] * 999)).min_df == 1
    assert make_features("words", texts(*["a b"] * 1000)).min_df == 2
    assert make_features("words", texts(*["a b"] * 1000), {"min_df": 5}).min_df == 5


def test_lists_become_tuples():
    assert make_features("words", texts("a b"), {"ngram_range": [1, 2]}).ngram_range == (1, 2)


@pytest.mark.parametrize(
    ("kind", "part", "parameters", "message"),
    [
        ("word", texts("a"), {}, r"'word' are not known \(did you mean 'words'\?\). Use one of"),
        ("table", texts("a"), {}, "made of a table, but the examples are texts. Use one of: words"),
        ("words", numbers(), {}, "made of texts, but the examples are a table. Use one of: table"),
        ("words", texts("a"), {"mindf": 1}, r"no parameter 'mindf' \(did you mean 'min_df'\?\)"),
        ("words", texts("a"), {"min_df": "x"}, "'min_df' of the features 'words' is 'x', where a"),
    ],
)
def test_mistakes(kind, part, parameters, message):
    with pytest.raises(UserError, match=message):
        make_features(kind, part, parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ngram_range": 2}, "ngram_range is 2"),
        ({"ngram_range": [2, 1]}, r"ngram_range is \(2, 1\)"),
        ({"token_pattern": "("}, r"token_pattern is '\(', which is no regular expression"),
        ({"stop_words": "german"}, "stop_words is 'german'. Use 'english'"),
    ],
)
def test_values_that_cannot_be(parameters, message):
    with pytest.raises(UserError, match=message):
        make_features("words", texts("a b"), parameters).fit(["a b"])
