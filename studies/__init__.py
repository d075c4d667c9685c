"""The tables and figures of the publications, rerun on the collections at hand.

A `Table` describes one: its source, its protocol, its units of work. `reproduce` runs the units
that are not stored yet, `Store` keeps what they gave, `markdown` makes the page of it, and
`CLAIMS` judges what the papers say by it.
"""
