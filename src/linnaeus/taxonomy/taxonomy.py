"""A taxonomy: named nodes, parents before children, with the questions people ask of it.

Names live here and above; below there are numbers in compact arrays (`Taxonomy.dag`, and
`Taxonomy.tree` when no node has two parents). A taxonomy never changes: every operation that
would change one returns another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import TaxonomyError, UserError, nearest, shorten
from linnaeus.taxonomy import draw, labelsets, lines, reshape, structure
from linnaeus.taxonomy.dag import Ancestors, Dag, IntArray, Tree, ancestor_lists
from linnaeus.taxonomy.naming import Numbered, number_nodes

if TYPE_CHECKING:
    import networkx as nx

TOPS = ("root", "Root", "ROOT")  # what an artificial top is called


class Taxonomy:
    """An immutable tree, forest or DAG of named nodes, possibly with related links.

    Build one with `from_edges`, `from_parents`, `from_paths`, `from_networkx`, `flat` or `read`.

    Methods that take a node `v` take its name, and answer in names; or its number, where no
    node has that number for a name, and answer in numbers.

    Parameters
    ----------
    numbered : object
        Nodes, edges and links as numbers; made by the methods above.
    titles : dict or None, default=None
        {name: human title}, for the nodes that have one besides their id.
    misc : dict or None, default=None
        {misc leaf: the inner node it stands for}.

    Attributes
    ----------
    nodes : tuple
        Names, every parent before its children.
    roots, leaves : tuple
        Names, in node order.
    levels : tuple of tuple
        ``levels[d]`` holds the names at depth d.
    depth : ndarray of int of shape (n_nodes,)
        The longest way down from a root (roots 0).
    titles : dict
        {name: human title}, for the nodes that have one besides their name.
    related : tuple of tuple
        Symmetric non-hierarchical links (a, b), each once.
    edges : tuple of tuple
        All (parent, child) pairs of names.
    is_tree : bool
        True when no node has two parents (a forest counts).
    kind : {'flat', 'tree', 'forest', 'DAG', 'graph'}
        What kind of hierarchy it is; a forest has several roots, a graph related links only.
    is_graph : bool
        True when there are related links and no hierarchy: an undirected graph of labels.
    misc : dict
        {misc leaf: the inner node it stands for}, after `with_misc`.
    dag, tree : Dag and Tree
        The same as arrays over node numbers, for numerical code.
    n_parents, n_children : ndarray of int of shape (n_nodes,)
        How many parents and children each node has.
    root_numbers, leaf_numbers : ndarray of int
        `roots` and `leaves` as numbers.
    related_numbers : ndarray of int of shape (n_links, 2)
        `related` as numbers.
    notes : tuple of str
        What `read` had to guess about its file; empty for taxonomies that were not read.

    Examples
    --------
    >>> from linnaeus import Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("dog", "poodle")])
    >>> tax.leaves
    ('cat', 'poodle')
    >>> tax.ancestors("poodle")
    ('animal', 'dog', 'poodle')
    """

    nodes: tuple[Any, ...]
    dag: Dag
    titles: Mapping[Any, str]
    misc: Mapping[Any, Any]
    n_parents: IntArray  # how many parents each node has
    n_children: IntArray
    root_numbers: IntArray
    leaf_numbers: IntArray
    is_tree: bool  # or a forest
    kind: str  # flat, tree, forest, DAG or graph
    is_graph: bool  # related links and no hierarchy
    related_numbers: IntArray  # `related` as an (n_links, 2) array of node numbers
    notes: tuple[str, ...] = ()  # what `read` had to guess
    _numbered: Numbered

    def __init__(
        self,
        numbered: Numbered,
        titles: Mapping[Any, str] | None = None,
        misc: Mapping[Any, Any] | None = None,
    ) -> None:
        dag = numbered.dag
        above, below = (np.diff(ptr).astype(np.int32) for ptr in (dag.parent_ptr, dag.child_ptr))
        one, is_tree = (above == 0).sum() == 1, bool((above <= 1).all())
        hierarchy = ("tree" if one else "forest") if is_tree else "DAG"
        is_graph = not below.any() and bool(numbered.related.size)
        self.__dict__.update(
            _numbered=numbered,
            nodes=numbered.nodes,
            dag=dag,
            n_parents=above,
            n_children=below,
            root_numbers=np.flatnonzero(above == 0).astype(np.int32),
            leaf_numbers=np.flatnonzero(below == 0).astype(np.int32),
            is_tree=is_tree,
            kind=hierarchy if below.any() else "graph" if is_graph else "flat",
            is_graph=is_graph,
            related_numbers=numbered.related,
        )
        self.__dict__["titles"] = MappingProxyType(self._checked_titles(titles or {}))
        self.__dict__["misc"] = MappingProxyType(dict(misc or {}))

    def __setattr__(self, name: str, value: Any) -> None:
        raise TaxonomyError(
            f"A taxonomy never changes, so its {name!r} cannot be set. Make another one, for "
            f"example with from_edges(taxonomy.edges, ...)."
        )

    def _checked_titles(self, titles: Mapping[Any, str]) -> dict[Any, str]:
        for name in titles:
            if name not in self:
                raise TaxonomyError(
                    f"A title is given for {shorten(name)}, which is not a node. "
                    f"Declare the node (an edge, or a line with an empty parent)."
                )
        return {v: str(titles[v]) for v in self.nodes if v in titles} if titles else {}

    # -- building ---------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        related: Iterable[Sequence[Any]] = (),
        titles: Mapping[Any, str] | None = None,
    ) -> Taxonomy:
        """From (parent, child) pairs.

        Parameters
        ----------
        edges : iterable of (parent, child)
            Names; (None, name) declares a root, so isolated nodes can exist. Repeated edges count
            once.
        related : iterable of (a, b), default=()
            Symmetric links, which may name further nodes.
        titles : dict or None, default=None
            {name: human title}, for nodes that have one besides their name.

        Returns
        -------
        Taxonomy
        """
        return cls(number_nodes(lines.from_edges(edges), related), titles)

    @classmethod
    def from_parents(
        cls, parents: Mapping[Any, Any], titles: Mapping[Any, str] | None = None
    ) -> Taxonomy:
        """From the parents of every node.

        Parameters
        ----------
        parents : dict
            {child: parent}, {child: [parents]} or {root: None}; every parent is a key too.
        titles : dict or None, default=None
            {name: human title}, for nodes that have one besides their name.

        Returns
        -------
        Taxonomy
        """
        return cls(number_nodes(lines.from_parents(parents)), titles)

    @classmethod
    def from_paths(cls, paths: Any, sep: str = "/", ids: str = "path") -> Taxonomy:
        """From paths such as "A/B/C", or rows of names such as ["A", "B", "C"].

        Of texts, ids are the paths and titles their last parts. Of rows (lists, an array, a data
        frame of levels; ragged, or padded with "", None or NaN) ids are the names, but a name that
        stands in several places gets its path as id, and keeps the name as title. Either way two
        nodes may carry the same name under different parents; ``ids="name"`` makes one of them.

        Parameters
        ----------
        paths : iterable of str, or of rows of names
            Paths from a root down.
        sep : str, default='/'
            What stands between the names of a path.
        ids : {'path', 'name'}, default='path'
            Whether namesakes are told apart by their paths, or are one node.

        Returns
        -------
        Taxonomy

        Examples
        --------
        >>> Taxonomy.from_paths([["pet", "cat"], ["pet", "dog"], ["toy", "cat"]]).nodes
        ('pet', 'pet/cat', 'dog', 'toy', 'toy/cat')
        """
        flat, titles = lines.from_paths(paths, sep, ids)
        return cls(number_nodes(flat), titles)

    @classmethod
    def flat(cls, labels: Iterable[Any]) -> Taxonomy:
        """Labels without a hierarchy: every one is a root and a leaf.

        Parameters
        ----------
        labels : iterable
            Names.

        Returns
        -------
        Taxonomy
        """
        return cls(number_nodes(lines.from_labels(labels)))

    @classmethod
    def from_networkx(cls, g: nx.Graph) -> Taxonomy:
        """From a networkx DiGraph (parent -> child) or Graph (related links).

        The node attribute ``title`` and the graph attribute ``related`` are kept.

        Parameters
        ----------
        g : networkx graph
            A DiGraph (parent -> child) or a Graph (related links).

        Returns
        -------
        Taxonomy
        """
        numbered, titles = lines.from_networkx(g)
        return cls(numbered, titles)

    @classmethod
    def read(cls, path: str | Path, format: str | None = None, **options: Any) -> Taxonomy:
        """Read a taxonomy file; see `linnaeus.taxonomy.formats` for what is known.

        Parameters
        ----------
        path : str or Path
            File to read.
        format : str or None, default=None
            Name of the format; None to guess from name and content.
        **options : dict
            Options of the format.

        Returns
        -------
        Taxonomy
        """
        from linnaeus.taxonomy import formats

        return formats.read(path, format, **options)

    def write(self, path: str | Path, format: str | None = None) -> None:
        """Write to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            File to write.
        format : str or None, default=None
            Name of the format; None to follow the name of the file.
        """
        from linnaeus.taxonomy import formats

        formats.write(self, path, format)

    def to_networkx(self) -> nx.DiGraph:
        """A networkx DiGraph with edges parent -> child; the inverse of `from_networkx`.

        Returns
        -------
        networkx DiGraph
        """
        return lines.to_networkx(self)

    # -- what it holds ----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, name: object) -> bool:
        try:
            return name in self._index
        except TypeError:  # unhashable
            return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return (
            self.nodes == other.nodes
            and np.array_equal(self.dag.parent_ptr, other.dag.parent_ptr)
            and np.array_equal(self.dag.parents, other.dag.parents)
            and self.titles == other.titles
            and self.related == other.related
        )

    def __hash__(self) -> int:
        return hash((self.nodes, self.dag.parents.tobytes()))

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree and len(self.roots) == 1 else "forest"
        kind = "graph" if self.is_graph else kind if self.is_tree else "DAG"
        counts = {
            "edge": self.dag.parents.size,
            "root": self.root_numbers.size,
            "leave": self.leaf_numbers.size,
        }
        counts = {"related link": len(self.related_numbers)} if self.is_graph else counts
        counts = {"node": len(self), **counts}
        shown = ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())
        return f"<Taxonomy: {kind} of {shown.replace(' 1 leave', ' 1 leaf')}>"

    def __copy__(self) -> Taxonomy:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Taxonomy:
        return self

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Taxonomy, (self._numbered, dict(self.titles), dict(self.misc))

    @cached_property
    def _index(self) -> dict[Any, int]:
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    def index(self, name: Any) -> int:
        """The number of a node.

        Parameters
        ----------
        name : object
            Name of the node.

        Returns
        -------
        int
        """
        number = self._index.get(name) if name in self else None
        if number is None:
            raise UserError(
                f"{shorten(name)} is not a node of the taxonomy{nearest(name, self.nodes)}. "
                f"Use the name of one of its {len(self)} nodes, or add it to the taxonomy."
            )
        return number

    def numbers(self, names: Iterable[Any]) -> IntArray:
        """The numbers of several nodes.

        Parameters
        ----------
        names : iterable
            Names of the nodes.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        return np.fromiter(map(self.index, names), dtype=np.int32)

    def names(self, numbers: Iterable[int]) -> tuple[Any, ...]:
        """The names of several node numbers.

        Parameters
        ----------
        numbers : iterable of int
            Node numbers.

        Returns
        -------
        tuple
        """
        return tuple(self.nodes[v] for v in numbers)

    def title(self, name: Any) -> str:
        """What to show a person: the title where there is one, else the name.

        Parameters
        ----------
        name : object
            Name of the node.

        Returns
        -------
        str
        """
        return self.titles.get(name, str(name))

    @cached_property
    def edges(self) -> tuple[tuple[Any, Any], ...]:
        """All (parent, child) pairs of names, ordered by child."""
        child = np.repeat(np.arange(len(self)), np.diff(self.dag.parent_ptr))
        nodes = self.nodes
        pairs = zip(self.dag.parents.tolist(), child.tolist(), strict=True)
        return tuple((nodes[p], nodes[c]) for p, c in pairs)

    @cached_property
    def related(self) -> tuple[tuple[Any, Any], ...]:
        """Symmetric links, each once, as pairs of names with the lower number first."""
        return tuple((self.nodes[a], self.nodes[b]) for a, b in self._numbered.related.tolist())

    @property
    def depth(self) -> IntArray:
        """The longest way down from a root to each node."""
        return self.dag.depth

    @cached_property
    def roots(self) -> tuple[Any, ...]:
        """Names of the nodes without a parent, in node order."""
        return self.names(self.root_numbers.tolist())

    @cached_property
    def leaves(self) -> tuple[Any, ...]:
        """Names of the nodes without a child, in node order."""
        return self.names(self.leaf_numbers.tolist())

    def class_numbers(self, carried: npt.NDArray[np.integer]) -> IntArray:
        """The nodes that are classes, given those that carry labels of their own.

        Parameters
        ----------
        carried : ndarray of int
            Numbers of the nodes that carry labels, in any order, repeated or not.

        Returns
        -------
        ndarray of int
            Ascending: all leaves, and the inner nodes that carry labels. In a graph any node may
            be inner, so that those that carry labels are the classes [GopalYang2015].
        """
        used = np.zeros(len(self), dtype=bool)
        used[carried] = True
        if not self.is_graph:
            used[self.leaf_numbers] = True
        return np.flatnonzero(used).astype(np.int32)

    @cached_property
    def level_numbers(self) -> tuple[IntArray, ...]:
        """`levels` as arrays of node numbers."""
        order = np.argsort(self.depth, kind="stable").astype(np.int32)
        ends = np.cumsum(np.bincount(self.depth)) if len(self) else np.zeros(0, dtype=int)
        return tuple(np.split(order, ends[:-1])) if len(self) else ()

    @cached_property
    def levels(self) -> tuple[tuple[Any, ...], ...]:
        """Names of the nodes at each depth."""
        return tuple(self.names(level.tolist()) for level in self.level_numbers)

    @cached_property
    def tree(self) -> Tree:
        """Parent and child counts as arrays; an error for a DAG."""
        if not self.is_tree:
            v = int(np.argmax(self.n_parents > 1))
            raise TaxonomyError(
                f"This needs a tree, but node {shorten(self.nodes[v])} has "
                f"{self.n_parents[v]} parents. Use a method that takes DAGs."
            )
        parent = np.full(len(self), -1, dtype=np.int32)
        parent[self.n_parents == 1] = self.dag.parents
        return Tree(parent, self.n_children)

    @cached_property
    def ancestor_lists(self) -> Ancestors:
        """The ancestors of every node, itself included, as CSR lists of numbers."""
        return ancestor_lists(self.dag)

    def ancestor_rows(self, numbers: IntArray) -> sp.csr_array:
        """The rows of `ancestor_matrix` for some nodes, without making the others.

        Parameters
        ----------
        numbers : ndarray of int of shape (n,)
            Node numbers.

        Returns
        -------
        csr_array of shape (n, n_nodes)
        """
        if "ancestor_lists" in self.__dict__:
            return self.ancestor_matrix[numbers]
        ptr, nodes = ancestor_lists(self.dag, numbers)
        ones = np.ones(nodes.size, dtype=np.int32)
        return sp.csr_array((ones, nodes, ptr), shape=(len(numbers), len(self)))

    @cached_property
    def ancestor_matrix(self) -> sp.csr_array:
        """(n_nodes, n_nodes) CSR indicator: entry (v, a) is 1 when a is v or above it."""
        ptr, nodes = self.ancestor_lists
        ones = np.ones(nodes.size, dtype=np.int32)
        ptr = ptr.astype(sp.get_index_dtype(maxval=nodes.size))  # int32 suits most libraries
        return sp.csr_array((ones, nodes, ptr), shape=(len(self), len(self)))

    # -- relations between nodes ------------------------------------------------------------

    def _resolve(self, v: Any) -> tuple[int, bool]:
        """A node's number, and whether it was given by number."""
        if v not in self and isinstance(v, int | np.integer) and 0 <= v < len(self):
            return int(v), True
        return self.index(v), False

    def _answer(self, numbers: Iterable[int], by_number: bool) -> tuple[Any, ...]:
        return tuple(numbers) if by_number else self.names(numbers)

    def parents(self, v: Any) -> tuple[Any, ...]:
        """The parents of a node, in node order.

        Parameters
        ----------
        v : object
            A node, by name or number.

        Returns
        -------
        tuple
        """
        i, by_number = self._resolve(v)
        ptr = self.dag.parent_ptr
        return self._answer(self.dag.parents[ptr[i] : ptr[i + 1]].tolist(), by_number)

    def children(self, v: Any) -> tuple[Any, ...]:
        """The children of a node, in node order.

        Parameters
        ----------
        v : object
            A node, by name or number.

        Returns
        -------
        tuple
        """
        i, by_number = self._resolve(v)
        ptr = self.dag.child_ptr
        return self._answer(self.dag.children[ptr[i] : ptr[i + 1]].tolist(), by_number)

    def ancestors(self, v: Any) -> tuple[Any, ...]:
        """The node and everything above it, in node order.

        Parameters
        ----------
        v : object
            A node, by name or number.

        Returns
        -------
        tuple
        """
        i, by_number = self._resolve(v)
        return self._answer(_reach(i, self.dag.parent_ptr, self.dag.parents), by_number)

    def descendants(self, v: Any) -> tuple[Any, ...]:
        """The node and everything below it, in node order.

        Parameters
        ----------
        v : object
            A node, by name or number.

        Returns
        -------
        tuple
        """
        i, by_number = self._resolve(v)
        return self._answer(_reach(i, self.dag.child_ptr, self.dag.children), by_number)

    def lca(self, a: Any, b: Any) -> Any:
        """The lowest common ancestor; on a DAG the deepest one, ties to the lower number.

        Parameters
        ----------
        a : object
            Two nodes, by name or number.
        b : object
            Two nodes, by name or number.

        Returns
        -------
        object or None
            Name (or number) of the ancestor; None when the two nodes lie below different roots.
        """
        i, by_number = self._resolve(a)
        j, _ = self._resolve(b)
        up = _reach(i, self.dag.parent_ptr, self.dag.parents)
        common = set(up).intersection(_reach(j, self.dag.parent_ptr, self.dag.parents))
        if not common:
            return None
        best = min(common, key=lambda v: (-int(self.depth[v]), v))
        return best if by_number else self.nodes[best]

    def distance(self, a: Any, b: Any) -> int:
        """How many nodes lie above exactly one of the two (each counted above itself).

        In a tree this is the number of edges between them, through a common virtual root if
        they lie below different roots.

        Parameters
        ----------
        a : object
            Two nodes, by name or number.
        b : object
            Two nodes, by name or number.

        Returns
        -------
        int
        """
        i, _ = self._resolve(a)
        j, _ = self._resolve(b)
        up = set(_reach(i, self.dag.parent_ptr, self.dag.parents))
        return len(up.symmetric_difference(_reach(j, self.dag.parent_ptr, self.dag.parents)))

    # -- label sets -------------------------------------------------------------------------

    def encode(self, labels: Any, classes: Iterable[Any] | None = None) -> sp.csr_array:
        """Labels as an indicator over `nodes`.

        Parameters
        ----------
        labels : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`.
        classes : iterable or None, default=None
            Names of the columns of an indicator that are not the nodes in their order, such as
            ``classes_`` of scikit-learn's MultiLabelBinarizer, which are sorted.

        Returns
        -------
        csr_array of shape (n_samples, n_nodes)
            0 and 1.
        """
        return labelsets.encode(self, labels, classes)

    def decode(self, indicator: Any) -> list[list[Any]]:
        """Lists of names from an indicator over `nodes`.

        Parameters
        ----------
        indicator : {array-like, sparse matrix} of shape (n_samples, n_nodes)
            0 and 1.

        Returns
        -------
        list of lists
            Names of each row, in node order.
        """
        return labelsets.decode(self, indicator)

    def closure(self, Y: Any) -> Any:
        """The label sets closed upwards: every ancestor of a label becomes a label.

        Parameters
        ----------
        Y : array-like, sparse matrix or list of lists
            Label sets, in any form of `linnaeus.labels`.

        Returns
        -------
        csr_array, ndarray or list of lists
            Label sets in the form given.
        """
        return labelsets.closure(self, Y)

    def most_specific(self, Y: Any) -> Any:
        """The label sets without the labels that have a descendant in the same set.

        Parameters
        ----------
        Y : array-like, sparse matrix or list of lists
            Label sets, in any form of `linnaeus.labels`.

        Returns
        -------
        csr_array, ndarray or list of lists
            Label sets in the form given.
        """
        return labelsets.most_specific(self, Y)

    # -- other taxonomies from this one -----------------------------------------------------

    def subtree(self, name: Any) -> Taxonomy:
        """The node and everything below it.

        Parameters
        ----------
        name : object
            Name of the node.

        Returns
        -------
        Taxonomy
        """
        return self._part(np.array(_reach(self.index(name), self.dag.child_ptr, self.dag.children)))

    def restrict(self, labels: Any) -> Taxonomy:
        """The labels and everything above them: the part that a collection uses.

        Parameters
        ----------
        labels : iterable, list of lists or indicator
            Names, lists of names, or an indicator over `nodes`.

        Returns
        -------
        Taxonomy
        """
        return self._part(reshape.with_ancestors(self, labelsets.label_numbers(self, labels)))

    def with_misc(self, labels: Any = None) -> Taxonomy:
        """One leaf ``v/misc`` below each inner node that carries instances of its own.

        The new leaves come last, in the order in which their nodes first occur; `misc` maps them
        back.

        Parameters
        ----------
        labels : iterable, list of lists, indicator or None, default=None
            The label sets, or the names of the inner nodes; an inner node implied by a descendant
            in the same set carries nothing of its own. None for all inner nodes.

        Returns
        -------
        Taxonomy
        """
        return reshape.with_misc(self, labels)

    def collapsed(self, keep: Iterable[Any] = ()) -> Taxonomy:
        """Single-child chains contracted to their lowest node, except for nodes in `keep`.

        Parameters
        ----------
        keep : iterable, default=()
            Nodes that stay.

        Returns
        -------
        Taxonomy
        """
        return reshape.collapsed(self, keep)

    def renamed(self, names: Mapping[Any, Any]) -> Taxonomy:
        """The same taxonomy with other names for some nodes.

        Parameters
        ----------
        names : mapping
            {old: new}, one to one; other nodes keep their names.

        Returns
        -------
        Taxonomy
        """
        return reshape.renamed(self, names)

    def shuffled(self, rng: np.random.Generator | int | None = None) -> Taxonomy:
        """A random hierarchy of the same shape: as many nodes on each level, the same leaves.

        Parameters
        ----------
        rng : Generator, int or None, default=None
            Seed or generator, as for ``numpy.random.default_rng``.

        Returns
        -------
        Taxonomy
        """
        return reshape.shuffled(self, np.random.default_rng(rng))

    def without_top(self, names: Iterable[Any] = TOPS) -> Taxonomy:
        """Without a sole root of one of these names, the artificial top of many files.

        Parameters
        ----------
        names : iterable, default=('root', 'Root', 'ROOT')
            Names of such a root.

        Returns
        -------
        Taxonomy
        """
        top = self.roots[0] if len(self.roots) == 1 else None
        if top is None or top not in set(names) or len(self) == 1:
            return self
        return self._part(np.arange(1, len(self), dtype=np.int32))

    def _part(self, keep: IntArray) -> Taxonomy:
        """The nodes `keep` (ascending numbers) with the edges, titles and links among them."""
        return reshape.induced(self, keep)

    # -- graphs -----------------------------------------------------------------------------

    def coloring(self) -> IntArray:
        """A colour per node, no edge or related link within a colour.

        Parity of depth on a tree without links; else greedy, largest degree first.

        Returns
        -------
        ndarray of int of shape (n_nodes,)
        """
        return structure.coloring(self)

    def laplacian(
        self,
        conductance: Mapping[tuple[Any, Any], float] | None = None,
        ground: Any = None,
        root: str = "zero",
    ) -> sp.csr_array:
        """The grounded Laplacian of the edges and links: L + diag(g).

        Parameters
        ----------
        conductance : dict or None, default=None
            Strength of each edge, {(parent, child): c}, 1 elsewhere.
        ground : float, dict or None, default=None
            A number added at every node, or {node: value}; None for 0.
        root : {'zero', 'free'}, default='zero'
            'zero' adds 1 at every root (an edge to a fixed zero vector), 'free' nothing.

        Returns
        -------
        csr_array of shape (n_nodes, n_nodes)
        """
        return structure.laplacian(self, conductance, ground, root)

    # -- showing ----------------------------------------------------------------------------

    def show(
        self,
        root: Any = None,
        max_depth: int | None = None,
        max_children: int | None = None,
        marks: Mapping[Any, str] | None = None,
        file: TextIO | None = None,
    ) -> None:
        """Print the tree; a node with several parents is expanded once and repeated as a name.

        Parameters
        ----------
        root : object or None, default=None
            Node to start from; None for all roots.
        max_depth : int or None, default=None
            Levels to print; None for all.
        max_children : int or None, default=None
            Children to print of each node; None for all.
        marks : dict or None, default=None
            {name: text behind it}.
        file : file-like or None, default=None
            Where to print; None for standard output.
        """
        for row in draw.lines(self, root, max_depth, max_children, marks):
            print(row, file=file)

    def _repr_html_(self) -> str:
        """A tree that folds, for notebooks."""
        return "".join(draw.folded(self))

    def digest(self) -> str:
        """A fingerprint of nodes, edges, titles and links, the same on every machine.

        Returns
        -------
        str
        """
        h = hashlib.sha256()
        for part in chain(self.edges, self.titles.items(), self.related, [self.nodes]):
            h.update(repr(part).encode())
        return h.hexdigest()


def _reach(start: int, ptr: Any, targets: IntArray) -> list[int]:
    """Every node reachable along the lists, `start` included, ascending."""
    seen, stack = {start}, [start]
    while stack:
        v = stack.pop()
        for u in targets[ptr[v] : ptr[v + 1]].tolist():
            if u not in seen:
                seen.add(u)
                stack.append(u)
    return sorted(seen)
