"""
A taxonomy of your own
======================

Read it, look at it, ask it questions, write it in another format.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from linnaeus import Taxonomy
from linnaeus.taxonomy.diagnose import findings

# %%
# Two shelves may carry the same title: ids and titles are separate, and paths make good ids.

shop = Taxonomy.from_paths(
    ["Shoes/Men/Boots", "Shoes/Men/Sandals", "Shoes/Women/Boots", "Garden/Boots", "Garden/Tools"]
)
shop.show()
print(shop.distance("Shoes/Men/Boots", "Shoes/Women/Boots"), "edges between the two Boots")

# %%
# Label sets become indicators, closed upwards on request.

Y = shop.encode([["Shoes/Men/Boots", "Garden/Tools"], ["Garden"]])
print(shop.decode(shop.closure(Y)))

# %%
# What would a maintainer want to see? And the same in another format.

for finding in findings(shop):
    print(finding.level, finding.message)
with TemporaryDirectory() as folder:
    shop.write(Path(folder) / "shop.obo")
    assert Taxonomy.read(Path(folder) / "shop.obo") == shop
