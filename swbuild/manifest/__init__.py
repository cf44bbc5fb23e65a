"""The manifest: strict YAML that names C files, the regions in them, and how each becomes a kernel."""

from __future__ import annotations

from swbuild.manifest.loader import load_manifest, load_text
from swbuild.manifest.model import Check, Defaults, Manifest, Region, Source, Tolerance
from swbuild.manifest.resolve import CheckPlan, Kernel, Project, ProjectSource, Tolerances, resolve, select

__all__ = [
    "Check",
    "CheckPlan",
    "Defaults",
    "Kernel",
    "Manifest",
    "Project",
    "ProjectSource",
    "Region",
    "Source",
    "Tolerance",
    "Tolerances",
    "load_manifest",
    "load_text",
    "resolve",
    "select",
]
