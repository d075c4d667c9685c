"""
A taxonomy learned from data
============================

Where nobody has drawn a hierarchy, examples can suggest one: classes whose examples are alike come
together. Here the true taxonomy is known, so that the learned one can be compared with it.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram, linkage

from linnaeus.induction import learn_taxonomy, sibling_agreement
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer

# %%
# Stories with the one label that comes first, of classes with ten stories or more. Their taxonomy
# is put aside.

news = newsroom(n_train=2000, n_test=1)
first = np.array([labels[0] for labels in news.train.labels])
names, counts = np.unique(first, return_counts=True)
rows = np.flatnonzero(np.isin(first, names[counts >= 10]))
y = first[rows]
X = TfidfVectorizer(stop_words="english").fit_transform([news.train.texts[i] for i in rows])

# %%
# Learn, and compare families: 1 is full agreement, 0 is what chance would give.

learned = learn_taxonomy(X, y)
groups = learned.children("root")
print(f"{len(learned.leaves)} classes in {len(groups)} groups, such as")
for group in sorted(groups, key=lambda group: -len(learned.children(group)))[:3]:
    print(" ", ", ".join(learned.children(group)))
print(f"agreement with the true families {sibling_agreement(learned, news.taxonomy):.2f}")

# %%
# The links between the classes behind it. Colours tell the true top of the taxonomy, which the
# program has not seen.

classes = learned.leaves
means = np.array([X[y == name].mean(axis=0) for name in classes])
roots = news.taxonomy.roots
tops = {name: min(news.taxonomy.ancestors(name), key=news.taxonomy.index) for name in classes}
colours = dict(zip(roots, plt.colormaps["Dark2"].colors, strict=False))

fig, axes = plt.subplots(figsize=(8, 9), layout="constrained")
dendrogram(
    linkage(means, "average"), labels=list(classes), orientation="left", ax=axes,
    link_color_func=lambda link: "0.6", leaf_font_size=8,
)  # fmt: skip
for label in axes.get_yticklabels():
    label.set_color(colours[tops[label.get_text()]])
for root in dict.fromkeys(tops.values()):
    axes.plot([], [], color=colours[root], linewidth=4, label=root)
axes.set(title="classes, joined by the likeness of their stories", xlabel="distance")
axes.legend(title="true top", loc="upper left")
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_learned_taxonomy.png", dpi=110)
plt.close(fig)
