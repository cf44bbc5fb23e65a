"""Which loop should run innermost: the one whose accesses walk through memory with stride one."""

from __future__ import annotations

import islpy as isl

from swbuild.classes import dataclass
from swbuild.frontend.scop import Scop
from swbuild.mapping.tiling import StrideScore

__all__ = ["AccessStrides"]


@dataclass(frozen=True, slots=True)
class AccessStrides(StrideScore):
    """Scores loops by the subscripts of the accesses of ``scop``."""

    scop: Scop

    def score(self, member: isl.UnionPwAff) -> int:
        """Return +2 per unit-stride access, +1 per access that stays in place, -2 per jumping one."""
        total = 0
        pieces = member.get_pw_aff_list()
        for position in range(pieces.n_pw_aff()):
            value = pieces.get_at(position)
            step = _step_iterator(value)
            statement = self.scop.statement(str(value.get_tuple_id(isl.dim_type.in_).name))
            for access in statement.accesses:
                if access.affine and not self.scop.array(access.array).is_scalar:
                    total += 0 if step is None else _stride_score(access.relation, step)
        return total


def _step_iterator(value: isl.PwAff) -> int | None:
    """Return the only iterator that ``value`` depends on, or None."""
    plain = value.gist(value.domain())
    count = plain.dim(isl.dim_type.in_)
    found = [k for k in range(count) if plain.involves_dims(isl.dim_type.in_, k, 1)]
    return found[0] if len(found) == 1 else None


def _stride_score(relation: isl.Map, iterator: int) -> int:
    # Simplified subscript by subscript: the map itself need not stay a function outside its domain.
    index = isl.PwMultiAff.from_map(relation)
    last = index.dim(isl.dim_type.out) - 1
    depends = [
        k
        for k in range(last + 1)
        if index.get_pw_aff(k).gist(relation.domain()).involves_dims(isl.dim_type.in_, iterator, 1)
    ]
    if not depends:
        return 1
    return 2 if depends == [last] else -2
