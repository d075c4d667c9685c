"""The tables of a specification, as lists of cells."""


def table_after(text, start):
    """The lines of the first table after `start`: its head, a line of dashes, its rows."""
    rows = []
    for line in text[text.index(start) :].splitlines()[1:]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows
