"""The page of the command line, made from the commands themselves: their text and their options.

Everything stands in tables that wrap, so nothing is cut off. Commands come in the order of
``linnaeus --help``; those of a panel of their own ("For installations") come last, under its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from typer.models import OptionInfo

HEAD = """# Command line

Results go to standard output, progress and notes to standard error. The exit code is 0, 1 for a
mistake in the input (one message that says how to fix it), and 130 after Ctrl-C. Every command also
has `--help`; options that you do not give are chosen or guessed, and what was guessed is said.
"""
VALUES = {Path: "PATH", str: "TEXT", int: "N", float: "NUMBER", bool: ""}  # by type
MOST = 1000  # limits above are not worth a word
_BOLD = re.compile(r"\[bold\](.*?)\[/bold\]", re.DOTALL)
_TAG = re.compile(r"\[/?(?:bold|dim|italic)\]")
_SAID = re.compile(r"(`[^`]+`)|(?<![\w-])(--[a-z][a-z-]+)|([*_<|\[\]])")


class Parameter(NamedTuple):
    """An argument or an option: the names to type, the type of its value, what was declared."""

    names: tuple[str, ...]
    is_option: bool
    kind: Any
    default: Any
    info: Any


class Command(NamedTuple):
    """A command: the words to type, the panel it is listed in, its text and its parameters."""

    words: tuple[str, ...]
    panel: str
    help: str
    parameters: tuple[Parameter, ...]


def commands() -> list[Command]:
    """All commands, groups before their members; those of a panel come last."""
    from linnaeus.cli.main import app

    found = [_command((), info) for info in app.registered_commands]
    for group in app.registered_groups:
        members, name = group.typer_instance, str(group.name)
        assert members is not None
        found.append(Command((name,), "", str(members.info.help), ()))
        found += [_command((name,), info) for info in members.registered_commands]
    return sorted(found, key=lambda command: command.panel)


def _command(above: tuple[str, ...], info: Any) -> Command:
    hints = get_type_hints(info.callback, include_extras=True)
    own = signature(info.callback).parameters.values()
    panel = info.rich_help_panel if isinstance(info.rich_help_panel, str) else ""
    return Command(
        (*above, info.name or info.callback.__name__),
        panel,
        getdoc(info.callback) or "",
        tuple(_parameter(p.name, hints[p.name], p.default) for p in own),
    )


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    kind, info = get_args(hint)
    kinds = [k for k in (*get_args(kind), kind) if k in VALUES or k == list[str]]
    is_option = isinstance(info, OptionInfo)
    said = (info.default, *(info.param_decls or ()))  # the first name is kept as the default
    names = tuple(s for s in said if isinstance(s, str) and s.startswith("-"))
    names = names or (f"--{name.replace('_', '-')}",)
    return Parameter(names if is_option else (name.upper(),), is_option, kinds[0], default, info)


def page() -> str:
    """The whole page."""
    known, lines, panel = commands(), [HEAD], ""
    lines += [_table(("command", "what it does"), map(_summary, known)), ""]
    for command in known:
        if command.panel != panel:
            panel = command.panel
            lines += [f"## {panel}", ""]
        lines += [*_section(command), ""]
    return "\n".join(lines).rstrip() + "\n"


def _title(command: Command) -> str:
    return " ".join(("linnaeus", *command.words))


def _summary(command: Command) -> tuple[str, str]:
    title = _title(command)
    first = escaped(command.help.split("\n\n")[0])
    return f"[`{title}`](#{title.replace(' ', '-')})", first


def _section(command: Command) -> Iterator[str]:
    depth = 1 + len(command.words) + bool(command.panel)
    yield f"{'#' * depth} {_title(command)}"
    yield ""
    first, *others = command.help.split("\n\n")
    yield _paragraph(first)
    if command.parameters:
        yield f"```sh\n{_usage(command)}\n```\n"
    yield from map(_paragraph, others)
    for name in dict.fromkeys(map(_panel, command.parameters)):
        rows = [_row(p) for p in command.parameters if _panel(p) == name]
        table = _table(("what to type", "what it does", "default"), rows)
        yield _folded(name, table) if name else f"{table}\n"


def _folded(name: str, table: str) -> str:
    """A table that is shown when asked for: it is the same for many commands."""
    return (
        f'<details markdown="1">\n<summary>{name}: say what the columns are, where a '
        f"guess would be wrong</summary>\n\n{table}\n\n</details>\n"
    )


def _panel(parameter: Parameter) -> str:
    name = parameter.info.rich_help_panel
    return name if isinstance(name, str) else ""


def _usage(command: Command) -> str:
    """How the command is typed: its arguments, the options that it needs, and room for others."""
    words = [_title(command)]
    for p in command.parameters:
        if not p.is_option:
            words.append(_value(p) if _needed(p) else f"[{_value(p)}]")
    words += [f"{p.names[0]} {_value(p)}" for p in command.parameters if p.is_option and _needed(p)]
    return " ".join([*words, "[OPTIONS]"])


def _needed(parameter: Parameter) -> bool:
    return parameter.default in (Signature.empty, ...)


def _value(parameter: Parameter) -> str:
    """What stands for the value: the name of an argument, the kind of an option's value."""
    if parameter.info.metavar:
        return str(parameter.info.metavar)
    return VALUES.get(parameter.kind, "TEXT") if parameter.is_option else parameter.names[0]


def _row(parameter: Parameter) -> tuple[str, str, str]:
    first, *others = parameter.names
    shown = f"{first} {_value(parameter)}".strip() if parameter.is_option else _value(parameter)
    told = escaped(parameter.info.help or "") + _limits(parameter.info)
    return ", ".join(f"`{name}`" for name in (shown, *others)), told, _default(parameter)


def _limits(info: Any) -> str:
    if info.min is None or (info.max or 0) > MOST:
        return ""
    return (
        f" At least {info.min:g}." if info.max is None else f" From {info.min:g} to {info.max:g}."
    )


def _default(parameter: Parameter) -> str:
    default = parameter.default
    if _needed(parameter):
        return "needed"
    told = isinstance(default, str | int | float | Path) and default is not False and default != ""
    return f"`{default}`" if told else ""


def _paragraph(text: str) -> str:
    """A paragraph of a help; commands that end it get a block of their own."""
    found = re.search(r"\n?\[bold\](linnaeus [^\[]*(?:\[(?!/bold)[^\[]*)*)\[/bold\]\s*$", text)
    if found is None:
        return f"{escaped(text)}\n"
    before = text[: found.start()].strip()
    command = " ".join(found[1].split())
    block = f"```sh\n{command}\n```\n"
    return f"{escaped(before)}\n\n{block}" if before else block


def escaped(text: str) -> str:
    """A text for Markdown in one line: commands and options as code, other signs as they are.

    >>> print(escaped("See train.*, [bold]linnaeus rule[/bold] and --rule a|b."))
    See train.\\*, `linnaeus rule` and `--rule` a\\|b.
    """
    text = _BOLD.sub(lambda m: f"`{' '.join(m[1].split())}`", text)
    text = _TAG.sub("", " ".join(text.split()))

    def one(m: re.Match[str]) -> str:
        return m[1].replace("|", "\\|") if m[1] else f"`{m[2]}`" if m[2] else f"\\{m[3]}"

    return _SAID.sub(one, text)


def _table(header: tuple[str, ...], rows: Any) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
