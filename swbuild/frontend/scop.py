"""The polyhedral model of one region: what the front end yields and the polyhedral core reads.

All isl objects live in islpy's default context.  Parameter names in isl sets are
``Parameter.name``; statement tuples are ``Statement.name`` (``S0``, ``S1``, … in textual order);
array tuples are ``Array.name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum

import islpy as isl

from swbuild.classes import dataclass
from swbuild.diagnostics import Span
from swbuild.expressions.nodes import Expression
from swbuild.expressions.types import ElementType
from swbuild.frontend.frame import Frame
from swbuild.islnumbers import int_of
from swbuild.names import plain

__all__ = [
    "Access",
    "AccessKind",
    "Address",
    "Array",
    "Held",
    "Iterator",
    "Parameter",
    "Quotient",
    "RowTable",
    "Scop",
    "Statement",
    "Storage",
    "Variable",
    "VariableKind",
]


class Storage(Enum):
    """Where an array or scalar lives in the user's program."""

    PARAMETER = "parameter"  # of the enclosing function
    GLOBAL = "global"  # file scope (also extern) or static local
    LOCAL = "local"  # declared in the function, outside the region
    REGION = "region"  # declared inside the region
    WORK = "work"  # of the generated code, which allocates it


@dataclass(frozen=True, slots=True)
class Address:
    """Where an object begins, in terms of what is in sight at the region.

    ``path`` is the C expression for the object as a whole (``A``, ``s->a``), of which the first element has
    ``rank`` subscripts; a pointer ``is_value`` of that place already.  ``cast`` is the type of the elements
    where that of the path is another one.
    """

    path: str
    rank: int = 0
    cast: str = ""
    is_value: bool = False

    @property
    def object(self) -> str:
        """The C expression for the object as a whole, as people write it."""
        whole = self.path.startswith("(") and self.path.endswith(")")
        return self.path[1:-1] if whole else self.path

    @property
    def element(self) -> str:
        """The C expression for the first element, of the path's own type."""
        return self.path + "[0]" * self.rank

    @property
    def text(self) -> str:
        """The C expression for the address (``&A[0][0]``, ``p``, ``&x``, ``&s->a[0][0]``)."""
        if self.is_value:
            return self.path
        return f"({self.cast} *)&{self.element}" if self.cast else f"&{self.element}"


@dataclass(frozen=True, slots=True)
class Array:
    """An array, or a scalar when ``extents`` is empty.

    ``extents`` are the sizes per dimension over the parameter space (set dimension 0, one isl
    ``PwAff`` each, domain: a parameter set); ``None`` is allowed for the outermost one of a
    pointer whose size the source does not show.  ``declaration`` declares the very same object
    under its own name in C, typedefs and macros expanded (``double A[ni][nk]``), such that it can
    be used as a function parameter once the integer parameters are declared before it.
    ``address`` is that of its first element at the region.
    ``scope_depth`` counts, for storage REGION, the loops around the declaration inside the region.
    ``live_out``: its value may be used after the region.  ``is_register``: its address must not be taken.
    """

    name: str
    element: ElementType
    extents: tuple[isl.PwAff | None, ...]
    storage: Storage
    declaration: str
    address: Address
    live_out: bool
    span: Span
    scope_depth: int = 0
    is_const: bool = False
    is_register: bool = False
    #: no access leaves its extents: that would be undefined in C, or the user states them
    is_closed: bool = False
    #: outermost indices at which all elements are in memory, as far as the region shows it, where the first
    #: of ``extents`` is None
    whole_rows: isl.Set | None = None

    @property
    def is_scalar(self) -> bool:
        return not self.extents


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer that is read in affine places and not written in the region.

    ``expression`` is the C expression for it at the region (``n``, ``s->n``); a symbolic constant
    that the preprocessor or an ``enum`` already made a number is no parameter.
    """

    name: str
    expression: str
    type: ElementType
    span: Span


@dataclass(frozen=True, slots=True)
class Quotient:
    """A parameter of the model that the host knows from the others: ``value`` is a formula of those.

    It is never negative.  With the formula in its place, isl would have many cases to tell apart.
    """

    name: str
    value: isl.PwAff


@dataclass(frozen=True, slots=True)
class Held:
    """Memory whose value before the region the model goes by: a size or a pointer.

    ``expression`` is the C expression for it at the region, ``size`` its bytes; the arrays and
    scalars named in ``apart_from``, which the region writes, may lie there for all the source says.
    With ``rows`` it is as many elements of a table, ``expression`` being its first (a set of one dimension).
    """

    name: str
    expression: str
    size: int
    apart_from: tuple[str, ...]
    rows: isl.Set | None = None


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table of pointers to rows (``double **A``), of which the model makes one array of rows.

    ``array`` is that array.  Its ``extents`` but the first are parameters that the host finds: how many
    elements rows are apart, the last one, and, of a table of tables, how many rows planes are.  The table is
    ``expression`` in C at the region.  ``rows`` are the numbers of the rows that the region accesses, a set
    of one or two dimensions over the other parameters.  At most the first ``width`` elements of each are (a
    function of those parameters, None where it accesses none).
    """

    array: str
    extents: tuple[str, ...]
    expression: str
    rows: isl.Set
    width: isl.PwAff | None


