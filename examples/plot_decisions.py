"""
Decision rules and the trade-off between precision and recall
=============================================================

Scores do not say how many labels to answer. The same scores of the same model give few certain
labels or many doubtful ones; every rule is a point in the picture.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from linnaeus import FlatSVM
from linnaeus.decisions import Argmax, ClosedArgmax, InstanceCut, RCut, SCut, SetSize, Threshold
from linnaeus.metrics import precision_recall_f1
from linnaeus.splits import k_folds
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer

# %%
# A model of every node. Rules learn from scores of rows that the model has not seen: out-of-fold
# scores of the training part.

news = newsroom(n_train=600, n_test=300)
taxonomy = news.taxonomy
words = TfidfVectorizer(stop_words="english")
X, X_test = words.fit_transform(news.train.texts), words.transform(news.test.texts)
Y, Y_test = taxonomy.closure(news.Y("train")), taxonomy.closure(news.Y("test"))

model = FlatSVM(taxonomy, C=10, classes="nodes", random_state=0)
held_out = np.zeros(Y.shape)
for train, test in k_folds(Y, 3, random_state=0):
    held_out[test] = model.fit(X[train], Y[train]).decision_function(X[test])
scores = model.fit(X, Y).decision_function(X_test)

# %%
# All rules on the same scores. Whatever is answered is closed upwards before it is judged.

rules = {
    "Argmax": Argmax(taxonomy=taxonomy, among="leaves"),
    "Threshold(0)": Threshold(taxonomy=taxonomy),
    "RCut": RCut(taxonomy=taxonomy),
    "SCut": SCut(taxonomy=taxonomy),
    "SetSize": SetSize(taxonomy=taxonomy, top_k=10),
    "InstanceCut": InstanceCut(taxonomy=taxonomy),
    "ClosedArgmax": ClosedArgmax(taxonomy=taxonomy, shift="fit"),
}
found = {}
for name, rule in rules.items():
    answers = taxonomy.closure(rule.fit_scores(held_out, Y).decide(scores))
    found[name] = precision_recall_f1(Y_test, answers)
    print(f"{name:14} precision {found[name].precision:.3f}  recall {found[name].recall:.3f}")

# %%
# Taking more or less off all scores draws the curve of the best closed sets.

curve = []
for shift in np.linspace(-0.9, 1.5, 33):
    answers = ClosedArgmax(taxonomy=taxonomy, shift=shift).decide(scores)
    curve.append(precision_recall_f1(Y_test, answers)[:2])

fig, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
precision, recall = np.array(curve).T
axes.plot(recall, precision, color="0.6", label="ClosedArgmax, all shifts")
for marker, (name, value) in zip("osD^v*P", found.items(), strict=True):
    label = f"{name}: F1 {value.f1:.3f}"
    axes.plot(value.recall, value.precision, marker, markersize=9, label=label)
axes.set(xlabel="recall of nodes", ylabel="precision of nodes", xlim=(0.55, 1), ylim=(0.55, 1.01))
axes.grid(alpha=0.3)
axes.legend(loc="lower left")
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_decisions.png", dpi=110)
plt.close(fig)
