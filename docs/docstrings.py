"""The docstrings as Markdown, for the reference of the site.

Docstrings of what is public have numpydoc's sections, ``name : type`` with a description below;
others say ``name : what it is``. Markdown wants a list for both, and a fence around examples;
formulas are indented already, which is a block in both.
"""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_TYPED = {f"**{name}**" for name in ("Parameters", "Attributes", "Returns", "Yields")}
_ITEM = re.compile(r"^([*\w][\w*, \[\]+.]*) : (.*)$")
_SOURCE = re.compile(r"\[([A-Z][A-Za-z]+\d{4})\]")
_RULE = re.compile(r"^=+(?:\s+=+)+$")


def as_markdown(text: str) -> str:
    """A docstring of ours as Markdown.

    >>> print(as_markdown("Add.\\n\\na, b : numbers, or\\n    arrays"))
    Add.
    <BLANKLINE>
    - `a, b`: numbers, or arrays
    """
    text = _HEADING.sub(r"**\1**\n", text.strip())
    blocks = [block for block in re.split(r"\n{2,}", text) if block.strip()]
    pairs = zip(["", *blocks], blocks, strict=False)
    return "\n\n".join(_block(block, before in _TYPED) for before, block in pairs)


def _block(block: str, typed: bool = False) -> str:
    lines = block.strip("\n").splitlines()
    if typed:
        return _SOURCE.sub(_link, _typed_items(lines))
    if lines[0].lstrip().startswith(">>>"):
        return "\n".join(["```pycon", *(line.strip("\n") for line in lines), "```"])
    if any(_RULE.match(line) for line in lines):  # a table drawn with signs
        return "\n".join(["```text", *lines, "```"])
    text = _items(lines) if _starts_list(lines) else "\n".join(lines)
    return _SOURCE.sub(_link, text)


def _link(match: re.Match[str]) -> str:
    return f"[{match[1]}](../references.md#{match[1].lower()})"


def _starts_list(lines: list[str]) -> bool:
    """Whether lines begin with a name and its meaning; many names may take more than a line."""
    first = [lines[0], *(line.strip() for line in lines[1:] if line.startswith("    "))]
    return lines[0][0] != " " and bool(_ITEM.match(" ".join(first)))


def _typed_items(lines: list[str]) -> str:
    """Lines of ``names : type``, or of a type alone, with a description indented below."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            found[-1].append(line.strip())
        else:
            names, sign, kind = line.partition(" : ")
            found.append([f"- `{names}` ({kind})" if sign else f"- {names}"])
    return "\n".join(": ".join(filter(None, [head, " ".join(text)])) for head, *text in found)


def _items(lines: list[str]) -> str:
    """Lines of ``names : meaning``; an indented line goes on with the one before."""
    joined: list[str] = []
    for line in lines:
        if line.startswith(" ") and joined:
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line.strip())
    found = []
    for line in joined:
        names, sign, meaning = line.partition(" : ")
        found.append(f"- `{names}`: {meaning}" if sign else f"- {names}")
    return "\n".join(found)
