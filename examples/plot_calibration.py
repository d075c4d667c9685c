"""
Probabilities, and whether to believe them
==========================================

Among answers that are given with probability 0.8, eight in ten should be right. With few examples
models are too sure of themselves; hierarchical Bayesian logistic regression less than others.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linnaeus import HBLR, MulticlassLogistic
from linnaeus.metrics import calibration
from linnaeus.synthetic import make_hierarchical

# %%
# Twenty-seven classes, up to twelve examples each. Labels are drawn by the softmax of the scores of
# a planted hierarchy (adding Gumbel noise and taking the largest does that).

X, _, taxonomy, W = make_hierarchical(
    2000, n_features=30, fan_out=3, depth=3, random_state=3, return_weights=True
)
weights = (taxonomy.ancestor_matrix @ W)[taxonomy.leaf_numbers]
chance = np.random.default_rng(0).gumbel(size=(2000, 27))
y = np.array(taxonomy.leaves)[(X @ weights.T + chance).argmax(axis=1)]
train = np.concatenate([np.flatnonzero(y == leaf)[:12] for leaf in taxonomy.leaves])
test = np.setdiff1d(np.arange(len(y)), train)

# %%
# Softmax regression with two strengths of its penalty, and HBLR, which finds its own.

models = {
    "mlr, C = 1": MulticlassLogistic(taxonomy, C=1, random_state=0),
    "mlr, C = 1000": MulticlassLogistic(taxonomy, C=1000, random_state=0),
    "hblr": HBLR(taxonomy),
}
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="ideal")
for (name, model), marker in zip(models.items(), "osD", strict=True):
    p = model.fit(X[train], y[train]).predict_proba(X[test])
    found = calibration(y[test], p, taxonomy, classes=list(model.classes_), top=True)
    said = [bin["predicted"] for bin in found.bins]
    true = [bin["observed"] for bin in found.bins]
    error = found.expected_calibration_error
    left.plot(said, true, marker=marker, label=f"{name}: error {error:.3f}")
    print(f"{name:14} log loss {found.log_loss:.2f}, calibration error {error:.3f}")
left.set(xlabel="probability of the best class", ylabel="share of right answers")
left.legend()
left.grid(alpha=0.3)

# %%
# What probabilities are for: leave the doubtful ones to a person. Answers are sorted by their
# probability; of the surest tenth most are right.

for name, model in models.items():
    p = model.predict_proba(X[test])
    order = np.argsort(-p.max(axis=1))
    good = (np.asarray(model.classes_)[p.argmax(axis=1)] == y[test])[order]
    kept = np.arange(1, len(good) + 1)
    right.plot(kept[50:] / len(good), np.cumsum(good)[50:] / kept[50:], label=name)
right.set(xlabel="share of examples that are answered", ylabel="share of right answers")
right.legend()
right.grid(alpha=0.3)
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_calibration.png", dpi=110)
plt.close(fig)
