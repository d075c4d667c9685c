"""What all decisions share: from scores to label sets, around any scikit-learn classifier.

A decision is a rule that turns a row of scores into a label set. What the rule must learn (a
threshold, a number of labels) it learns on scores of examples that the classifier has not seen:
`fit` makes them out of fold, `fit_scores` is given them. A subclass says what to learn
(`_learn`) and how to decide (`_decide_block`); the rest is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from linnaeus import storage
from linnaeus.decisions import scoring
from linnaeus.decisions.columns import Columns, halved
from linnaeus.errors import UserError, shorten
from linnaeus.inference import rows
from linnaeus.labels import (
    Form,
    Labels,
    bare_names,
    moved,
    name_array,
    names_of,
    noting,
    parse,
    plain_names,
)
from linnaeus.parameters import (
    ESTIMATOR,
    NONE,
    SEED,
    TAXONOMY,
    Limits,
    check_values,
    fitting,
    is_inferred,
    settled,
)
from linnaeus.splits.held_out import out_of_fold
from linnaeus.taxonomy import Taxonomy
from linnaeus.taxonomy.labelsets import same_sets

BoolArray = npt.NDArray[np.bool_]


class Decision(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the decisions, which all have these methods.

    They share the parameters `estimator`, `taxonomy`, `cv` and `random_state`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, one per column of `decision_function`: for one label per sample those seen in
        training, sorted; else the columns of `y`, or all nodes.
    estimator_ : object
        The classifier, fitted on all rows; after `fit` only.
    n_features_in_ : int
        Number of features, where the estimator knows it; after `fit` only.
    columns_, names_ : tuple
        The labels that are scored, and those decided on, one per column of what `decide` takes
        and of what it gives.
    taxonomy_ : Taxonomy or None
        The taxonomy, as given or inferred.
    form_, score_method_, closing_ : object
        How labels were given and which scores are asked for; internal.
    """

    estimator: Any
    taxonomy: Taxonomy | str | None
    cv: Any
    random_state: Any
    limits = Limits(
        estimator=ESTIMATOR | NONE,
        taxonomy=TAXONOMY,
        cv=scoring.FOLDS,
        random_state=SEED,
    )

    # -- what a subclass says ---------------------------------------------------------------

    def _learns(self) -> bool:
        """Whether there is something to learn from held-out scores."""
        return True

    def _learn(self, scores: rows.FloatArray, Y: sp.csr_array) -> None:
        """Learn the rule from held-out scores and true label sets over the same columns."""

    def _decide_block(self, block: rows.FloatArray) -> BoolArray:
        """The label sets of a block of rows."""
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _target(self, given: Labels) -> tuple[sp.csr_array, Any]:
        """The true label sets, and what the estimator is fitted on."""
        return given.Y, given.Y if given.form.kind == "lists" else given.given

    def _decided_names(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """The labels decided on, given the labels that are scored."""
        return columns

    def _prepared(self, scores: rows.FloatArray) -> rows.FloatArray:
        """Scores over the labels decided on, given those of the scored labels."""
        return scores

    def _specific(self, on: BoolArray) -> BoolArray:
        """The labels among which one is chosen where only one can be answered."""
        if self.closing_ is None:
            return on
        deepest: BoolArray = self.closing_.most_specific(on.astype(np.int8)) > 0
        return deepest

    # -- learning ---------------------------------------------------------------------------

    def _taught(self, y: Any) -> Labels:
        """Labels to learn from, over the taxonomy that is known from now on."""
        self.taxonomy_, y = settled(self.taxonomy, y)
        return taught(y, self.taxonomy_)

    def _known(self) -> Taxonomy | None:
        """The taxonomy: that of the labels taught, before that as given."""
        found: Any = getattr(self, "taxonomy_", self.taxonomy)
        if is_inferred(found):
            raise UserError("taxonomy='infer' needs labels that are paths: call fit first.")
        known: Taxonomy | None = found
        return known

    @fitting
    def fit(self, /, X: Any, y: Any, **params: Any) -> Self:
        """Fit the estimator, and the rule on its out-of-fold scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`; an indicator is over the estimator's classes
            or the nodes of the taxonomy.
        **params : dict
            For the `fit` of the estimator, such as `sample_weight`; where scikit-learn's metadata
            routing is on, what the estimator asks for. The rule itself takes all rows alike.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if self.estimator is None:
            raise UserError(
                f"{type(self).__name__} has no estimator to fit. Give estimator=..., or learn "
                f"from scores with fit_scores(scores, Y)."
            )
        if y is None:
            raise UserError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        params = self._fit_params(params)
        self.score_method_ = scoring.score_method(self.estimator)
        given = self._taught(y)
        form, (Y, target) = given.form, self._target(given)
        X, target = indexable(X, scoring.readable(self.estimator, target))
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        if prefit:
            check_is_fitted(self.estimator)
        unfitted = None if prefit else scoring.told(self.estimator, self.taxonomy_)
        fitted = self.estimator if unfitted is None else clone(unfitted).fit(X, target, **params)
        self.estimator_, own = fitted, scoring.has_own_scores(fitted, self.taxonomy_)
        columns = scoring.scored_names(fitted, form, own)
        self._remember(form, columns, scoring.closing_taxonomy(fitted))
        if self._learns():
            at, scores = self._held_out(X, target, unfitted, params)
            self._learn(self._checked(scores), self._truth(form, Y)[at])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _fit_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """What the estimator's `fit` is given besides X and y."""
        if not params or not _routing_enabled():
            return {name: value for name, value in params.items() if value is not None}
        return dict(process_routing(self, "fit", **params).estimator.fit)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who asks for what, as scikit-learn's metadata routing has it.

        Returns
        -------
        MetadataRouter
            What `fit` hands on to the `fit` of the estimator.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self.estimator, method_mapping=mapping
        )

    def fit_scores(self, scores: Any, Y: Any, columns: Iterable[Any] | None = None) -> Self:
        """Learn the rule from scores of held-out examples and their true label sets.

        Labels without a column are left out, unless their ancestors are decided on.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            A score for every sample and class.
        Y : array-like, sparse matrix or list of lists
            True label sets, in any form of `linnaeus.labels`.
        columns : iterable or None, default=None
            The label of each column of the scores, with a taxonomy some of its nodes. None: as
            metrics read them, see `linnaeus.labels.columns`.

        Returns
        -------
        Self
            The same object.
        """
        check_values(type(self), vars(self))
        matrix = rows.as_matrix(scores)
        given = self._taught(Y)
        form, (indicator, _) = given.form, self._target(given)
        if matrix.shape[0] != indicator.shape[0]:
            raise UserError(
                f"There are {matrix.shape[0]} rows of scores and {indicator.shape[0]} label sets. "
                f"Give one label set per row."
            )
        columns = names_of(scores, self.taxonomy_) if columns is None else columns
        if columns is None:
            columns = bare_names(matrix.shape[1], given, self.taxonomy_)
        self._remember(form, checked_columns(columns, matrix.shape[1], self.taxonomy_))
        if self._learns():
            self._learn(self._checked(matrix), self._truth(form, indicator))
        return self

    def _remember(
        self, form: Form, columns: tuple[Any, ...], closing: Taxonomy | None = None
    ) -> None:
        """Keep what the labels are; `closing`, if the estimator learns from closed sets."""
        self.form_ = form
        self.closing_ = closing
        self.columns_ = columns
        self.names_ = self._decided_names(columns)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels that users see; without an estimator those that are decided on."""
        form, names = self.form_, self._shown_names()
        if form.codes or form.layout is not None or form.kind != "one":
            return form.shown(names)
        plain = self._known() is None or hasattr(self, "estimator_")
        return name_array(names, form.like.dtype if plain else None)

    def _shown_names(self) -> tuple[Any, ...]:
        """The same by their names."""
        tax, fitted = self._known(), getattr(self, "estimator_", None)
        if fitted is None:
            return self.names_
        if tax is not None and self.form_.layout is not None:
            return tax.nodes
        return self._labels() if self.form_.kind == "one" else self.form_.columns

    def _labels(self) -> tuple[Any, ...]:
        """The labels of which one is answered: those that the estimator has seen."""
        return tuple(plain_names(getattr(self.estimator_, "classes_", self.form_.names)))

    def _columns_for(self, shown: tuple[Any, ...]) -> Columns:
        """The columns of some labels, given those of the labels decided on."""
        names, tax = self.names_, self._known()
        if names == shown:
            return Columns()
        place = {name: j for j, name in enumerate(names)}
        if self.form_.kind == "one" and all(name in place for name in shown):
            return Columns(np.array([place[name] for name in shown]))
        if tax is None:
            return Columns(np.array([place[name] for name in shown]))
        return Columns.of_nodes(tax, tax.numbers(names), tax.numbers(shown))

    @property
    def _own(self) -> bool:
        """Whether the scores are those of the classes that the estimator was trained for."""
        return scoring.own_names(self.estimator_) == self.columns_

    def _truth(self, form: Form, Y: sp.csr_array) -> sp.csr_array:
        truth = moved(Y, form.names, self.names_)
        return truth if self.closing_ is None else self.closing_.closure(truth)

    def _held_out(
        self, X: Any, target: Any, unfitted: Any, params: dict[str, Any]
    ) -> tuple[npt.NDArray[np.intp], rows.FloatArray]:
        """The rows with held-out scores, and these."""
        if unfitted is None:
            scores = self._scores(X)
            return np.arange(len(scores)), scores
        splits = scoring.make_splits(self.cv, X, target, self.form_, self.random_state)
        own = self._own

        def score(fitted: Any, X: Any) -> tuple[tuple[Any, ...], rows.FloatArray]:
            names = scoring.scored_names(fitted, self.form_, own)
            return names, scoring.score_matrix(fitted, X, len(names), own)

        found = out_of_fold(
            partial(clone, unfitted), X, target, splits, self.columns_, score, params=params
        )
        at, last = np.unique(found.rows[::-1], return_index=True)  # each once, in order
        return at, found.scores[::-1][last]

    def _columns_of(self, n_columns: int) -> tuple[Any, ...]:
        """The labels of the columns of a bare score matrix, of whose rows no label is known."""
        tax = self._known()
        if tax is None:
            return tuple(range(n_columns))
        for names in (tax.nodes, tax.leaves):
            if len(names) == n_columns:
                return names
        raise UserError(
            f"The scores have {n_columns} columns, but there are {len(tax)} or "
            f"{len(tax.leaves)} labels. Give one column of scores per node or per leaf."
        )

    # -- deciding ---------------------------------------------------------------------------

    def decide(self, scores: Any) -> sp.csr_array:
        """The label sets of rows of scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_columns)
            A score for every sample and label of `columns_`.

        Returns
        -------
        csr_array of shape (n_samples, n_names)
            Indicator of int8, columns as in `names_`.
        """
        check_values(type(self), vars(self))
        matrix = rows.as_matrix(scores)
        if not hasattr(self, "columns_"):
            if self._learns():
                check_is_fitted(self, "columns_")
            columns = names_of(scores, self._known()) or self._columns_of(matrix.shape[1])
            return self._unfitted(columns).decide(matrix)
        self._check_columns(matrix)
        return rows.stack((on for _, on in self._blocks(matrix)), len(self.names_))

    def predict(self, X: Any) -> Any:
        """The label sets of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught; where that is one label, the best decided on, one
            of `classes_` (of rules that decide about whole paths it may be a node above).
        """
        scores = self._scores(X)
        if self.form_.kind != "one":
            said = self.form_.answer(self.decide(scores), self.names_)
            return self.form_.finished(said, self._known(), X)
        names, among = self._answers()
        best = [
            _best(block[:, among], self._specific(on)[:, among])
            for block, on in self._blocks(scores)
        ]
        said = names[np.concatenate(best) if best else np.zeros(0, dtype=int)]
        return self.form_.finished(said, self._known(), X)

    def _answers(self) -> tuple[npt.NDArray[Any], Any]:
        """The labels of which one is answered, and their columns among those decided on."""
        labels = self._labels()
        place = self._columns_for(labels).place
        names = np.asarray(getattr(self.estimator_, "classes_", name_array(labels)))
        return names, slice(None) if place is None else place

    @noting
    def decision_function(self, X: Any) -> rows.FloatArray:
        """The scores of the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column per class; one number per sample for two exclusive classes.
        """
        scores = self._prepared(self._scores(X))
        scores = self._columns_for(self._shown_names()).best(scores)
        if self.form_.kind == "one" and scores.shape[1] == 2:
            return halved(scores) / 2
        return scores

    def class_scores(self, X: Any) -> rows.FloatArray:
        """The scores that `decide` takes, one column for each of `columns_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            As the estimator gives them.
        """
        return self._scores(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label set is predicted whole.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            True labels, in any form of `linnaeus.labels`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each sample; None for 1.

        Returns
        -------
        float
            From 0 to 1.
        """
        return accuracy(self, X, y, sample_weight, super().score)

    def _scores(self, X: Any) -> rows.FloatArray:
        check_is_fitted(self, "estimator_")
        return scoring.score_matrix(self.estimator_, X, len(self.columns_), self._own)

    def _unfitted(self, columns: tuple[Any, ...]) -> Decision:
        """A copy that decides without having learned, for a rule that learns nothing."""
        copy: Decision = clone(self)
        copy._remember(Form("sparse", columns), columns)
        return copy

    def _checked(self, scores: rows.FloatArray) -> rows.FloatArray:
        """Held-out scores over the labels decided on, all finite."""
        self._check_columns(scores)
        for _ in rows.finite_blocks(scores):
            pass
        return self._prepared(scores)

    def _check_columns(self, scores: rows.FloatArray) -> None:
        if scores.shape[1] != len(self.columns_):
            raise UserError(
                f"The scores have {scores.shape[1]} columns, but {type(self).__name__} was "
                f"fitted on {len(self.columns_)}. Give the scores of the "
                f"same labels, as class_scores(X) has them."
            )

    def _blocks(self, scores: rows.FloatArray) -> Iterator[tuple[rows.FloatArray, BoolArray]]:
        for _, block in rows.finite_blocks(scores):
            prepared = self._prepared(block)
            yield prepared, self._decide_block(prepared)

    def save(self, path: str | Path) -> None:
        """Write the rule and its estimator as a directory; read it with `linnaeus.load`.

        Parameters
        ----------
        path : str or Path
            Directory to write.
        """
        storage.save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            inner = get_tags(self.estimator)
            tags.input_tags = inner.input_tags
            tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
            tags.non_deterministic = inner.non_deterministic
        return tags


def taught(y: Any, taxonomy: Taxonomy | None) -> Labels:
    """Labels to learn from, one for each row as an array; scikit-learn's warning for a column."""
    given = parse(y, taxonomy)
    if given.column:
        column_or_1d(y, warn=True)
    if given.form.kind == "one" and not isinstance(given.given, np.ndarray):
        return given._replace(given=name_array(given.given))
    return given


def accuracy(
    estimator: Any, X: Any, y: Any, sample_weight: Any, score: Callable[..., float]
) -> float:
    """scikit-learn's `score`; for lists and paths, which it does not know, in their sense."""
    check_is_fitted(estimator)
    form: Form = getattr(estimator, "form_", None) or estimator.targets_.form
    if form.kind != "lists" and form.layout is None:
        return score(X, y, sample_weight)
    taxonomy = estimator.taxonomy_
    inferred = is_inferred(estimator.taxonomy)
    given, said = (parse(Y, taxonomy, inferred) for Y in (y, estimator.predict(X)))
    right = same_sets(taxonomy, given, said)
    return float(np.average(right, weights=sample_weight))


def checked_columns(
    columns: Iterable[Any], n_columns: int, taxonomy: Taxonomy | None
) -> tuple[Any, ...]:
    """The names of the columns of scores, if there are as many, all known, and none twice."""
    names = tuple(plain_names(columns))
    if len(names) != n_columns:
        raise UserError(
            f"The scores have {n_columns} columns, but {len(names)} are named. "
            f"Give one name per column."
        )
    if taxonomy is not None:
        taxonomy.numbers(names)  # an unknown node is an error that names it
    if len(set(names)) < len(names):
        twice = next(name for j, name in enumerate(names) if name in names[:j])
        raise UserError(f"Two columns of scores are named {shorten(twice)}. Name each label once.")
    return names


def _best(block: rows.FloatArray, on: BoolArray) -> npt.NDArray[np.intp]:
    """The column with the highest score of those on, of all where none is."""
    some = on.any(axis=1, keepdims=True)
    best: npt.NDArray[np.intp] = np.where(on | ~some, block, -np.inf).argmax(axis=1)
    return best
