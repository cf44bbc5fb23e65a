"""The host's view of tables of pointers to rows: whether the rows are evenly spaced, and where they are."""

from __future__ import annotations

import re  # puts the user's expressions in the place of the names of parameters

import islpy as isl

from swbuild.codegen.ctext import Lines
from swbuild.expressions.printing import c_text
from swbuild.expressions.types import TypeKind
from swbuild.frontend.scop import RowTable, Scop
from swbuild.kernelir.expressions import to_tree, value_in
from swbuild.names import own

__all__ = ["helpers", "row_arguments", "rows_found", "uneven_rows"]

_WORD = re.compile(r"[^\W\d]\w*")
_ROWS, _FOUND = own("sw_rows"), own("sw_evenly_spaced")

_HELPERS = f"""\
/* Rows: where row 0 begins, and how many elements they are apart, 0 where they are not evenly spaced. */
struct {_ROWS} {{
  void *base;
  long pitch;
}};

/* The rows first to last of a table of pointers, if any is used; one that is alone is width elements long. */
static struct {_ROWS} {_FOUND}(const void *table, int used, long first, long last, long width, long size)
{{
  struct {_ROWS} rows = {{ 0, 0 }};
  unsigned long row, next, step = (unsigned long)(width * size), k;
  if (!used)
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


def helpers() -> Lines:
    """Return what the lines of :func:`rows_found` need before them."""
    return _HELPERS.split("\n")


def rows_found(scop: Scop) -> Lines:
    """Return the declarations at the region of the rows that its tables lead to."""
    return [_found(scop, table) for table in scop.tables]


def row_arguments(scop: Scop) -> dict[str, str]:
    """Return the C expressions for the pitches and arrays that tables of ``scop`` lead to, by their names."""
    pitches = {table.pitch: f"{_named(table)}.pitch" for table in scop.tables}
    return pitches | {table.array: f"{_named(table)}.base" for table in scop.tables}


def _named(table: RowTable) -> str:
    return own(f"{table.array}_rows")


def uneven_rows(scop: Scop) -> list[tuple[str, str]]:
    """Return the conditions under which rows are not evenly spaced, each with what it says in words."""
    return [
        (f"{table.pitch} <= 0", f"the rows of '{table.expression}' are not evenly spaced")
        for table in scop.tables
    ]


def _found(scop: Scop, table: RowTable) -> str:
    if table.rows.is_empty():
        return f"const struct {_ROWS} {_named(table)} = {{ 0, 1 }};"
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space().params()))
    used = table.rows.params()
    ends = (table.rows.dim_min(0), table.rows.dim_max(0), table.width)
    texts = ["0" if end is None else c_text(value_in(build, end.gist(used))) for end in ends]
    reached = c_text(to_tree(build.expr_from_set(used.gist(_in_types(scop)).coalesce())))
    arguments = [table.expression, *(_at_region(scop, text) for text in (reached, *texts))]
    size = scop.array(table.array).element.size
    return f"const struct {_ROWS} {_named(table)} = {_FOUND}({', '.join(arguments)}, {size});"


def _in_types(scop: Scop) -> isl.Set:
    """Return what is known of the parameters, types with a sign included."""
    known = scop.context
    for each in scop.parameters:
        bits = 8 * each.type.size - (each.type.kind is TypeKind.SIGNED)
        known = known.intersect_params(isl.Set(f"[{each.name}] -> {{ : {each.name} < {2**bits} }}"))
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
