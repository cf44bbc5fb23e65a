"""Numbers of isl as integers of Python, and the other way round."""

from __future__ import annotations

import islpy as isl

__all__ = ["RAN_OUT", "int_of", "val_of"]

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


def val_of(number: int) -> isl.Val:
    """Return ``number``, of any size: islpy itself takes only what fits a ``long``."""
    small = number.bit_length() < 8 * _HALF_WORD
    return isl.Val(number if small else str(number))
