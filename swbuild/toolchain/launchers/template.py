"""Command templates: checked when they are made, split into words before they are filled in.

``{name}`` is a placeholder.  ``[-q {queue}]`` is left out when the value of one of its placeholders is
empty.  ``{args}`` and ``{options}`` are words of their own that become any number of words.
No value is ever seen by a shell.
"""

from __future__ import annotations

import shlex
import string
from collections.abc import Collection, Mapping, Sequence

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic, Span, SwbuildError
from swbuild.machine import load

__all__ = ["PLACEHOLDERS", "Template", "for_machine", "placeholders", "read_template"]

#: What a template may speak of, and the value when neither a job nor the machine says.
PLACEHOLDERS: Mapping[str, str] = {
    "exe": "",
    "args": "",
    "name": "swbuild",
    "queue": "",
    "ranks": "1",
    "cpes": "",
    "share_mb": "4096",
    "stack_mb": "1024",
    "cache_kb": "0",
    "minutes": "10",
    "options": "",
    "log": "",
}

#: Placeholders that stand for several words.
_LISTS = ("args", "options")


def placeholders(machine: str) -> dict[str, str]:
    """Return the values of the placeholders when a job for ``machine`` does not say."""
    return {**PLACEHOLDERS, "cpes": str(load(machine).cpes)}


def for_machine(text: str, machine: str) -> str:
    """Return the text of a template with the options that ``machine`` needs in place of ``{launch}``."""
    return text.replace(" {launch}", "".join(f" {word}" for word in load(machine).tools.launch))


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a command in groups; an optional group goes when one of its values is empty."""

    groups: tuple[tuple[bool, tuple[str, ...]], ...]

    def fill(self, values: Mapping[str, str], arguments: Sequence[str] = ()) -> list[str]:
        """Return the command line; a placeholder without a value is empty."""
        line: list[str] = []
        for optional, words in self.groups:
            if optional and not all(values.get(name) for word in words for name in _fields(word)):
                continue
            for word in words:
                line += _filled(word, values, arguments)
        return line

    @property
    def program(self) -> str:
        """The command's first word."""
        return self.groups[0][1][0] if self.groups else ""


def read_template(
    template: str, known: Collection[str], required: str, subject: str = "launcher template"
) -> Template:
    """Return the template; raise SW411 with everything that is wrong with it."""
    try:
        words = shlex.split(template)
        fields = [name for word in words for name in _fields(word)]
        groups = _groups(words)
    except ValueError as error:
        raise SwbuildError(_bad(subject, template, str(error), known)) from error
    problems = [
        _bad(subject, template, f"unknown placeholder {{{name}}}", known)
        for name in fields
        if name not in known
    ]
    if required not in fields:
        problems.append(_bad(subject, template, f"the placeholder {{{required}}} is missing", known))
    for name in _LISTS:
        if name in fields and f"{{{name}}}" not in [word.strip("[]") for word in words]:
            problems.append(_bad(subject, template, f"{{{name}}} must be a word of its own", known))
    if problems:
        raise SwbuildError(problems)
    return Template(groups)


def _fields(word: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(word) if name is not None]


def _groups(words: Sequence[str]) -> tuple[tuple[bool, tuple[str, ...]], ...]:
    """Return the words in groups, ``[…]`` around optional ones removed."""
    groups: list[tuple[bool, tuple[str, ...]]] = []
    open_group: list[str] | None = None
    for word in words:
        if open_group is None and not word.startswith("["):
            groups.append((False, (word,)))
            continue
        if open_group is None:
            open_group, word = [], word[1:]
        open_group.append(word.removesuffix("]"))
        if word.endswith("]"):
            groups.append((True, tuple(open_group)))
            open_group = None
    if open_group is not None:
        raise ValueError("'[' without ']'")
    return tuple(groups)


def _filled(word: str, values: Mapping[str, str], arguments: Sequence[str]) -> list[str]:
    if word == "{args}":
        return list(arguments)
    if word == "{options}":
        return shlex.split(values.get("options", ""))
    return [word.format_map({name: values.get(name, "") for name in _fields(word)})]


def _bad(subject: str, template: str, why: str, known: Collection[str]) -> Diagnostic:
    hint = "known: " + ", ".join(f"{{{name}}}" for name in known)
    return Diagnostic("SW411", f"{subject} {template!r}: {why}", Span("launcher"), hint=hint)
