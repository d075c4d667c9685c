"""
Few examples per class
======================

A hierarchy helps where classes have few examples: relatives share what they have learned. Here the
methods that use it do with about half the examples of those that do not.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linnaeus import HBLR, FlatLogistic, FlatSVM, HierarchicalPerceptron, RankingSVM
from linnaeus.metrics import hierarchical_f1, micro_f1
from linnaeus.splits import t_per_class
from linnaeus.synthetic import make_hierarchical

# %%
# Data with a planted hierarchy: 27 classes whose weights are sums along their paths. The label of
# an example is the class whose weights fit it best.

X, _, taxonomy, W = make_hierarchical(
    1500, n_features=25, fan_out=3, depth=3, random_state=1, return_weights=True
)
weights = (taxonomy.ancestor_matrix @ W)[taxonomy.leaf_numbers]
y = np.array(taxonomy.leaves)[(X @ weights.T).argmax(axis=1)]

# %%
# `t_per_class` draws t examples of each class to train on, and leaves the others to test on. Each
# method is asked for the one best leaf.

methods = {
    "svm (flat)": lambda: FlatSVM(taxonomy, C=1, random_state=0),
    "logistic (flat)": lambda: FlatLogistic(taxonomy, C=10, random_state=0),
    "ranking-svm": lambda: RankingSVM(taxonomy, C=1, random_state=0),
    "perceptron": lambda: HierarchicalPerceptron(taxonomy, random_state=0),
    "hblr": lambda: HBLR(taxonomy, tol=0.01),
}
sizes, repetitions = (1, 3, 10), 3
exact = {name: np.zeros((len(sizes), repetitions)) for name in methods}
near = {name: np.zeros((len(sizes), repetitions)) for name in methods}
for i, t in enumerate(sizes):
    for j, (train, test) in enumerate(t_per_class(y, t, repetitions, random_state=0)):
        for name, make in methods.items():
            answers = make().fit(X[train], y[train]).predict(X[test])
            exact[name][i, j] = micro_f1(y[test], answers)
            near[name][i, j] = hierarchical_f1(y[test], answers, taxonomy)

# %%
# The right leaf, and how much of its path: points are means of three draws, bars their deviations.

fig, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharex=True)
titles = ("the right leaf (micro-F1)", "the path (hierarchical F1)")
for axes, values, title in zip(panels, (exact, near), titles, strict=True):
    for marker, name in zip("os^Dv", methods, strict=True):
        mean, deviation = values[name].mean(axis=1), values[name].std(axis=1, ddof=1)
        axes.errorbar(sizes, mean, deviation, marker=marker, capsize=3, label=name)
    axes.set(xscale="log", xlabel="training examples per class", title=title)
    axes.set_xticks(sizes, [str(t) for t in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
panels[0].legend()
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_few_examples.png", dpi=110)
plt.close(fig)
for name in methods:
    print(f"{name:16}", "  ".join(f"{value:.3f}" for value in near[name].mean(axis=1)))
