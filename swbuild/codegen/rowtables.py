"""The host's view of tables of pointers to rows: whether the rows are evenly spaced, and where they are."""

from __future__ import annotations

import re  # puts the user's expressions in the place of the names of parameters
from collections.abc import Iterable

import islpy as isl

from swbuild.codegen.ctext import Lines
from swbuild.expressions.printing import c_text
from swbuild.expressions.types import TypeKind
from swbuild.frontend.scop import RowTable, Scop
from swbuild.kernelir.expressions import to_tree, value_in
from swbuild.names import own

__all__ = ["helpers", "row_arguments", "rows_found", "uneven_rows"]

_WORD = re.compile(r"[^\W\d]\w*")
_ROWS, _FOUND, _PLANES = own("sw_rows"), own("sw_evenly_spaced"), own("sw_evenly_spaced_planes")

_HELPERS = f"""\
/* Rows: where row 0 begins, how many elements they are apart, 0 where they are not evenly spaced, and how
   many rows planes of them are. */
struct {_ROWS} {{
  void *base;
  long pitch, lines;
}};

/* The rows first to last of a table of pointers, if any is used; one that is alone is width elements long. */
static struct {_ROWS} {_FOUND}(const void *table, int used, long first, long last, long width, long size)
{{
  struct {_ROWS} rows = {{ 0, 0, 0 }};
  unsigned long row, next, step = (unsigned long)(width * size), k;
  if (!used || !table)
    return rows;
  __builtin_memcpy(&row, (const char *)table + first * (long)sizeof row, sizeof row);
  for (k = 1; k <= (unsigned long)(last - first); k++) {{
    __builtin_memcpy(&next, (const char *)table + (first + (long)k) * (long)sizeof next, sizeof next);
    if (k == 1)
      step = next - row;
    if (next - row != k * step)
      return rows;
  }}
  if ((long)step > 0 && (long)step % size == 0) {{
    rows.base = (void *)(row - (unsigned long)first * step);
    rows.pitch = (long)step / size;
  }}
  return rows;
}}"""

_HELPERS_OF_PLANES = f"""
/* The rows of the planes first to last of a table of tables, of each those from low to high. */
static struct {_ROWS} {_PLANES}(const void *table, int used, long first, long last, long low, long high,
                                long width, long size)
{{
  struct {_ROWS} none = {{ 0, 0, 0 }}, rows = none, plane;
  const char *inner;
  unsigned long step = 0, k;
  for (k = 0; used && table && k <= (unsigned long)(last - first); k++) {{
    __builtin_memcpy(&inner, (const char *)table + (first + (long)k) * (long)sizeof inner, sizeof inner);
    plane = {_FOUND}(inner, 1, low, high, width, size);
    if (k == 0)
      rows = plane;
    if (k == 1)
      step = (unsigned long)plane.base - (unsigned long)rows.base;
    if (plane.pitch != rows.pitch ||
        (unsigned long)plane.base - (unsigned long)rows.base != k * step)
      return none;
  }}
  if (last <= first)
    step = (unsigned long)((high + 1) * rows.pitch * size);
  if (rows.pitch == 0 || (long)step <= 0 || (long)step % (rows.pitch * size) != 0)
    return none;
  rows.lines = (long)step / (rows.pitch * size);
  rows.base = (char *)rows.base - first * (long)step;
  return rows;
}}"""


def helpers(scops: Iterable[Scop]) -> Lines:
    """Return what the lines of :func:`rows_found` need before them."""
    depths = {len(table.extents) for scop in scops for table in scop.tables}
    rows = _once("SW_EVENLY_SPACED", _HELPERS) if depths else []
    return rows + (_once("SW_EVENLY_SPACED_PLANES", _HELPERS_OF_PLANES) if 2 in depths else [])


def _once(name: str, text: str) -> Lines:
    """Return the lines of ``text``, which a program's files may have together."""
    return [f"#ifndef {own(name)}", f"#define {own(name)}", *text.strip("\n").split("\n"), "#endif"]


def rows_found(scop: Scop) -> Lines:
    """Return the declarations at the region of the rows that its tables lead to."""
    return [_found(scop, table) for table in scop.tables]


def row_arguments(scop: Scop) -> dict[str, str]:
    """Return the C expressions for the pitches and arrays that tables of ``scop`` lead to, by their names."""
    found = {table.array: f"{_named(table)}.base" for table in scop.tables}
    for table in scop.tables:
        found |= {
            name: f"{_named(table)}.{member}"
            for name, member in zip(reversed(table.extents), ("pitch", "lines"), strict=False)
        }
    return found


def _named(table: RowTable) -> str:
    return own(f"{table.array}_rows")


def uneven_rows(scop: Scop) -> list[tuple[str, str]]:
    """Return the conditions under which rows are not evenly spaced, each with what it says in words."""
    return [
        (f"{table.extents[-1]} <= 0", f"the rows of '{table.expression}' are not evenly spaced")
        for table in scop.tables
    ]


def _found(scop: Scop, table: RowTable) -> str:
    if table.width is None:
        return f"const struct {_ROWS} {_named(table)} = {{ 0, 1, 1 }};"
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space().params()))
    used = table.rows.params()
    ends = [end for k in range(len(table.extents)) for end in (table.rows.dim_min(k), table.rows.dim_max(k))]
    texts = [c_text(value_in(build, end.gist(used))) for end in (*ends, table.width)]
    reached = c_text(to_tree(build.expr_from_set(used.gist(_in_types(scop)).coalesce())))
    arguments = [table.expression, *(_at_region(scop, text) for text in (reached, *texts))]
    size = scop.array(table.array).element.size
    function = _FOUND if len(table.extents) == 1 else _PLANES
    return f"const struct {_ROWS} {_named(table)} = {function}({', '.join(arguments)}, {size});"


def _in_types(scop: Scop) -> isl.Set:
    """Return what is known of the parameters, types with a sign included."""
    known = scop.context
    for each in scop.parameters:
        signed = each.type.kind is TypeKind.SIGNED
        end = 2 ** (8 * each.type.size - signed)
        known = known.intersect_params(
            isl.Set(f"[{each.name}] -> {{ : {-end if signed else 0} <= {each.name} < {end} }}")
        )
    return known


def _at_region(scop: Scop, text: str) -> str:
    """Return ``text``, over the parameters of ``scop``, with what they are at the region in their places."""
    values = {each.name: each.expression for each in scop.parameters}
    if text in values:
        return values[text]
    longs = {
        name: f"(long){value if _WORD.fullmatch(value) else f'({value})'}" for name, value in values.items()
    }
    return _WORD.sub(lambda word: longs.get(word[0], word[0]), text)
