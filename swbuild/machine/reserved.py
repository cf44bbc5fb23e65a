"""The names that are not free in the C of the machines."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml

from swbuild.machine.loader import load
from swbuild.machine.registry import further_machines

__all__ = ["is_machine_name", "is_reserved", "library_names", "names_in_headers"]


def is_reserved(name: str) -> bool:
    """Return whether no object of ours may be called ``name``: C, headers or isl read more into it."""
    lists = _lists()
    return (
        name in lists["keywords"]
        or name in lists["macros"]
        or name.lower() in lists["isl"]
        or is_machine_name(name)
        or re.match(r"_[A-Z_]", name) is not None
    )


def is_machine_name(name: str) -> bool:
    """Return whether the headers of one of the machines may declare or define ``name``."""
    lists = _lists()
    return (
        name in lists["machines"]
        or name in lists["program"]
        or name.startswith(_families())
        or name in _further(further_machines())
    )


def library_names() -> frozenset[str]:
    """Return what the standard headers declare that the machines' headers include."""
    return _lists()["library"]


def names_in_headers() -> frozenset[str]:
    """Return the words inside the machines' headers, of which none may be a macro before them."""
    lists = _lists()
    return lists["inside"] | lists["keywords"] | lists["library"]


@cache
def _further(machines: tuple[str, ...]) -> frozenset[str]:
    """Return the names of machines that did not come with the package, whose own are in ``names.yaml``."""
    return frozenset(name for machine in machines for name in load(machine).names)


@cache
def _families() -> tuple[str, ...]:
    return tuple(_lists()["families"])


@cache
def _lists() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("names.yaml").read_bytes()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {key: frozenset(words.split()) for key, words in yaml.load(text, Loader=loader).items()}
