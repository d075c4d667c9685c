"""
A taxonomy of your own, drawn and checked
=========================================

Read it, ask it questions, let it be checked, write it in another format, and draw it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from linnaeus import Taxonomy
from linnaeus.taxonomy.diagnose import findings

# %%
# Two shelves may carry the same title: ids and titles are separate, and paths make good ids.

shop = Taxonomy.from_paths(
    [
        "Shoes/Men/Boots",
        "Shoes/Men/Sandals",
        "Shoes/Women/Boots",
        "Shoes/Care",
        "Garden/Boots",
        "Garden/Tools/Spades",
        "Garden/Tools/Rakes",
    ]
)
shop.show()
print(shop.distance("Shoes/Men/Boots", "Shoes/Women/Boots"), "edges between two kinds of boots")

# %%
# Label sets become indicators, closed upwards on request.

Y = shop.encode([["Shoes/Men/Boots", "Garden/Tools/Spades"], ["Garden"]])
print(shop.decode(shop.closure(Y)))

# %%
# What would a maintainer want to see? And the same in another format.

for finding in findings(shop):
    print(finding.level, finding.message)
with TemporaryDirectory() as folder:
    shop.write(Path(folder) / "shop.obo")
    assert Taxonomy.read(Path(folder) / "shop.obo") == shop

# %%
# A drawing: leaves get a line each, an inner node stands in the middle of its children. Parents
# have lower numbers than their children, so counting down sees children first.

height = {leaf: -line for line, leaf in enumerate(sorted(shop.leaves))}
for node in reversed(shop.nodes):
    if node not in height:
        below = [height[child] for child in shop.children(node)]
        height[node] = sum(below) / len(below)
depth = {node: shop.depth[shop.index(node)] for node in shop}

fig, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for node in shop:
    for child in shop.children(node):
        axes.plot([depth[node], depth[child]], [height[node], height[child]], color="0.75")
for node in shop:
    axes.text(
        depth[node], height[node], node.split("/")[-1], ha="center", va="center",
        bbox={"boxstyle": "round", "facecolor": "#d8efec", "edgecolor": "#00897b"},
    )  # fmt: skip
axes.set(xlim=(-0.3, 2.3), ylim=(min(height.values()) - 0.6, 0.6))
axes.axis("off")
fig.savefig(Path(globals().get("IMAGES", ".")) / "plot_own_taxonomy.png", dpi=110)
plt.close(fig)