class AccessKind(Enum):
    """A may-write happens under a condition that the model does not see, or at a place it bounds only."""

    READ = "read"
    MUST_WRITE = "must-write"
    MAY_WRITE = "may-write"


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a statement.

    ``relation`` maps statement instances to array elements (``S0[i,j] -> A[i+1,j]``), restricted
    to the statement's domain.  When ``affine`` it is a function and exact; otherwise it is a safe
    over-approximation (a gather ``A[idx[i]]`` reads all of A) and generated code must use the
    subscripts in ``index_body`` in main memory.
    ``ref`` numbers the place in the body: ``C[i][j] += x`` has a read and a write with one ``ref``.
    ``index_body`` (non-affine only) holds, per dimension, the subscript as a tree (see below).
    """

    array: str
    kind: AccessKind
    relation: isl.Map
    ref: int
    affine: bool
    span: Span
    index_body: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Iterator:
    """A loop around a statement: its C name, type and the place of its ``for``.

    One that is ``made`` is not in the source: it counts pieces of a loop that is.  ``copy`` tells loops apart
    that are one in the source: those of a function that is called several times.
    """

    name: str
    type: ElementType
    span: Span
    made: bool = False
    copy: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that runs once per point of ``domain`` (a set in the space ``S0[i, j, …]``).

    ``body`` is what it does, a statement of C, with a reference (:class:`AccessRef`, :class:`IteratorRef`,
    :class:`ParameterRef`) for every array access, written or read scalar, iterator and parameter; all
    functions that it calls are known to have no side effect.  ``also``: where the source has it again, for
    other iterations.
    """

    name: str
    domain: isl.Set
    iterators: tuple[Iterator, ...]
    accesses: tuple[Access, ...]
    body: Expression
    span: Span
    also: tuple[Span, ...] = ()


