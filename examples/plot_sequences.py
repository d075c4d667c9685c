"""
Kernels on sequences
====================

Letters in a row, as in proteins: there are no features to begin with. A kernel says how alike two
sequences are, and H-M3 learns from the matrix of these numbers.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linnaeus import HM3, HierarchicalRLS, Taxonomy
from linnaeus.kernels import SpectrumKernel, SubsequenceKernel, normalize, rank_kernels
from linnaeus.losses import class_attributes, class_kernel
from linnaeus.metrics import evaluate

# %%
# Families of made-up sequences. Each node of the taxonomy has a word of its own; a sequence is
# noise that holds the words of its family and of what lies above, with a letter wrong now and then.

rng = np.random.default_rng(0)
letters = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
taxonomy = Taxonomy.from_parents(
    {
        "enzyme": None,
        "oxidase": "enzyme",
        "kinase": "enzyme",
        "receptor": None,
        "channel": "receptor",
        "integrin": "receptor",
        "histone": None,
    }
)
word = {node: rng.choice(letters, 6) for node in taxonomy}


def sequence(family):
    parts = [rng.choice(letters, rng.integers(8, 20))]
    for node in taxonomy.ancestors(family):
        letter = np.where(rng.random(6) < 0.25, rng.choice(letters, 6), word[node])
        parts += [letter, rng.choice(letters, rng.integers(8, 20))]
    return "".join(np.concatenate(parts))


families = rng.choice(taxonomy.leaves, 240)
sequences = [sequence(family) for family in families]
labels = [[str(family)] for family in families]
train, test = np.arange(160), np.arange(160, 240)

# %%
# Which kernel suits the taxonomy? Alignment compares each with the similarity of the classes.

kernels = {
    "letters": SpectrumKernel(1),
    "pairs": SpectrumKernel(2),
    "runs of 2 to 4": SpectrumKernel(4, 2),
    "gapped triples": SubsequenceKernel(3, 0.5),
}
grams = {name: normalize(kernel).gram(sequences) for name, kernel in kernels.items()}
classes = np.array([taxonomy.leaves.index(family) for family in families])
wanted = class_kernel(class_attributes(taxonomy, "depth"))
on_train = {name: K[np.ix_(train, train)] for name, K in grams.items()}
ranked = rank_kernels(on_train, Y=classes[train], class_kernel=wanted)

# %%
# Two methods on every matrix.

truth = [labels[i] for i in test]
quality = {}
for name, alignment in ranked:
    K, K_test = on_train[name], grams[name][np.ix_(test, train)]
    rls = HierarchicalRLS(taxonomy, C=5, kernel="precomputed", margins=False)
    for model in (HM3(taxonomy, C=5, kernel="precomputed", random_state=0), rls):
        answers = model.fit(K, [labels[i] for i in train]).predict(K_test)
        f1 = evaluate(truth, answers, taxonomy)["hierarchical_f1"]
        quality[type(model).__name__, name] = f1
    print(
        f"{name:16} alignment {alignment:.3f}, hierarchical F1 of H-M3 {quality['HM3', name]:.3f}"
    )

# %%
# The best aligned matrix, rows in the order of the families; and what the kernels are worth.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
best = ranked[0][0]
rows = np.argsort(classes, kind="stable")
left.imshow(grams[best][np.ix_(rows, rows)], vmax=0.3)
left.set(title=f"kernel matrix, {best}", xticks=[], yticks=[])
names = [name for name, _ in ranked]
for shift, method in ((-0.2, "HM3"), (0.2, "HierarchicalRLS")):
    right.bar(np.arange(4) + shift, [quality[method, name] for name in names], 0.4, label=method)
right.set_xticks(range(4), [f"{name}\nalign. {value:.2f}" for name, value in ranked], fontsize=8)
right.set(ylim=(0, 1), title="hierarchical F1")
right.legend(loc="lower left")
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_sequences.png", dpi=110)
plt.close(fig)
