"""Labels in every form in which they come, and answers in the form that was taught.

    one label per row   a list, an array or a series of names; also a single column of them
    numbers 0..k-1      that are no nodes, as scikit-learn's meta-estimators hand labels on: they
                        stand for the k leaves of the taxonomy, sorted, with a warning
    lists of labels     a list, tuple, set or array of names for each row, empty for no label
    an indicator        0 and 1 (dense: or -1 and +1), a column for each node, or for each leaf;
                        dense or sparse; rows of 0 and 1 in plain lists too, if they are as wide as
                        there are nodes and neither 0 nor 1 is a label
    a data frame        of 0 and 1 whose columns are called like nodes, in any order; nodes that it
                        has no column for are off
    paths               names from a root down: a row of an array or of a data frame of levels, or
                        a list, padded at the end with "", None or NaN; the label is the last node.
                        A list of such paths for several labels per row. Lists that are not padded
                        are lists of labels, but with `taxonomy="infer"` they are paths

Without a taxonomy an indicator has any columns, numbered from 0 unless a data frame names them, and
lists of labels and paths are not understood, since nothing says what they mean (`found` takes the
labels that occur).

Everything that takes labels asks here (`parse`; `columns` for those of scores), so that the same
labels mean the same everywhere. Inside, label sets are CSR 0/1 indicators over named columns. What
this package knows of a taxonomy is a numbered list of names, and who is below whom (`Nodes`).

A new form is told apart in `reading`, becomes an indicator in `parsing`, and is answered in `form`.
"""

from linnaeus.labels.columns import bare_names, names_of, noted, noting, two_columns
from linnaeus.labels.form import Form
from linnaeus.labels.indicators import has_signs, moved, to_lists, zero_one
from linnaeus.labels.names import by_kind, name_array, plain_names
from linnaeus.labels.parsing import Labels, found, named, parse
from linnaeus.labels.reading import Nodes, is_collection, read_paths

__all__ = [
    "Form", "Labels", "Nodes", "bare_names", "by_kind", "found", "has_signs", "is_collection",
    "moved", "name_array", "named", "names_of", "noted", "noting", "parse", "plain_names",
    "read_paths", "to_lists", "two_columns", "zero_one",
]  # fmt: skip