class VariableKind(Enum):
    """What a variable around a region holds, as far as a value for it depends on that."""

    NUMBER = "number"
    POINTER = "pointer"
    RECORD_POINTER = "record pointer"  # to a structure whose members are known
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter of the function around a region that is in sight there.

    ``keeps``: it is worth what its own initialiser says, all through the function.
    """

    name: str
    kind: VariableKind
    keeps: bool


@dataclass(frozen=True, slots=True)
class Scop:
    """One region.

    ``name`` is unique in the manifest and a C identifier (``kernel_gemm``, ``kernel_gemm_init``);
    ``span`` covers the lines from ``#pragma scop`` to ``#pragma endscop``, both included.
    ``context`` holds what is known of the parameters without a test (declared extents are
    positive, ``assume``, ``params``, the ranges of their types); ``assumptions`` is what must
    hold for the model to be right and is *not* known (no wrap-around of unsigned arithmetic,
    subscripts inside inner extents, …): generated host code tests it and runs the original text
    where it fails.  ``arrays`` holds everything accessed, scalars included; a scalar that is only
    read and is no parameter is an array with no extents and no writes.
    ``schedule`` is the original execution order as an isl schedule tree over all statements.
    ``prelude`` are the C texts (prototypes or definitions of functions called) that a
    statement's body needs at file scope in a slave file, in this order; ``includes`` the system headers for
    functions called (``math.h``).
    """

    name: str
    function: str
    label: str
    source: str
    span: Span
    parameters: tuple[Parameter, ...]
    arrays: tuple[Array, ...]
    statements: tuple[Statement, ...]
    schedule: isl.Schedule
    context: isl.Set
    assumptions: isl.Set
    includes: tuple[str, ...] = ()
    prelude: tuple[str, ...] = ()
    #: Functions of math.h that the region calls, itself or through others, and that may set ``errno``.
    sets_errno: tuple[str, ...] = ()
    #: Where the region stands in its translation unit, and the declarations in sight.
    frame: Frame | None = None
    #: The variables of the function that are in sight.
    around: tuple[Variable, ...] = ()
    #: The arrays, scalars and parameters whose values the source states for good (``const``, initialised).
    given: frozenset[str] = frozenset()
    #: Arrays that the region reads for nothing: the expression for each, which leads to no other object.
    idle: tuple[str, ...] = ()
    #: The variables and parameters of the function that nothing in it but regions names.
    only_here: frozenset[str] = frozenset()
    #: The arrays and scalars, each two by their names, that may overlap for all the source says while one
    #: of them is written: where they do, the model is wrong.
    overlaps: tuple[tuple[str, str], ...] = ()
    held: tuple[Held, ...] = ()
    #: Arrays that only the host may write: CPEs would share words of memory in which elements of them lie.
    host_written: frozenset[str] = frozenset()
    #: What of ``assumptions`` is there for arrays of small elements to be whole words, in C.
    whole_words: str = ""
    #: What tells the region from one of the same name in another file of a program, where there may be one.
    tag: str = ""
    #: The region as text with multiply-adds (``swbuild.frontend.contracting``), "" where it cannot be had.
    contracted: str = ""
    quotients: tuple[Quotient, ...] = ()
    tables: tuple[RowTable, ...] = ()
    #: What the host does after the statements of the model to be where the source is then, in C.
    after: str = ""
    #: Values of parameters, by their expressions, in calls of the same file: they are likely, not certain.
    usual: Mapping[str, int] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the parameters, and of the quotients, of isl's sets and of kernels."""
        return (*(each.name for each in self.parameters), *(each.name for each in self.quotients))

    def at(self, sizes: Mapping[str, int]) -> isl.Set:
        """Return the one point at ``sizes``, which has a value for each of the parameters."""
        names = [parameter.name for parameter in self.parameters]
        conditions = " and ".join(f"{name} = {sizes[name]}" for name in names)
        return self.tied(isl.Set(f"[{', '.join(names)}] -> {{ : {conditions} }}"))

    def completed(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return ``sizes``, a value for each of the parameters, with those of the quotients."""
        values = (
            (each.name, each.value.intersect_domain(self.at(sizes)).max_val()) for each in self.quotients
        )
        return {**sizes, **{name: int_of(value) for name, value in values}}

    def tied(self, points: isl.Set) -> isl.Set:
        """Return those of ``points``, a parameter set, at which the quotients are what they are."""
        for quotient in self.quotients:
            named = isl.PwAff(f"[{quotient.name}] -> {{ [({quotient.name})] }}")
            points = points.intersect(named.eq_set(quotient.value))
        return points

    @property
    def symbol(self) -> str:
        """What linkers call the region: the beginning of the names of its functions."""
        return plain(f"{self.name}_{self.tag}" if self.tag else self.name)

    @property
    def kernels(self) -> str:
        """What the names of the region's kernels begin with.

        Slave compilers prepend ``slave_`` to names, but not to those that begin so.
        """
        return f"cpe_{self.symbol}" if f"{self.symbol}_".startswith("slave_") else self.symbol

    def array(self, name: str) -> Array:
        """Return the array of this name."""
        return next(array for array in self.arrays if array.name == name)

    def has_rows(self, name: str, indices: isl.Set) -> bool:
        """Return whether an array has all its elements at the outermost ``indices``, a set of one dimension.

        These are below its first extent where that is known, and are asked for when the region runs.
        """
        array = self.array(name)
        if array.is_scalar or array.extents[0] is not None:
            return True
        here = indices.intersect_params(self.context.intersect(self.assumptions))
        return array.whole_rows is not None and bool(here.is_subset(array.whole_rows))

    def users(self, array: str) -> frozenset[str]:
        """Return the names of the statements that access the array of this name."""
        return frozenset(s.name for s in self.statements if any(a.array == array for a in s.accesses))

    def written_by(self, statements: Iterable[str]) -> frozenset[str]:
        """Return the names of the arrays that the statements of these names may write."""
        names = set(statements)
        return frozenset(
            access.array
            for statement in self.statements
            if statement.name in names
            for access in statement.accesses
            if access.kind is not AccessKind.READ
        )

    def statement(self, name: str) -> Statement:
        """Return the statement of this name."""
        return next(statement for statement in self.statements if statement.name == name)
