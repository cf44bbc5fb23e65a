"""The manifest's JSON Schema (draft-07, the newest that YAML editors support), from the model."""

from __future__ import annotations

import json
from pathlib import Path

from swbuild.manifest.kinds import Schema
from swbuild.manifest.model import Check, Defaults, Manifest, Region, Source, Tolerance
from swbuild.manifest.records import options
from swbuild.manifest.transformations import Cut, Move, Skewing, Transformation

__all__ = ["RECORDS", "SCHEMA_FILE", "manifest_schema", "schema_text"]

#: Every mapping of the manifest, the outermost first.
RECORDS: tuple[type, ...] = (
    Manifest,
    Source,
    Region,
    Defaults,
    Transformation,
    Skewing,
    Move,
    Cut,
    Check,
    Tolerance,
)

#: The copy that the wheel carries for editors; a test keeps it equal to :func:`schema_text`.
SCHEMA_FILE = Path(__file__).with_name("swbuild.schema.json")


def manifest_schema() -> Schema:
    """Return the schema of a manifest."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:swbuild:manifest:1",
        "title": "swbuild manifest",
        "$ref": "#/definitions/Manifest",
        "definitions": {cls.__name__: _record_schema(cls) for cls in RECORDS},
    }


def _record_schema(cls: type) -> Schema:
    items = list(options(cls))
    required = [item.key for item in items if item.required]
    return {
        "type": "object",
        "description": _paragraph(cls.__doc__ or ""),
        "properties": {item.key: {"description": item.doc, **item.kind.schema()} for item in items},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _paragraph(doc: str) -> str:
    return " ".join(doc.split())


def schema_text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(manifest_schema(), indent=2, ensure_ascii=False) + "\n"
