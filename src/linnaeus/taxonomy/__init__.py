"""What a hierarchy is: names and edges above, compact arrays below."""

from linnaeus.taxonomy.dag import Ancestors, Dag
from linnaeus.taxonomy.taxonomy import Taxonomy
from linnaeus.taxonomy.tree import Tree

__all__ = ["Ancestors", "Dag", "Taxonomy", "Tree"]
