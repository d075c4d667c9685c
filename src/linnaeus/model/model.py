"""A model: from what people bring (texts or tables) to label sets that respect the taxonomy.

inputs --features--> X --estimator--> scores --rule--> label sets, closed upwards
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus import storage
from linnaeus.decisions import Decision
from linnaeus.decisions.rules import RULES, fit_rule, make_rule, node_sets
from linnaeus.errors import UserError
from linnaeus.estimators._linear import LinearClassifier
from linnaeus.io.collection import Part
from linnaeus.metrics import Report, evaluate
from linnaeus.metrics.baseline import Frequencies
from linnaeus.metrics.counts import VALUES
from linnaeus.model.confidence import Confidence, label_columns
from linnaeus.model.methods import OWN, check_rule_name
from linnaeus.splits.copies import digests
from linnaeus.splits.held_out import HeldOut
from linnaeus.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Model:
    """Everything needed to predict, fitted; made by `linnaeus.model.train` or `linnaeus.load`.

    Attributes
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    features : object
        The fitted transformer of inputs.
    estimator : object
        The fitted estimator.
    rule : Decision or None
        The fitted decision rule; None for an estimator's own.
    rule_name : str
        Name of the rule.
    about : dict
        Method, parameters, why they were chosen, the data, certificate, and metrics: what the rule
        reached on held-out rows, where it was judged.
    train_counts : ndarray of int of shape (n_nodes,) or None
        Training rows of every node, those of nodes below it included.
    own_counts : ndarray of int of shape (n_nodes,) or None
        Training rows of every node that have it as a most specific label.
    held_out : HeldOut or None
        Held-out scores of training rows, from which other rules can be learned.
    confidence_map : Confidence or None
        From scores to how sure the model is of a row, learned from held-out scores.
    digests : ndarray of uint64 of shape (n_digests,) or None
        What the training rows said, by which they are known again; see `linnaeus.splits.copies`.
    profile : dict or None
        What the training rows were like, for new ones to be compared with; see
        `linnaeus.model.profile`.

    Examples
    --------
    >>> from linnaeus.model import train
    >>> from linnaeus.synthetic import newsroom
    >>> news = newsroom(200, 20, random_state=0)
    >>> model = train(news.train, news.taxonomy, "svm", rule="zero")
    >>> len(model.predict(news.test.texts))
    20
    """

    taxonomy: Taxonomy
    features: Any
    estimator: Any
    rule: Decision | None = None
    rule_name: str = OWN
    about: dict[str, Any] = field(default_factory=dict)
    train_counts: Any = None
    own_counts: Any = None
    held_out: HeldOut | None = None
    confidence_map: Confidence | None = None
    digests: Any = None
    profile: dict[str, Any] | None = None

    @property
    def columns(self) -> tuple[Any, ...]:
        """The nodes that are scored, in the order of the scores."""
        return tuple(self.estimator.targets_.names)

    @property
    def closed(self) -> bool:
        """Whether every node is scored, as a member of closed label sets."""
        return self.estimator.classes == "nodes" and self.columns == self.taxonomy.nodes

    @property
    def has_probabilities(self) -> bool:
        """Whether the estimator has probabilities."""
        return hasattr(self.estimator, "class_probabilities")

    @property
    def frequencies(self) -> Frequencies | None:
        """How often labels were in the training rows; None where that was not kept."""
        told = self.about.get("data", {})
        if self.own_counts is None or self.train_counts is None or "rows" not in told:
            return None
        own, single = np.asarray(self.own_counts), told.get("labels_per_row") == 1.0
        names = told.get("most_common_labels")  # older models do not know them
        commonest = np.array([own.argmax()]) if names is None else self.taxonomy.numbers(names)
        single = single and not told.get("rows_without_labels")
        return Frequencies(told["rows"], own, np.asarray(self.train_counts), commonest, single)

    @property
    def feature_names(self) -> list[str] | None:
        """The columns that a table must have; None for texts and sparse rows."""
        names = getattr(self.features, "feature_names", None)
        return None if names is None else list(names)

    @property
    def kind(self) -> str:
        """What the model was trained on, as `Part.kind` says it."""
        if not hasattr(self.features, "n_features_in_"):
            return "texts"
        return "sparse features" if self.features.sparse_ else "a table of features"

    # -- answers ----------------------------------------------------------------------------

    def transform(self, inputs: Any) -> Any:
        """Texts or a table as the rows that the estimator takes.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        {ndarray, csr_array} of shape (n_rows, n_features)
        """
        return self.features.transform(inputs)

    def scores(self, inputs: Any) -> np.ndarray:
        """A score for every row and column.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
        """
        return np.asarray(self.estimator.class_scores(self.transform(inputs)))

    def probabilities(self, inputs: Any) -> np.ndarray | None:
        """A probability for every row and column, where the method has them.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or None
        """
        if not self.has_probabilities:
            return None
        return np.asarray(self.estimator.class_probabilities(self.transform(inputs)))

    def confidence(self, X: Any, scores: Any = None) -> np.ndarray | None:
        """How sure the model is of each row: the share of such rows whose best label is right.

        Learned from held-out scores; without these, the probability of the best label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            What `transform` gave.
        scores : array-like of shape (n_rows, n_columns) or None, default=None
            Their scores, where they are known already.

        Returns
        -------
        ndarray of shape (n_rows,) or None
            From 0 to 1; None where the model has neither.
        """
        if self.confidence_map is not None:
            return self.confidence_map(self.estimator.class_scores(X) if scores is None else scores)
        if not self.has_probabilities:
            return None
        used = label_columns(self.taxonomy, self.columns, self.closed)
        found = np.asarray(self.estimator.class_probabilities(X), dtype=float)[:, used]
        return np.asarray(found.max(axis=1).clip(0.0, 1.0))

    def seen(self, inputs: Any) -> np.ndarray | None:
        """Which rows the model was trained on, or on copies of them.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        ndarray of bool of shape (n_rows,) or None
            None where the model does not know its rows: older ones, and tables that repeat.
        """
        return None if self.digests is None else np.isin(digests(inputs), self.digests)

    def decide(self, X: Any, scores: Any = None) -> sp.csr_array:
        """The label sets of transformed rows, closed upwards, over the nodes of the taxonomy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            What `transform` gave.
        scores : array-like of shape (n_rows, n_columns) or None, default=None
            Their scores, where they are known already.

        Returns
        -------
        csr_array of shape (n_rows, n_nodes)
        """
        if self.rule is None and scores is not None and self._takes_the_best:
            return self._best(scores)
        if self.rule is None:
            return self.taxonomy.closure(self.taxonomy.encode(self.estimator.predict(X)))
        scores = self.estimator.class_scores(X) if scores is None else scores
        return node_sets(self.rule, scores, self.taxonomy)

    @property
    def _takes_the_best(self) -> bool:
        """Whether the estimator's own prediction is the class with the highest score."""
        plain = type(self.estimator).predict is LinearClassifier.predict
        return plain and bool(self.estimator.targets_.one)

    def _best(self, scores: Any) -> sp.csr_array:
        """The class with the highest score of each row, closed upwards, as the estimator has it."""
        targets = self.estimator.targets_
        place = {name: j for j, name in enumerate(targets.names)}
        best = scores[:, [place[name] for name in targets.form.names]].argmax(axis=1)
        numbers, n = self.taxonomy.numbers(targets.form.names)[best], len(best)
        ones, starts = np.ones(n, dtype=np.int8), np.arange(n + 1)
        return self.taxonomy.closure(sp.csr_array((ones, numbers, starts), (n, len(self.taxonomy))))

    def predict(self, inputs: Any) -> list[list[Any]]:
        """The labels of every row, the most specific ones.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.

        Returns
        -------
        list of lists
        """
        X = self.transform(inputs)
        return self.names(self.decide(X, self.estimator.class_scores(X)))

    def names(self, closed: sp.csr_array) -> list[list[Any]]:
        """The most specific labels of closed label sets, as lists of names.

        Parameters
        ----------
        closed : csr_array of shape (n_rows, n_nodes)
            Closed label sets.

        Returns
        -------
        list of lists
        """
        return self.taxonomy.decode(self.taxonomy.most_specific(closed))

    def evaluate(self, inputs: Any, labels: Sequence[Sequence[Any]]) -> Report:
        """How good the label sets and the scores are.

        Parameters
        ----------
        inputs : list of str, {array-like, sparse matrix} of shape (n_rows, n_features)
            Texts, or a table of features.
        labels : sequence of list
            Labels of each row.

        Returns
        -------
        Report
        """
        X = self.transform(inputs)
        scores = np.asarray(self.estimator.class_scores(X))
        return self.report(labels, self.decide(X, scores), scores)

    def report(self, labels: Sequence[Sequence[Any]], closed: sp.csr_array, scores: Any) -> Report:
        """How good decided label sets and their scores are.

        Parameters
        ----------
        labels : sequence of list
            Labels of each row.
        closed : csr_array of shape (n_rows, n_nodes)
            Closed label sets.
        scores : array-like of shape (n_rows, n_columns)
            Scores.

        Returns
        -------
        Report
        """
        return evaluate(
            labels, closed, self.taxonomy, scores,
            train_counts=self.own_counts, classes=self.columns,
        )  # fmt: skip

    # -- changes ----------------------------------------------------------------------------

    def with_rule(
        self, name: str, inputs: Any = None, labels: Any = None, **parameters: Any
    ) -> Model:
        """The same model with another decision rule; nothing is trained again.

        Parameters
        ----------
        name : str
            Name in `linnaeus.decisions.RULES`.
        inputs : list of str, array-like, sparse matrix or None, default=None
            Rows for the rule to learn from; None for the held-out scores of the training rows that
            the model keeps.
        labels : sequence of list or None, default=None
            Their labels.
        **parameters : dict
            Parameters of the rule.

        Returns
        -------
        Model
        """
        check_rule(name, parameters)
        if name == OWN:
            return replace(self, rule=None, rule_name=OWN, about=self._told(OWN, {}, True))
        learns = make_rule(name, self.taxonomy, **parameters)._learns()
        scores, Y = self._examples(name, learns, inputs, labels)
        rule = fit_rule(
            name, scores, Y, self.taxonomy, self.columns, closed=self.closed, **parameters
        )
        rule.decide(scores[:1])  # a value that cannot be decided by is an error now, not later
        judged = inputs is None and not parameters
        return replace(self, rule=rule, rule_name=name, about=self._told(name, parameters, judged))

    def _told(self, name: str, parameters: dict[str, Any], judged: bool) -> dict[str, Any]:
        """What there is to tell with another rule; `judged`: as it stands in the table."""
        rule: dict[str, Any] = {
            "name": name,
            "parameters": parameters,
            "why": "because you chose it",
        }
        table = self.about.get("rule", {}).get("table")
        if table:  # what the rules reached stays known
            rule["table"] = [{**row, "chosen": row["rule"] == name} for row in table]
        figures = held_out_figures(table or (), name) if judged else {}
        return {**self.about, "rule": rule, "metrics": figures}

    def _examples(self, name: str, learns: bool, inputs: Any, labels: Any) -> tuple[Any, Any]:
        """Scores and label sets for a rule to learn from."""
        if inputs is not None:
            return self.scores(inputs), self.taxonomy.encode(labels)
        if self.held_out is not None:
            return self.held_out.scores, self.held_out.Y
        if learns:
            simple = ", ".join(r for r, info in RULES.items() if not info.learns)
            said = f"The rule {name!r} learns from held-out scores, and this model keeps none. "
            others = f", or use one of: own, {simple}."
            raise UserError(
                f"{said}Give labelled examples, train with rule={name!r}{others}",
                f"{said}Train with --rule {name}{others}",
            )
        return np.zeros((1, len(self.columns))), self.taxonomy.encode([[]])

    def save(self, path: str | Path, seconds: Mapping[str, float] | None = None) -> None:
        """Write the model as a directory, whole or not at all; read it with `linnaeus.load`.

        Parameters
        ----------
        path : str or Path
            Directory to write.
        seconds : dict or None, default=None
            How long the work took, by its steps.
        """
        storage.save(self, path, about=self.about, seconds=seconds)
        has_sparse = sp.issparse(vars(self.estimator).get("coef_"))
        if has_sparse and isinstance(self.estimator, LinearClassifier):
            self.estimator.save_index(path)


def held_out_figures(table: Iterable[Mapping[str, Any]], name: str) -> dict[str, float]:
    """What a rule reached on held-out scores; nothing where it was not judged."""
    found = next((line for line in table if line["rule"] == name), {})
    return {key: found[key] for key in VALUES if found.get(key) is not None}


def check_rule(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuse a rule that is not known, before any work is done for it."""
    check_rule_name(name, RULES)
    if name == OWN and parameters:
        raise UserError(
            f"The rule {OWN!r} takes no parameters, but {', '.join(parameters)} is given. Leave "
            f"that out, or name a rule that has it."
        )


def inputs_of(part: Part) -> Any:
    """The texts of a part, or its table.

    Parameters
    ----------
    part : Part
        Examples with labels.

    Returns
    -------
    list of str, ndarray or csr_array
    """
    return part.X if part.texts is None else part.texts
