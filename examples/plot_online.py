"""
Online learning while the taxonomy grows
========================================

Examples come one batch at a time, and in the middle of the stream the taxonomy gets a new branch.
A Perceptron goes on from where it was: a new class starts with what the nodes above it know.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linnaeus import HierarchicalPerceptron, Taxonomy
from linnaeus.metrics import hierarchical_f1
from linnaeus.synthetic import make_hierarchical

# %%
# At first the classes below "3" do not exist: neither in the taxonomy nor in the stream.

X, _, whole, W = make_hierarchical(
    2400, n_features=30, fan_out=3, depth=2, random_state=2, return_weights=True
)
weights = (whole.ancestor_matrix @ W)[whole.leaf_numbers]
y = np.array(whole.leaves)[(X @ weights.T).argmax(axis=1)]
late = np.char.startswith(y, "3")
edges = [(parent, child) for child in whole for parent in whole.parents(child)]
early = Taxonomy.from_edges([edge for edge in edges if not edge[1].startswith("3")])
print(f"{len(early.leaves)} classes at first, {len(whole.leaves)} later")

test = slice(2000, 2400)
first = [i for i in range(1000) if not late[i]]
stream = [*np.array_split(first, 20), *np.array_split(np.arange(1000, 2000), 30)]

# %%
# `partial_fit` takes a batch, and with it a larger taxonomy when it is time.

model = HierarchicalPerceptron(early, random_state=0)
seen, score, of_new = [0], [], []
for number, rows in enumerate(stream):
    model.partial_fit(X[rows], y[rows], taxonomy=whole if number == 20 else None)
    answers = model.predict(X[test])
    seen.append(seen[-1] + len(rows))
    score.append(hierarchical_f1(y[test], answers, whole))
    of_new.append(np.mean(answers[late[test]] == y[test][late[test]]))

# %%
# The test part holds all classes from the start, so there is nothing to gain on a third of it
# before the new branch arrives.

fig, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.plot(seen[1:], score, label="hierarchical F1, all classes")
axes.plot(seen[1:], of_new, label="exactly right, classes of the new branch")
axes.axvline(seen[20], color="0.6", linestyle="--")
axes.text(seen[20], 0.93, " the taxonomy grows", color="0.4")
axes.set(xlabel="examples seen", ylim=(0, 1))
axes.grid(alpha=0.3)
axes.legend(loc="center left")
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_online.png", dpi=110)
plt.close(fig)
print(f"hierarchical F1 {score[19]:.3f} before, {score[-1]:.3f} at the end")
