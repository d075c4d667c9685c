"""Bags of words, weighted as in the papers.

    x_u  =  count(u) * log2(N / N_u),      then   x / ||x||

N training documents, N_u of them with the word u; the weighting of the experiments in [Rousu2006].
A word in every training document weighs 0; words that training never saw are dropped. The
unit-length term counts of [Cai2008] are ``idf=False``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError, shorten
from linnaeus.storage.sparse_files import RowsWriter, open_rows, rows_written
from linnaeus.text.analyzers import ANALYZERS, Analyzer
from linnaeus.text.counting import TermCounts, count_known, count_new, text_blocks
from linnaeus.text.frames import as_configured
from linnaeus.text.stop_words import ENGLISH
from linnaeus.text.tokens import WORD, ngrams


class TfidfVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Texts to a CSR matrix of weighted term counts.

    Parameters
    ----------
    lowercase : bool, default=True
        Whether to fold case before looking for terms.
    token_pattern : str, default='\\w\\w+'
        Regular expression of a word; ``r"\w+"`` also takes single characters.
    stop_words : 'english', iterable of str or None, default=None
        Words to leave out (after folding).
    analyzer : str or callable, default='text'
        'text': words, in one spelling (composed accents, no soft hyphens), and runs of 1 to 3
        letters where a script has no blanks between words (1 to 4 in Thai, Lao, Khmer, Burmese);
        'pieces': also runs of 4 to 5 letters within words, for compounds; 'letters': runs of
        letters only. 'jieba', 'fugashi', 'sudachipy', 'janome', 'pythainlp': as 'text', with words
        of Chinese, Japanese or Thai where this library finds them. 'word' and 'char': what
        `token_pattern` matches, and runs of code points, with case folded and nothing else. Or a
        function from a document to its terms. A document that is a list is taken for its tokens
        as they are.
    ngram_range : tuple of (int, int), default=(1, 1)
        Shortest and longest run of words or characters that is a term.
    min_df : int or float, default=1
        Leave out terms in fewer training documents; a fraction of them if below 1.
    max_features : int or None, default=None
        Keep only so many terms, those that occur most; ties by the alphabet.
    hashing : int or None, default=None
        Number of columns to which terms are hashed instead of a vocabulary (murmur3, the same in
        every process and on every machine); not with `max_features`. Columns then have no words:
        explanations mark them in the text, but call a feature 'hash17'.
    alternate_sign : bool, default=False
        Whether hashed terms have a sign, so that collisions cancel on average.
    sublinear_tf : bool, default=False
        Whether to take 1 + ln(count) in place of the count.
    idf : bool, default=True
        Whether to weigh by log2(N / N_u); otherwise every term weighs 1.
    norm : {'l2', 'l1'} or None, default='l2'
        Length to which rows are scaled.
    dtype : dtype, default=float32
        Type of the values.

    Attributes
    ----------
    vocabulary_ : dict or None
        Column of each term, in alphabetical order; None when hashing.
    idf_ : ndarray of shape (n_features,)
        Float64, the weight of each column.
    n_documents_ : int
        How many documents it was fitted on.

    Examples
    --------
    >>> vectorizer = TfidfVectorizer(norm=None)
    >>> X = vectorizer.fit_transform(["the fat cat", "the dog"])
    >>> dict(zip(vectorizer.get_feature_names_out(), X.toarray()[0].tolist()))
    {'cat': 1.0, 'dog': 0.0, 'fat': 1.0, 'the': 0.0}
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        token_pattern: str = WORD,
        stop_words: str | Iterable[str] | None = None,
        analyzer: str | Callable[[Any], Iterable[str]] = "text",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: float = 1,
        max_features: int | None = None,
        hashing: int | None = None,
        alternate_sign: bool = False,
        sublinear_tf: bool = False,
        idf: bool = True,
        norm: str | None = "l2",
        dtype: Any = np.float32,
    ) -> None:
        self.lowercase = lowercase
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_features = max_features
        self.hashing = hashing
        self.alternate_sign = alternate_sign
        self.sublinear_tf = sublinear_tf
        self.idf = idf
        self.norm = norm
        self.dtype = dtype

    # -- learning ---------------------------------------------------------------------------

    def fit(self, texts: Iterable[Any], y: Any = None) -> Self:
        """Learn the vocabulary and the weights from training documents.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.
        y : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_parameters()
        self._count(texts)
        return self

    def fit_transform(self, texts: Iterable[Any], y: Any = None) -> sp.csr_array:
        """Learn the vocabulary and weigh the documents, in one pass over the texts.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.
        y : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
        """
        return as_configured(self, self._weigh(self._learn(texts)))

    def transform(self, texts: Iterable[Any]) -> sp.csr_array:
        """The weighted counts of documents, one row each.

        Parameters
        ----------
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
        """
        check_is_fitted(self)
        return as_configured(self, self._rows(self._documents(texts)))

    def fit_transform_to(
        self, target: str | Path, texts: Iterable[Any], limit: int | None = None
    ) -> sp.csr_array:
        """The same as `fit_transform`, for any number of texts: the rows are written to disk.

        The texts are read twice and never held; once where terms are hashed, `idf` is False and
        `min_df` is at most 1. Vocabulary, weights and rows are those of memory, to the bit.

        Parameters
        ----------
        target : str or Path
            Folder to write the rows to; see `linnaeus.storage.sparse_files`.
        texts : iterable of str or of lists
            Texts, or lists of tokens or symbols, that can be gone through more than once.
        limit : int or None, default=None
            Bytes that terms and their counts may take in memory. While they are counted, what is
            beyond is kept on disk; a vocabulary that is larger is an error. None for no limit.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
            The rows, read from disk when they are used.
        """
        self._check_parameters()
        once = self.hashing is not None and not self.idf and self.min_df <= 1
        if not once and iter(texts) is texts:
            raise UserError(
                "The texts can be gone through only once, but words are counted before they are "
                "weighed. Give a list, or an object whose __iter__ starts over; or hash words with "
                "idf=False."
            )
        with rows_written(Path(target), self.dtype) as writer:
            if once:
                self._hash_to(writer, texts)
            else:
                self._count(texts, limit, writer.scratch)
                for block in text_blocks(self._documents(texts)):
                    writer.append(self._rows(block))
        return open_rows(target)

    def _hash_to(self, writer: RowsWriter, texts: Iterable[Any]) -> None:
        """Write the rows of hashed terms that all weigh the same, and learn which there are."""
        frequency = np.zeros(int(self.hashing or 0), dtype=np.int64)
        self._set_terms(None, np.ones(frequency.size))
        for block in text_blocks(self._documents(texts)):
            counts = self._hashed(block)
            frequency += _frequency(counts)
            writer.append(self._weigh(counts))
        self._settle(writer.n_rows, frequency)

    def _count(
        self, texts: Iterable[Any], limit: int | None = None, folder: Path | None = None
    ) -> None:
        """Set the fitted attributes by one pass over the texts, holding terms only."""
        documents = self._documents(texts)
        if self.hashing is not None:
            n, frequency = 0, np.zeros(self.hashing, dtype=np.int64)
            for block in text_blocks(documents):
                n += len(block)
                frequency += _frequency(self._hashed(block))
            return self._settle(n, frequency)
        counts, analyze = TermCounts(self.max_features is not None, limit, folder), self._analyze()
        for document in documents:
            counts.add(analyze(document))
        n = counts.n_documents
        kept = counts.kept(self._fewest(n), self.max_features)
        frequency = np.array([found.documents for found in kept], dtype=np.int64)
        self._settle(n, frequency, [found.term for found in kept], counts.any)

    def _learn(self, texts: Iterable[Any]) -> sp.csr_array:
        """Set the fitted attributes; answer the counts."""
        self._check_parameters()
        documents = self._documents(texts)
        if self.hashing is not None:
            counts = self._hashed(documents)
            self._settle(counts.shape[0], _frequency(counts))
            return counts
        counts, terms = count_new(map(self._analyze(), documents))
        frequency = _frequency(counts)
        keep = self._most_frequent(counts, frequency >= self._fewest(counts.shape[0]))
        kept = [terms[j] for j in keep.tolist()]
        self._settle(counts.shape[0], frequency[keep], kept, bool(terms))
        return counts[:, keep]

    def _fewest(self, n_documents: int) -> float:
        """In how many documents a term must be."""
        return self.min_df if self.min_df >= 1 else self.min_df * n_documents

    def _settle(
        self, n: int, frequency: np.ndarray, terms: list[Any] | None = None, some: bool = True
    ) -> None:
        """Set the fitted attributes.

        n : how many documents there were
        frequency : how many of them have each column
        terms : the term of each column; None when hashing
        some : whether there was a term at all, kept or not
        """
        self._check_found(n, terms, some)
        self.vocabulary_: dict[Any, int] | None = None  # models hold it before what follows
        self.n_documents_ = n
        weights = np.log2(n / np.maximum(frequency, 1))
        common = (frequency >= self._fewest(n)) & (frequency > 0)
        self._set_terms(terms, np.where(common, weights if self.idf else 1.0, 0.0))

    def _set_terms(self, terms: list[Any] | None, idf: np.ndarray) -> None:
        self.vocabulary_ = None if terms is None else {term: j for j, term in enumerate(terms)}
        self.idf_ = idf

    def _check_found(self, n: int, terms: list[Any] | None, some: bool) -> None:
        if n == 0:
            raise UserError("There are no documents to learn words from. Give at least one.")
        if terms is None or terms:
            return
        if not some:
            raise UserError(
                f"No document holds a word (pattern {self.token_pattern!r}, stop words left out). "
                f"Check the texts, or set token_pattern and stop_words."
            )
        raise UserError(
            f"No word is left with min_df={self.min_df} and max_features={self.max_features}. "
            f"Lower the one, or raise the other."
        )

    def _rows(self, documents: Iterable[Any]) -> sp.csr_array:
        """The weighted counts of documents that are in order."""
        if self.vocabulary_ is None:
            return self._weigh(self._hashed(documents))
        counts = count_known(map(self._analyze(), documents), self.vocabulary_)
        return self._weigh(counts)

    def _hashed(self, documents: Iterable[Any]) -> sp.csr_array:
        hasher = FeatureHasher(
            self.hashing, input_type="string", alternate_sign=self.alternate_sign
        )
        counts = sp.csr_array(hasher.transform(map(self._analyze(), documents)))
        counts.eliminate_zeros()
        return counts

    def _most_frequent(self, counts: sp.csr_array, common: np.ndarray) -> np.ndarray:
        """The columns to keep, ascending."""
        keep = np.flatnonzero(common)
        if self.max_features is not None and keep.size > self.max_features:
            total = np.bincount(counts.indices, counts.data, minlength=counts.shape[1])[keep]
            keep = np.sort(keep[np.argsort(-total, kind="stable")[: self.max_features]])
        return keep

    def _weigh(self, counts: Any) -> sp.csr_array:
        X = sp.csr_array(counts, dtype=np.float64)
        if self.sublinear_tf:
            X.data = np.sign(X.data) * (1 + np.log(np.abs(X.data)))
        X.data *= self.idf_[X.indices]
        X.eliminate_zeros()
        if self.norm is not None:
            X = normalize(X, norm=self.norm, copy=False)
        return sp.csr_array(X, dtype=self.dtype)

    # -- from documents to terms ------------------------------------------------------------

    def _analyze(self) -> Callable[[Any], Iterable[str]]:
        """The function from a document to its terms."""
        if callable(self.analyzer):
            return self.analyzer
        shortest, longest = self.ngram_range
        chars, terms = self.analyzer in ("char", "letters"), self._terms()
        stop = self._stop()

        def analyze(document: Any) -> Iterator[str]:
            if isinstance(document, str):
                return terms(document)
            tokens = [t for t in document if t not in stop]
            return ngrams(tokens, shortest, longest, "" if chars else " ")

        return analyze

    def _stop(self) -> frozenset[str]:
        """The words that are left out."""
        return frozenset(ENGLISH if self.stop_words == "english" else self.stop_words or ())

    def text_analyzer(self) -> Analyzer:
        """What finds terms in folded texts; not for a function as `analyzer`.

        Returns
        -------
        Analyzer
        """
        shortest, longest = self.ngram_range
        return Analyzer(str(self.analyzer), self.token_pattern, self._stop(), (shortest, longest))

    def _terms(self) -> Callable[[str], Iterator[str]]:
        """The function from a text to its terms."""
        analyzer = self.text_analyzer()
        if self.analyzer in ANALYZERS:
            return lambda text: analyzer.terms(text, self.lowercase)
        if self.lowercase:
            return lambda text: analyzer.plain_terms(text.casefold())
        return analyzer.plain_terms

    def _documents(self, texts: Iterable[Any]) -> Iterator[Any]:
        """The documents, each checked to be a text or a list of tokens."""
        if isinstance(texts, str):
            raise UserError(f"One text was given, {shorten(texts)}. Give a list of texts.")
        for row, document in enumerate(texts):
            if not callable(self.analyzer) and not isinstance(document, str | list | tuple):
                raise UserError(
                    f"Document {row} is {shorten(document)}, which is neither a text nor a list of "
                    f"tokens. Convert it, for example with str()."
                )
            yield document

    def _check_parameters(self) -> None:
        known = ("word", "char", *ANALYZERS)
        if not callable(self.analyzer) and self.analyzer not in known:
            raise UserError(
                f"analyzer is {shorten(self.analyzer)}. Use 'word', 'char' or a function; or, for "
                f"any language, {', '.join(map(repr, ANALYZERS))}."
            )
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise UserError(
                f"stop_words is {shorten(self.stop_words)}. Use 'english', or a list of words."
            )
        if not _is_range(self.ngram_range):
            said = f"ngram_range is {shorten(self.ngram_range)}. Use "
            raise UserError(
                f"{said}(shortest, longest) from 1 up.",
                f"{said}the shortest and the longest from 1 up, such as [1,2].",
            )
        try:
            re.compile(self.token_pattern)
        except (re.error, TypeError) as error:
            raise UserError(
                f"token_pattern is {shorten(self.token_pattern)}, which is no regular expression "
                f"({error})."
            ) from None
        if self.norm not in ("l1", "l2", None):
            said = f"norm is {shorten(self.norm)}. Use 'l2', 'l1' or "
            raise UserError(f"{said}None.", f"{said}null.")
        if self.min_df < 0:
            raise UserError(f"min_df is {self.min_df}. Use a count, or a fraction below 1.")
        if self.hashing is not None and (self.hashing < 1 or self.max_features is not None):
            said = (
                f"hashing is {self.hashing} and max_features is {self.max_features}. Use a number "
                f"of columns from 1 up for the one, and "
            )
            raise UserError(f"{said}None for the other.", f"{said}leave out the other.")

    # -- for others -------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The term of each column; numbered names when hashing.

        Parameters
        ----------
        input_features : object, default=None
            Ignored; for pipelines.

        Returns
        -------
        ndarray of str of shape (n_features,)
        """
        check_is_fitted(self)
        if self.vocabulary_ is None:
            return np.array([f"hash{i}" for i in range(self.idf_.size)], dtype=object)
        return np.array(list(self.vocabulary_), dtype=object)

    def to_state(self) -> dict[str, Any]:
        """Everything needed to build this vectoriser again, as plain data and arrays.

        Returns
        -------
        dict
        """
        check_is_fitted(self)
        if callable(self.analyzer):
            raise UserError(
                f"The analyzer {shorten(self.analyzer)} is a function, which cannot be saved. "
                f"Tokenise beforehand and give lists of tokens."
            )
        parameters = self.get_params() | {
            "ngram_range": list(self.ngram_range),
            "dtype": np.dtype(self.dtype).name,
        }
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            parameters["stop_words"] = sorted(self.stop_words)
        return {
            "parameters": parameters,
            "terms": None if self.vocabulary_ is None else list(self.vocabulary_),
            "idf": self.idf_.copy(),
            "n_documents": self.n_documents_,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build a vectoriser from what `to_state` gave.

        Parameters
        ----------
        state : dict
            What `to_state` gave.

        Returns
        -------
        Self
            The fitted vectoriser.
        """
        parameters = dict(state["parameters"])
        parameters["ngram_range"] = tuple(parameters["ngram_range"])
        out = cls(**parameters)
        terms = state["terms"]
        out.vocabulary_ = None if terms is None else {t: i for i, t in enumerate(terms)}
        out.idf_ = np.array(state["idf"], dtype=np.float64)
        out.n_documents_ = int(state["n_documents"])
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _frequency(counts: sp.csr_array) -> np.ndarray:
    """In how many documents each column occurs."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _is_range(value: Any) -> bool:
    """Whether this is (shortest, longest), whole numbers from 1 up."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    if not pair or not all(isinstance(n, int | np.integer) for n in value):
        return False
    return bool(1 <= value[0] <= value[1])
