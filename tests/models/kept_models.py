"""Small models of every format of the storage, kept for good, and how those of today are written.

The folder of a format, tests/models/<version>, holds directories as `linnaeus.save` writes them and
beside each a file <name>.json with inputs and the answers to them. Every later version must load
them all and answer the same. The folders of older formats are never written again; the one of
today's format is written by

    python tests/models/kept_models.py [NAME ...]

which changes nothing but the files made.json, unless what is saved or learnt has changed.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn import (
    feature_extraction,
    impute,
    linear_model,
    model_selection,
    multiclass,
    pipeline,
    preprocessing,
    svm,
)

import linnaeus
from linnaeus import Taxonomy, decisions, kernels, losses
from linnaeus.execution.memory import never_refused
from linnaeus.io.collection import Part
from linnaeus.model import TableFeatures, train
from linnaeus.splits import MultilabelStratifiedKFold
from linnaeus.storage import document
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer

HERE = Path(__file__).parent
ASKED = ("predict", "decision_function", "predict_proba", "transform", "scores", "gram")

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")],
    titles={"A": "First", "b1": "Third"},
)
LEAF = np.arange(16) % 4
Y = np.array(TAX.leaves)[LEAF]
LISTS = [sorted({Y[i], Y[(i * i) % 7]}) for i in range(16)]
X = np.round(np.random.default_rng(0).normal(size=(16, 4)) * 0.3 + 1.5 * np.eye(4)[LEAF], 2)
WORDS = {
    "a1": "purr mew cat",
    "a2": "bark wag dog",
    "b1": "acorn oak bough",
    "b2": "thorn rose bud",
}
TEXTS = [" ".join(WORDS[label] for label in row) + f" the {i % 3}" for i, row in enumerate(LISTS)]
SYMBOLS = {"a1": "ACDA", "a2": "EFGE", "b1": "HIKH", "b2": "LMNL"}
SEQUENCES = [SYMBOLS[label] * 6 + "ACEH"[i % 4] for i, label in enumerate(Y)]
KERNEL = kernels.normalize(kernels.SpectrumKernel(2)) + 0.5 * kernels.WordSequenceKernel(1)


def _all_fitted(made, inputs, labels):
    return {name: model.fit(inputs, labels) for name, model in made.items()}, inputs[:5]


def linear():
    made = {
        "svm": linnaeus.FlatSVM(TAX, random_state=0),
        "svm, hinge, flat": linnaeus.FlatSVM(loss="hinge", random_state=0),
        "logistic": linnaeus.FlatLogistic(TAX, random_state=0),
        "msvm": linnaeus.MulticlassSVM(TAX, random_state=0),
        "mlr": linnaeus.MulticlassLogistic(TAX, random_state=0),
        "hrls": linnaeus.HierarchicalRLS(TAX),
    }
    fitted, asked = _all_fitted(made, X, Y)
    sets = linnaeus.FlatSVM(TAX, classes="nodes", random_state=0)
    fitted["svm, closed sets"] = sets.fit(X, TAX.closure(TAX.encode(LISTS)).toarray())
    fitted["svm, lists, sparse weights"] = (
        linnaeus.FlatSVM(TAX, prune=0.1, random_state=0).fit(sp.csr_array(X), LISTS).sparsify()
    )
    return fitted, asked


def forms():
    """Labels as a data frame, as paths, as numbers for the leaves."""
    svms = {name: linnaeus.FlatSVM(TAX, random_state=0) for name in ("frame", "numbers", "decided")}
    levels = pd.DataFrame([["A" if leaf[0] == "a" else "B", leaf] for leaf in Y], columns=[1, 2])
    return {
        "frame": svms["frame"].fit(X, pd.get_dummies(pd.Series(Y))),
        "numbers": svms["numbers"].fit(X, LEAF),
        "levels": linnaeus.FlatSVM("infer", random_state=0).fit(X, levels),
        "paths": linnaeus.FlatSVM("infer", random_state=0).fit(X, [["r", v[0], v] for v in Y]),
        "decided": decisions.Threshold(svms["decided"], TAX).fit(X, pd.get_dummies(pd.Series(Y))),
    }, X[:5]


def top_down():
    kinds = [
        {}, {"local": "multiclass"}, {"decode": "beam"}, {"stop": "levels"},
        {"estimator": linear_model.LogisticRegression()},
        {"local": "multiclass", "estimator": svm.LinearSVC(random_state=0)},
    ]  # fmt: skip
    return _all_fitted(
        {str(i): linnaeus.TopDown(TAX, random_state=0, **own) for i, own in enumerate(kinds)}, X, Y
    )


def recursive():
    made = {
        "rr-svm": linnaeus.RecursiveSVM(TAX, random_state=0),
        "rr-svm, conductance": linnaeus.RecursiveSVM(
            TAX, conductance={("r", "A"): 2.0}, ground=0.5, random_state=0
        ),
        "rr-lr": linnaeus.RecursiveLogistic(TAX, random_state=0),
        "ot": linnaeus.OrthogonalTransfer(TAX, random_state=0),
    }
    return _all_fitted(made, X, Y)


def recursive_parts():
    """Weights in parts, as where memory does not hold whole ones."""
    model = linnaeus.RecursiveSVM(TAX, random_state=0, memory=1)
    with never_refused():
        model.fit(X, Y)
    return model, X[:5]


def markov():
    made = {
        "hm3": linnaeus.HM3(TAX, random_state=0),
        "hm3, path": linnaeus.HM3(TAX, features="path", random_state=0),
        "hm3, edge slack": linnaeus.HM3(TAX, slack="edge", random_state=0),
        "graph": linnaeus.GraphM3(TAX, edges=[("a1", "b1")], max_iter=5, random_state=0),
    }
    return _all_fitted(made, X, TAX.encode(LISTS))


def ranking():
    made = {
        "tree": linnaeus.RankingSVM(TAX, random_state=0),
        "flat": linnaeus.RankingSVM(random_state=0),
        "warm": linnaeus.RankingSVM(TAX, warm_start=True, random_state=0),
        "matrix": linnaeus.RankingSVM(
            TAX, loss=1.0 - np.eye(4), attributes=np.eye(4), random_state=0
        ),
        "object": linnaeus.RankingSVM(TAX, loss=losses.class_loss("distance", TAX), random_state=0),
        "table": linnaeus.RankingSVM(
            TAX, loss=losses.class_loss(1.0 - np.eye(4), TAX), random_state=0
        ),
    }
    return _all_fitted(made, X, Y)


def online():
    made = {
        "averaged": linnaeus.HierarchicalPerceptron(TAX, max_iter=2, random_state=0),
        "last": linnaeus.HierarchicalPerceptron(TAX, variant="online", max_iter=2, random_state=0),
        "kernel": linnaeus.HierarchicalPerceptron(
            TAX, kernel=kernels.LinearKernel(), max_iter=2, random_state=0
        ),
        "hieron": linnaeus.Hieron(TAX, max_iter=2, random_state=0),
    }
    fitted, asked = _all_fitted(made, X, Y)
    growing = linnaeus.HierarchicalPerceptron(TAX, random_state=np.random.RandomState(0))
    fitted["in parts"] = growing.partial_fit(X[:8], Y[:8]).partial_fit(X[8:], Y[8:])
    fitted["hieron in parts"] = linnaeus.Hieron(TAX, random_state=0).partial_fit(X, Y)
    return fitted, asked


def bayes():
    made = {
        "map": linnaeus.HBLR(TAX),
        "binary": linnaeus.HBLR(TAX, link="binary"),
        "variational": linnaeus.HBLR(TAX, inference="variational", max_iter=20),
        "full": linnaeus.HBLR(TAX, inference="variational", covariance="full", max_iter=20),
        "corrmnl": linnaeus.CorrelatedMNL(TAX, n_burn_in=2, n_samples=8, random_state=0),
    }
    return _all_fitted(made, X, Y)


def batches():
    """Models that hold the rows that they have learned from, so that they can go on."""
    made = {
        "svm": linnaeus.FlatSVM(TAX, random_state=0),
        "rr-svm": linnaeus.RecursiveSVM(TAX, random_state=0),
        "rr-lr": linnaeus.RecursiveLogistic(TAX, random_state=0),
        "hblr": linnaeus.HBLR(TAX),
    }
    for model in made.values():
        model.partial_fit(X[:8], Y[:8]).partial_fit(X[8:], Y[8:], sample_weight=np.ones(8))
    return made, X[:5]


def kernel_machines():
    kinds = {
        "hm3": linnaeus.HM3(TAX, kernel=KERNEL, random_state=0),
        "ranking-svm": linnaeus.RankingSVM(TAX, kernel=KERNEL, random_state=0),
    }
    return _all_fitted(kinds, TEXTS, Y)


def kernel_functions():
    made = {
        "words": kernels.BagOfWordsKernel(),
        "syllables": kernels.SyllableSequenceKernel(2),
        "word sequences": kernels.WordSequenceKernel(2),
        "subsequences": kernels.SubsequenceKernel(2, 0.5),
        "product": kernels.SpectrumKernel(2) * kernels.BagOfWordsKernel(),
        "sum": KERNEL,
    }
    return made, TEXTS[:3]


def rules():
    svm_, sets = linnaeus.FlatSVM(TAX, random_state=0), TAX.encode(LISTS)
    cv = MultilabelStratifiedKFold(3, random_state=0)
    nodes = linnaeus.FlatSVM(TAX, classes="nodes", random_state=0)
    made = {
        "argmax": decisions.Argmax(svm_, TAX, random_state=0),
        "closed argmax": decisions.ClosedArgmax(nodes, TAX, random_state=0),
        "instance cut": decisions.InstanceCut(svm_, TAX, cv=3, random_state=0),
        "rcut": decisions.RCut(svm_, TAX, cv=model_selection.KFold(3), random_state=0),
        "scut": decisions.SCut(svm_, TAX, cv=cv, random_state=0),
        "set size": decisions.SetSize(svm_, TAX, cv=3, random_state=0),
        "threshold": decisions.Threshold(svm_, TAX, cv=3, random_state=0),
        "consistent": decisions.TopDownConsistent(
            nodes, TAX, decision=decisions.SCut(), cv=3, random_state=0
        ),
    }
    fitted, asked = _all_fitted(made, X, sets)
    folds = model_selection.StratifiedKFold(3)
    fitted["one label"] = decisions.SCut(svm_, TAX, cv=folds, random_state=0).fit(X, Y)
    fitted["lists"] = decisions.SCut(svm_, TAX, cv=3, random_state=0).fit(X, LISTS)
    return fitted, asked


def vectorizers():
    made = {
        "words": TfidfVectorizer(ngram_range=(1, 2)),
        "hashed": TfidfVectorizer(hashing=16),
        "characters": TfidfVectorizer(analyzer="char", stop_words=["a"]),
        "spectrum": SpectrumVectorizer(p=2, q=1),
    }
    return {name: one.fit(TEXTS) for name, one in made.items()}, TEXTS[:3]


def tables():
    made = {scale: TableFeatures(scale) for scale in ("standard", "unit", "none")}
    return {name: one.fit(X) for name, one in made.items()}, X[:4]


def pipelines():
    chained = pipeline.make_pipeline
    made = {
        "svc": chained(impute.SimpleImputer(), preprocessing.StandardScaler(), svm.LinearSVC()),
        "ours": chained(preprocessing.Normalizer(), linnaeus.FlatSVM(TAX, random_state=0)),
        "rest": chained(
            preprocessing.MinMaxScaler(),
            preprocessing.MaxAbsScaler(),
            multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
        ),
    }
    made["svc"].set_params(linearsvc__random_state=0)
    fitted, asked = _all_fitted(made, X, Y)
    always = np.column_stack([Y == "a1", np.ones(16, int)]).astype(int)
    fitted["a label of all"] = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    fitted["a label of all"].fit(X, always)
    return fitted, asked


def text_pipelines():
    text, svc = feature_extraction.text, svm.LinearSVC(random_state=0)
    made = {
        "counts": pipeline.make_pipeline(text.CountVectorizer(), text.TfidfTransformer(), svc),
        "tfidf": pipeline.make_pipeline(text.TfidfVectorizer(), linnaeus.FlatSVM(random_state=0)),
    }
    return _all_fitted(made, TEXTS, Y)


def single():
    return linnaeus.FlatSVM(TAX, random_state=0).fit(X, Y), X[:5]


def plain():
    """Every kind of value that there is beside classes."""
    dag = Taxonomy.from_edges(
        [("a", "c"), ("b", "c"), ("c", 1)], related=[("a", "b")], titles={"c": "größer"}
    )
    value = {
        "taxonomy": dag, "$names": {"a": 1}, "pairs": {1: "x", (2, "y"): None},
        "sets": {"b", "a"}, "frozen": frozenset([3, 1]), "many": [f"word {i}" for i in range(1000)],
        "terms": {f"w{i}": i for i in range(1000)}, "inf": float("inf"), "scalar": np.float32(0.5),
        "dtype": np.dtype("f8"), "type": np.float64, "slice": slice(1, None), "range": range(3),
        "array": np.arange(6.0).reshape(2, 3), "columns": np.arange(6).reshape(2, 3).T,
        "texts": np.array(["a", "bc"]), "sparse": sp.csc_matrix(np.eye(2)),
        "generator": np.random.RandomState(5),
    }  # fmt: skip
    value["same"] = value["array"]
    return value, None


def _part(**inputs):
    return Part(LISTS, [f"r{i}" for i in range(16)], **inputs)


def model_words():
    return train(_part(texts=TEXTS), TAX, "svm", folds=2), TEXTS[:5]


def model_table():
    names = ["one", "two", "three", "four"]
    return train(_part(X=X, feature_names=names), TAX, "topdown", rule="scut", folds=2), X[:5]


def model_sequences():
    part = Part([[label] for label in Y], [f"r{i}" for i in range(16)], texts=SEQUENCES)
    return train(part, TAX, "mlr"), SEQUENCES[:5]


def model_decides():
    """A method that decides by itself, so that its own label sets are kept beside the scores."""
    return train(_part(texts=TEXTS), TAX, "hm3", folds=2), TEXTS[:5]


def command(folder):
    """What the command line writes."""
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        data.mkdir()
        TAX.write(data / "taxonomy.tsv")
        rows = [
            {"id": f"r{i}", "text": text, "labels": labels}
            for i, (text, labels) in enumerate(zip(TEXTS, LISTS, strict=True))
        ]
        (data / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        code = "from linnaeus.cli.main import run; run()"
        options = ["--method", "svm", "--rule", "scut", "--folds", "2", "--quiet"]
        call = [sys.executable, "-c", code, "train", str(data), "-o", str(folder), *options]
        subprocess.run(call, check=True, capture_output=True)
    return TEXTS[:5]


MODELS = {
    function.__name__.replace("_", "-"): function
    for function in (
        linear, forms, top_down, recursive, recursive_parts, markov, ranking, online, bayes,
        batches, kernel_machines, kernel_functions, rules, vectorizers, tables, pipelines,
        text_pipelines, single, plain, model_words, model_table, model_sequences, model_decides,
    )
}  # fmt: skip


def answers(found, inputs, version=None):
    """What an object, or each of a dictionary of objects, says about inputs; as JSON.

    version : of the format; up to 2 scores and probabilities had a column for each class trained
    """
    if inputs is None:
        return {}
    many = found if isinstance(found, dict) else {"": found}
    asked = inputs if isinstance(inputs[0], str) else np.array(inputs)
    return {
        name: {way: _listed(_way(one, way, version)(asked)) for way in ASKED if _can(one, way)}
        for name, one in many.items()
    }


def _way(one, way, version):
    trained = {"decision_function": "class_scores", "predict_proba": "class_probabilities"}
    old = version is not None and version <= 2 and hasattr(one, trained.get(way, "-"))
    return getattr(one, trained[way] if old else way)


def _can(one, way):
    return callable(getattr(one, way, None))


def _listed(answer):
    answer = answer.toarray() if sp.issparse(answer) else answer
    answer = answer.to_numpy() if hasattr(answer, "to_numpy") else answer
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


def write_model(name, folder):
    """One model with its answers."""
    if name == "command":
        inputs = command(folder / name)
        found = linnaeus.load(folder / name)
    else:
        found, inputs = MODELS[name]()
        found.save(folder / name) if hasattr(found, "save") else linnaeus.save(found, folder / name)
    asked = inputs.tolist() if isinstance(inputs, np.ndarray) else inputs
    told = {"inputs": asked, "answers": answers(found, asked)}
    (folder / f"{name}.json").write_text(json.dumps(told, ensure_ascii=False) + "\n", "utf-8")


def main(names=()):
    """Write the models of today's format, or some of them."""
    folder = HERE / str(document.VERSION)
    folder.mkdir(exist_ok=True)
    for name in names or (*MODELS, "command"):
        shutil.rmtree(folder / name, ignore_errors=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            write_model(name, folder)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
