"""Numbers of isl as integers of Python."""

from __future__ import annotations

import islpy as isl

__all__ = ["RAN_OUT", "int_of"]

#: What isl says when it has done all the steps that it may.
RAN_OUT = "maximal number of operations"

#: Bytes of a number that any integer of C holds.
_HALF_WORD = 4


def int_of(value: isl.Val) -> int:
    """Return ``value``, an integer.

    Its text, which islpy's own conversion goes by, is none where isl has just run out of its steps; numbers
    that are not large take no text.
    """
    assert value.is_int(), "a fraction"
    if value.n_abs_num_chunks(_HALF_WORD) <= 1:
        return int(value.get_num_si())
    text = value.to_str()
    if text is None:
        raise isl.Error(f"{RAN_OUT} exceeded")
    return int(text)
