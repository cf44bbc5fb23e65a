"""Asking the compiler whether it sees the types that the model of a region relies on.

The user's preprocessed text is compiled once more for its syntax alone, with the claims of all regions
as static assertions where the regions stand: the names there are the user's own, types and all.
"""

from __future__ import annotations

import re  # reads messages of the compiler
from collections.abc import Iterable, Mapping

from swbuild.classes import dataclass
from swbuild.diagnostics import Diagnostic
from swbuild.frontend.claims import Claim
from swbuild.frontend.frame import Declaration, Frame
from swbuild.frontend.preprocess import run_compiler
from swbuild.timings import step

__all__ = ["Probed", "disagreements"]

_FILE = "swbuild claims"
_ERROR = re.compile(rf"^{_FILE}:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)
_WITHOUT_NAME = ("typedef", "extern")


@dataclass(frozen=True, slots=True)
class Probed:
    """One region: where it stands, what it declares itself, and what is claimed."""

    frame: Frame
    inside: tuple[Declaration, ...]
    claims: tuple[Claim, ...]


def disagreements(
    text: str, regions: Mapping[str, Probed], compiler: str
) -> dict[str, tuple[Diagnostic, ...]]:
    """Return for each region what the compiler says of the preprocessed ``text`` that its model does not."""
    known = [(name, claim) for name, region in regions.items() for claim in region.claims]
    if not known:
        return {}
    refused = _refused(_with_claims(text, regions.values()), compiler)
    found: dict[str, dict[Diagnostic, None]] = {}
    for number, why in refused.items():
        name, claim = known[number - 1]
        found.setdefault(name, {}).setdefault(_diagnostic(claim, why))
    return {name: tuple(problems) for name, problems in found.items()}


def _diagnostic(claim: Claim, why: str) -> Diagnostic:
    detail = "" if why.startswith("static assertion") else f" ({why})"
    return Diagnostic(
        "SW231",
        f"'{claim.what}' is read as {claim.read_as}, and the compiler does not agree{detail}",
        claim.span,
        "declare it with a plain type of C, or keep it out of the region",
    )


def _with_claims(text: str, regions: Iterable[Probed]) -> str:
    pieces, last, number = [], 0, 1
    for region in sorted(regions, key=lambda r: r.frame.begin):
        pieces += [text[last : region.frame.begin], _asserted(region, number)]
        last, number = region.frame.begin, number + len(region.claims)
    return "".join([*pieces, text[last:]])


def _asserted(region: Probed, first: int) -> str:
    """Return the assertions for a region as a block; what it declares itself is declared there, too."""
    numbered = list(enumerate(region.claims, first))
    away = f'# 1 "{_FILE} (declarations)"'
    lines = ["{", *(_assertion(number, claim) for number, claim in numbered if claim.inner is None)]
    position = depth = 0
    for declaration in region.inside:
        lines += [away, f"{{ {_declared(declaration)}"]
        depth += 1
        names = [d.name for d in declaration.declarators if not any(map(declaration.has, _WITHOUT_NAME))]
        inner = range(position, position + len(names))
        lines += [_assertion(number, claim) for number, claim in numbered if claim.inner in inner]
        position += len(names)
    return "\n".join([*lines, away, "}" * (depth + 1), ""])


def _assertion(number: int, claim: Claim) -> str:
    return f'# {number} "{_FILE}"\n_Static_assert({claim.condition}, "");'


def _declared(declaration: Declaration) -> str:
    """Return a declaration of the region without its initialisers, unless they say how large it is."""
    texts = [
        d.text if d.initialiser is None or "[" not in d.text else f"{d.text} = {d.initialiser}"
        for d in declaration.declarators
    ]
    return f"{declaration.specifiers} {', '.join(texts)};"


@step("probe types")
def _refused(text: str, compiler: str) -> dict[int, str]:
    """Return the numbers of the assertions that fail, with what the compiler says of each."""
    command = [compiler, "-fsyntax-only", "-w", "-x", "cpp-output", "-"]
    said = run_compiler(command, text.encode("utf-8", "surrogateescape")).stderr
    return {int(number): why for number, why in reversed(_ERROR.findall(said))}
