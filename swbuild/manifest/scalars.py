"""What an unquoted word is: a number, a truth value, a text, or a trap that readers disagree on.

YAML 1.1 takes ``8:8`` for 488, ``010`` for 8 and ``on`` for true; YAML 1.2 does not, and editors
follow the one or the other.  A manifest must mean the same everywhere, so such words are refused.
"""

from __future__ import annotations

import re

from swbuild.manifest.nodes import Scalar

__all__ = ["is_null", "looks_like", "trap"]

_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.?[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_OCTAL = re.compile(r"[-+]?(0[0-9_]+|0o[0-7]+)")
_PREFIXED = re.compile(r"[-+]?0[xb][0-9a-fA-F_]+")
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9]*_[0-9_]*")


def _cased(*words: str) -> frozenset[str]:
    return frozenset(form for word in words for form in (word, word.title(), word.upper()))


_BOOLEAN_WORDS = _cased("yes", "no", "on", "off")
_TRUE_FALSE = _cased("true", "false")


def is_null(scalar: Scalar) -> bool:
    """Return whether nothing is there: ``key:``, ``key: ~`` or ``key: null``."""
    return scalar.plain and scalar.text in {"", "~", "null", "Null", "NULL"}


def looks_like(scalar: Scalar) -> str:
    """Return ``integer``, ``number``, ``truth value``, ``nothing`` or ``text``, as YAML 1.2 sees it."""
    if not scalar.plain:
        return "text"
    if is_null(scalar):
        return "nothing"
    if _DECIMAL.fullmatch(scalar.text):
        return "integer"
    if _FLOAT.fullmatch(scalar.text) and any(sign.isdigit() for sign in scalar.text):
        return "number"
    return "truth value" if scalar.text in _TRUE_FALSE else "text"


def trap(scalar: Scalar) -> str:
    """Return what a YAML 1.1 reader makes of this unquoted word if that differs, else an empty text."""
    text = scalar.text
    if not scalar.plain:
        return ""
    if text in _BOOLEAN_WORDS:
        return f"the truth value {'true' if text.lower() in {'yes', 'on'} else 'false'}"
    if _SEXAGESIMAL.fullmatch(text):
        return f"a number to the base 60 ({_base_60(text)})"
    if _OCTAL.fullmatch(text):
        return "an octal number, others a decimal one"
    if _PREFIXED.fullmatch(text):
        return "a number, others a text"
    return "a number, others a text" if _UNDERSCORED.fullmatch(text) else ""


def _base_60(text: str) -> str:
    value = 0.0
    for digits in text.lstrip("+-").replace("_", "").split(":"):
        value = value * 60 + float(digits)
    return f"{value:g}"
