"""What a hierarchy is: names and edges above, compact arrays below."""

from linnaeus.taxonomy.dag import Ancestors, Dag, Tree
from linnaeus.taxonomy.taxonomy import Taxonomy

__all__ = ["Ancestors", "Dag", "Taxonomy", "Tree"]
