"""The reference page of the manifest, from the model."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from inspect import cleandoc

from swbuild.manifest.records import Option, options
from swbuild.manifest.schema import RECORDS

__all__ = ["reference_text"]

_TITLES = {
    "Manifest": "The manifest",
    "Source": "A source (`sources`)",
    "Region": "A region (`regions`)",
    "Defaults": "Options of a kernel (`defaults`, and every region)",
    "Transformation": "A step (`transform`)",
    "Skewing": "A skewing (`transform: skew`)",
    "Move": "A move (`transform: shift`)",
    "Cut": "A cut (`transform: distribute`)",
    "Check": "A check (`check`)",
    "Tolerance": "A tolerance (`check: tolerance`)",
}

_HEAD = """\
# Manifest reference

<!-- Written by 'swbuild schema --reference'; do not edit. -->

A manifest is a YAML file, `sunway.yaml` by custom, that names C files, the regions in them that become
kernels, and how. It must mean the same to every reader of YAML: unknown or repeated keys are errors, and so
are words that YAML 1.1 and 1.2 read differently (`8:8`, `on`, `no`, `010`, `0x10`). All mistakes of a file
are reported at once, each with line, column and advice.

For completion and hover texts in an editor, let the first line of the manifest name the schema that
`swbuild schema > sunway.schema.json` writes:

```yaml
# yaml-language-server: $schema=sunway.schema.json
```
"""


def reference_text() -> str:
    """Return the page as Markdown."""
    sections = [_section(cls) for cls in RECORDS]
    return "\n".join([_HEAD, *sections]).rstrip() + "\n"


def _section(cls: type) -> str:
    inherited = {item.key for base in cls.__mro__[1:] if base in RECORDS for item in options(base)}
    own = [item for item in options(cls) if item.key not in inherited]
    doc = _reflow(cleandoc(cls.__doc__ or ""))
    also = "\nAll options of a kernel (below) can stand here too.\n" if inherited else ""
    return "\n".join([f"## {_TITLES[cls.__name__]}\n", doc, also, *(_entry(item) for item in own)])


def _reflow(doc: str) -> str:
    paragraphs = [" ".join(part.split()) for part in doc.split("\n\n")]
    return "\n\n".join(textwrap.fill(part, 110, break_on_hyphens=False) for part in paragraphs)


def _entry(item: Option) -> str:
    return "\n".join(_entry_lines(item)) + "\n"


def _entry_lines(item: Option) -> Iterator[str]:
    yield f"### `{item.key}`{' (required)' if item.required else ''}\n"
    yield textwrap.fill(f"{item.doc}", 110, break_on_hyphens=False) + "\n"
    yield f"* type: {item.kind.describe()}"
    if not item.required:
        yield f"* default: {item.shown_default or 'none'}"
    yield f"* example: `{item.key}: {item.example}`"
