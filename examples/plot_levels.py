"""
Methods compared, level by level
================================

One collection, six models, one rule for all of them: the best closed set. The upper levels are
easier than the lower ones, where classes have few examples, and no model is best on all of them.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from linnaeus import FlatLogistic, FlatSVM, HierarchicalRLS, RecursiveSVM, TopDown
from linnaeus.decisions import ClosedArgmax
from linnaeus.metrics import evaluate
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer

# %%
# Made-up news stories. The taxonomy is a DAG: some nodes have two parents.

news = newsroom(n_train=500, n_test=300)
taxonomy = news.taxonomy
words = TfidfVectorizer(stop_words="english")
X, X_test = words.fit_transform(news.train.texts), words.transform(news.test.texts)
Y, Y_test = news.Y("train"), news.Y("test")

# %%
# Models of the leaves, of all nodes, and of the decisions on the way down. `ClosedArgmax` learns
# from out-of-fold scores what to take off every score.

models = {
    "svm, leaves": FlatSVM(taxonomy, C=10, random_state=0),
    "svm, all nodes": FlatSVM(taxonomy, C=10, classes="nodes", random_state=0),
    "logistic, all nodes": FlatLogistic(taxonomy, C=100, classes="nodes", random_state=0),
    "topdown": TopDown(taxonomy, C=10, decode="path", random_state=0),
    "hrls": HierarchicalRLS(taxonomy, C=10, margins=False),
    "rr-svm": RecursiveSVM(taxonomy, C=10, loss="squared_hinge", random_state=0),
}
reports = {}
for name, model in models.items():
    decision = ClosedArgmax(model, taxonomy, shift="fit", cv=3, random_state=0)
    reports[name] = evaluate(Y_test, decision.fit(X, Y).predict(X_test), taxonomy)
    print(f"{name:20} hierarchical F1 {reports[name]['hierarchical_f1']:.3f}")

# %%
# F1 of the nodes at each depth.

fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
markers = iter("osD^v*")
for name, report in reports.items():
    f1 = [level["f1"] for level in report.levels]
    axes.plot(range(len(f1)), f1, marker=next(markers), label=name)
counts = [level["nodes"] for level in report.levels]
axes.set_xticks(range(len(counts)), [f"level {d}\n{n} nodes" for d, n in enumerate(counts)])
axes.set_ylabel("micro-F1 of the nodes of a level")
axes.grid(alpha=0.3)
axes.legend()
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_levels.png", dpi=110)
plt.close(fig)
