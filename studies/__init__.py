"""The tables and figures of the publications, rerun on the collections at hand.

    python -m studies run --data DIR     run what is not stored yet
    python -m studies tables | claims    what there is, and which of the papers' claims hold
    python -m studies document -o PAGE   the page of all tables
    python -m studies recommend -o FILE  what `linnaeus train` takes when no method is named

A `Table` describes one table: its source, its protocol, its units of work. `reproduce` runs the
units that are not stored yet, `Store` keeps what they gave (in ``studies/records``), `markdown`
makes the page of it, and `CLAIMS` judges what the papers say by it.

Not part of the installed package: studies are users of linnaeus and import its public names only.
"""
