"""What the codes of diagnostics mean, beyond the one line that a diagnostic has.

Codes are grouped: SW1xx manifest and command line, SW2xx C, SW3xx schedules, mapping, memory and
code, SW4xx compilers and launchers, SW5xx checks, SW6xx the running emulator.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CATALOGUE"]

CATALOGUE: Mapping[str, str] = {
    "SW100": (
        "The command line is wrong: an unknown option, a missing argument, or a value that cannot be read."
    ),
    "SW101": (
        "The manifest is not YAML, not UTF-8, or empty. The place is where reading stopped; the cause is "
        "often a line or two above."
    ),
    "SW102": (
        "A key that does not exist here. Manifests are strict, because a misspelt option that is silently "
        "ignored costs more time than an error. Keys that start with 'x-' are free for your own use."
    ),
    "SW103": ("A key occurs twice in one mapping. YAML libraries keep the last one silently; swbuild asks."),
    "SW104": ("A key that must be there is missing."),
    "SW105": ("A value has the wrong type, such as a text where a list is needed."),
    "SW106": (
        "A word that YAML 1.1 and YAML 1.2 read differently (8:8 is 488, 010 is 8, on is true in the one "
        "and text or ten in the other), or a tag. Write it so that every reader sees the same."
    ),
    "SW107": ("A value of the right type that is out of range or not among the choices."),
    "SW108": (
        "A file or directory that the manifest names does not exist. Names are relative to the manifest."
    ),
    "SW109": (
        "Something that must be unique is not: a region's name, a file, the name of the generated files, "
        "or the place by which a region is found."
    ),
    "SW110": (
        "Sizes that contradict each other: columns of different length, or a size for a parameter that "
        "'params' fixes to another number."
    ),
    "SW111": ("The manifest asks for a newer swbuild."),
    "SW112": ("No region has the name that was asked for."),
    "SW113": ("A file cannot be written."),
    "SW114": ("A program cannot be started."),
    "SW115": ("A file is not the profile of an emulated run."),
}
