"""The programs of the fuzzer as trees, their C text, and the proof that they are well-defined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from swfuzz.linear import Bounds, Linear, bounds_of, constant, never_negative, variable

__all__ = [
    "Array",
    "Assign",
    "Atom",
    "Binary",
    "Call",
    "Index",
    "Indexing",
    "If",
    "Local",
    "LocalArray",
    "Loop",
    "Number",
    "Program",
    "Ref",
    "Select",
    "Test",
    "Value",
    "program_text",
    "is_valid",
    "walk",
    "with_tables",
]


@dataclass(frozen=True, slots=True)
class Array:
    """``dims`` are forms over the sizes; none: a scalar.

    ``flat``: a pointer, subscripted linearly, as a ``nested`` sum or as an ``expanded`` one, or a ``table``
    of pointers to rows, or of such tables.
    """

    name: str
    type: str
    dims: tuple[Linear, ...]
    flat: Literal["", "nested", "expanded", "table"] = ""

    @property
    def linear(self) -> bool:
        """Whether it has one subscript in C."""
        return self.flat in ("nested", "expanded")


@dataclass(frozen=True, slots=True)
class Index:
    """A subscript: a form; its quotient or remainder by ``divisor``; or, with ``?``, the form less one, but
    ``divisor`` where the form is less than that (in the last three cases the form is not negative).
    """

    form: Linear
    op: str = ""
    divisor: int = 1

    def __str__(self) -> str:
        if self.op == "?":
            return f"({self.form} < {self.divisor} ? {self.divisor} : {self.form + -1})"
        return f"({self.form}) {self.op} {self.divisor}" if self.op else str(self.form)

    def bounds(self, ranges: dict[str, Bounds]) -> Bounds:
        found = bounds_of(self.form, ranges)
        if not self.op:
            return found
        if self.op == "%":
            return Bounds((constant(0),), (constant(self.divisor - 1), *found.highs))
        if self.op == "?":
            return Bounds((constant(0),), tuple(h + self.divisor for h in found.highs))
        return Bounds((constant(0),), tuple(h for h in found.highs))

    def is_valid(self, ranges: dict[str, Bounds]) -> bool:
        return not self.op or any(never_negative(low) for low in bounds_of(self.form, ranges).lows)


@dataclass(frozen=True, slots=True)
class Ref:
    array: str
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    text: str


@dataclass(frozen=True, slots=True)
class Counter:
    """A form as a value."""

    form: Linear


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    argument: Expr


@dataclass(frozen=True, slots=True)
class Select:
    test: Test | Value
    yes: Expr
    no: Expr


Expr = Ref | Number | Counter | Binary | Call | Select


@dataclass(frozen=True, slots=True)
class Atom:
    """``form op 0``, or ``form % divisor op remainder`` when there is a divisor."""

    form: Linear
    op: str
    divisor: int = 0
    remainder: int = 0

    def __str__(self) -> str:
        if self.divisor:
            return f"({self.form}) % {self.divisor} {self.op} {self.remainder}"
        left = Linear(tuple(t for t in self.form.terms if t[1] > 0))
        right = left - self.form
        return f"{left} {self.op} {right}"


@dataclass(frozen=True, slots=True)
class Test:
    """Atoms joined by ``&&`` or ``||``, perhaps negated."""

    atoms: tuple[Atom, ...]
    join: str = "&&"
    negated: bool = False

    def __str__(self) -> str:
        text = f" {self.join} ".join(str(atom) for atom in self.atoms)
        return f"!({text})" if self.negated else text


@dataclass(frozen=True, slots=True)
class Value:
    """A condition on data."""

    ref: Ref
    op: str
    number: str


@dataclass(frozen=True, slots=True)
class Assign:
    target: Ref
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Local:
    """A scalar that is declared here."""

    name: str
    type: str
    value: Expr


@dataclass(frozen=True, slots=True)
class LocalArray:
    """A small array that is declared here, with all of its elements set by a loop over ``counter``."""

    name: str
    type: str
    extent: int
    counter: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Loop:
    """``counter`` from the greatest of ``lows`` to the least of ``highs`` (exclusive), or downwards."""

    counter: str
    lows: tuple[Linear, ...]
    highs: tuple[Linear, ...]
    step: int
    down: bool
    style: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    test: Test | Value
    then: tuple[Statement, ...]
    other: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """``counter`` from 0 to ``limit`` (exclusive) as long as ``test`` holds, or up to where it fails."""

    counter: str
    limit: int
    test: Value
    leaves: bool
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Continue:
    """The end of an iteration."""


Statement = Assign | Local | LocalArray | Loop | If | While | Continue


@dataclass(frozen=True, slots=True)
class Indexing:
    """How places are computed ahead of their use: in variables of ``type``, or as pointers to ``rows``.

    ``own``: a variable each; ``shared``: one for all, set again and again, ``live``: and used at the end;
    ``hoisted``: what a loop's counter adds, at the start of the loop; ``strides``: those, before the region.
    """

    style: Literal["own", "shared", "hoisted", "rows", "strides"]
    type: str
    live: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """One function with one region; ``options`` are the fields of its KernelOptions, JSON-ready."""

    sizes: tuple[str, ...]
    arrays: tuple[Array, ...]
    body: tuple[Statement, ...]
    options: dict[str, object] = field(default_factory=dict)
    outer_counters: bool = False
    indexing: Indexing | None = None

    def array(self, name: str) -> Array:
        return next(a for a in self.arrays if a.name == name)


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield all statements, depth first."""
    for item in body:
        yield item
        if isinstance(item, (Loop, While)):
            yield from walk(item.body)
        elif isinstance(item, If):
            yield from walk(item.then)
            yield from walk(item.other)


# -- text -------------------------------------------------------------------------------------------


def _linear(indices: tuple[Index, ...], array: Array) -> str:
    """Return the place of an element of the flat ``array``."""
    if array.flat == "expanded":
        strides = ["".join(f"({extent}) * " for extent in array.dims[k + 1 :]) for k in range(len(indices))]
        return " + ".join(f"{stride}({index})" for stride, index in zip(strides, indices, strict=True))
    text = str(indices[0])
    for index, extent in zip(indices[1:], array.dims[1:], strict=True):
        text = f"({text}) * ({extent}) + {index}"
    return text


def _step_of(array: Array) -> str:
    """Return by how many elements the first subscript moves."""
    return " * ".join(f"({extent})" for extent in array.dims[1:])


def _times(factor: int, step: str) -> str:
    return f" {'-' if factor < 0 else '+'} {abs(factor)} * {step}" if factor else ""


class _Printer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.arrays = {a.name: a for a in program.arrays}
        #: What has to stand before the statement in hand; None where nothing can.
        self.ahead: list[str] | None = None
        self.names = 0
        self.counters: list[str] = []

    def ref(self, ref: Ref) -> str:
        array, indexing = self.arrays.get(ref.array), self.program.indexing
        if array is not None and len(array.dims) > 1:
            if indexing is not None and indexing.style == "rows" and self.ahead is not None:
                return self.through_row(ref, array, self.ahead)
            if array.linear:
                return f"{ref.array}[{self.place(ref.indices, array)}]"
        return ref.array + "".join(f"[{index}]" for index in ref.indices)

    def through_row(self, ref: Ref, array: Array, ahead: list[str]) -> str:
        """Return the access through a pointer to the last dimension's row, declared ahead."""
        *outer, last = ref.indices
        row = f"{ref.array}{''.join(f'[{index}]' for index in outer)}"
        if array.linear:
            first = _linear((*outer, Index(constant(0))), array)
            row = f"{ref.array} + {first}" if self.names % 2 else f"&{ref.array}[{first}]"
        ahead.append(f"{'const ' if self.names % 3 else ''}{array.type} *r{self.names} = {row};")
        self.names += 1
        return f"r{self.names - 1}[{last}]"

    def place(self, indices: tuple[Index, ...], array: Array) -> str:
        """Return the place of an element of a flat array, computed ahead in part or as a whole."""
        direct, indexing = _linear(indices, array), self.program.indexing
        if indexing is None:
            return direct
        if indexing.style == "strides":
            outer = [f"st_{array.name}_{k} * ({index}) + " for k, index in enumerate(indices[:-1])]
            return f"{''.join(outer)}{indices[-1]}"
        if indexing.style == "hoisted":
            return self.from_hoisted(indices, array) or direct
        if self.ahead is None or (indexing.style == "shared" and self.ahead):
            return direct
        if indexing.style == "shared":
            self.ahead.append(f"x = {direct};")
            return "x"
        offset = "" if indices[0].op else _times(indices[0].form.constant, _step_of(array))
        if offset:
            form = indices[0].form - indices[0].form.constant
            direct = _linear((replace(indices[0], form=form), *indices[1:]), array)
        self.ahead.append(f"const {indexing.type} x{self.names} = {direct};")
        self.names += 1
        return f"x{self.names - 1}{offset}"

    def from_hoisted(self, indices: tuple[Index, ...], array: Array) -> str | None:
        for counter in self.counters:
            offset = indices[0].form - variable(counter)
            if not indices[0].op and not offset.terms:
                moved = f" + ({offset}) * {_step_of(array)}" if offset.constant else ""
                rest = _linear((Index(constant(0)), *indices[1:]), array)
                return f"h_{array.name}_{counter}{moved} + {rest}"
        return None

    def hoisted(self, counter: str, indent: str) -> list[str]:
        """Return what a loop over ``counter`` starts with."""
        if self.program.indexing is None or self.program.indexing.style != "hoisted":
            return []
        flat = [a for a in self.program.arrays if a.flat and len(a.dims) > 1]
        return [f"{indent}h_{a.name}_{counter} = {counter} * {_step_of(a)};" for a in flat]

    def spelled(self, text: Callable[[], str], indent: str) -> list[str]:
        """Return the statement ``text`` with what has to stand before it."""
        self.ahead = []
        line, ahead, self.ahead = text(), self.ahead, None
        if not ahead or self.program.indexing is None:
            return [indent + line]
        if self.program.indexing.style == "shared":
            return [indent + item for item in self.with_shared(ahead[0], line)]
        return [f"{indent}{{", *(f"{indent}  {item}" for item in (*ahead, line)), f"{indent}}}"]

    def expr(self, expr: Expr) -> str:
        match expr:
            case Ref():
                return self.ref(expr)
            case Number(text):
                return text
            case Counter(form):
                return f"({form})"
            case Binary(op, left, right):
                return f"({self.expr(left)} {op} {self.expr(right)})"
            case Call(function, argument):
                return f"{function}({self.expr(argument)})"
            case Select(test, yes, no):
                return f"({self.test(test)} ? {self.expr(yes)} : {self.expr(no)})"

    def test(self, test: Test | Value) -> str:
        if isinstance(test, Value):
            return f"{self.ref(test.ref)} {test.op} {test.number}"
        return str(test)

    def block(self, body: tuple[Statement, ...], indent: str) -> list[str]:
        return [line for item in body for line in self.statement(item, indent)]

    def statement(self, item: Statement, indent: str) -> list[str]:
        match item:
            case Assign(target, op, value):
                return self.spelled(lambda: self.assigned(target, op, value), indent)
            case Local(name, type_, value):
                return [f"{indent}{type_} {name} = {_bare(self.expr(value))};"]
            case LocalArray(name, type_, extent, counter, value):
                head = f"{indent}for (int {counter} = 0; {counter} < {extent}; {counter}++)"
                return [
                    f"{indent}{type_} {name}[{extent}];",
                    head,
                    f"{indent}  {name}[{counter}] = {_bare(self.expr(value))};",
                ]
            case Loop():
                inside, first = indent + "  ", self.hoisted(item.counter, indent + "  ")
                self.counters.append(item.counter)
                body = [*first, *self.block(item.body, inside)]
                self.counters.pop()
                return [f"{indent}{self.head(item)} {{", *body, f"{indent}}}"]
            case Continue():
                return [f"{indent}continue;"]
            case While(counter, limit, test, leaves, body):
                inner = self.block(body, indent + "  ")
                head = f"{indent}for (int {counter} = 0; {counter} < {limit}"
                if leaves:
                    left = f"{indent}  if (!({self.test(test)})) break;"
                    return [f"{head}; {counter}++) {{", left, *inner, f"{indent}}}"]
                return [f"{head} && {self.test(test)}; {counter}++) {{", *inner, f"{indent}}}"]
            case If(test, then, other):
                lines = [f"{indent}if ({self.test(test)}) {{", *self.block(then, indent + "  ")]
                if other:
                    lines += [f"{indent}}} else {{", *self.block(other, indent + "  ")]
                return [*lines, f"{indent}}}"]

    def with_shared(self, setting: str, line: str) -> list[str]:
        """Return the statement ``line`` that uses the shared variable, which may also be 0."""
        self.names += 1
        scalars = [a.name for a in self.program.arrays if not a.dims and a.type in ("double", "float")]
        holds = f"{self.counters[-1]} % 2 == 0" if self.counters else f"{self.program.sizes[0]} > 3"
        if scalars and self.names % 2:
            holds = f"{scalars[0]} < 0.7"
        variants = (
            [setting, line],
            [setting, f"if ({holds}) x = 0;", line],
            ["x = 0;", f"if ({holds}) {{", f"  {setting}", "}", line],
            [setting, "for (int y = 0; y < 2; y++) {", f"  {line}", "  x = 0;", "}"],
            [setting, f"if ({holds}) {{", "  for (int y = 0; y < 2; y++)", "    x = 0;", "}", line],
        )
        return variants[self.names * 7 // 3 % len(variants)]

    def assigned(self, target: Ref, op: str, value: Expr) -> str:
        text = _bare(self.expr(value))
        written, self.ahead = self.ahead, None if self.is_by_rows() else self.ahead
        place = self.ref(target)
        self.ahead = written
        return f"{place} {op} {text};"

    def is_by_rows(self) -> bool:
        return self.program.indexing is not None and self.program.indexing.style == "rows"

    def head(self, loop: Loop) -> str:
        low, high = _extreme("max", loop.lows), _extreme("min", loop.highs)
        it, declared = loop.counter, "" if self.program.outer_counters else "int "
        if loop.down:
            start = f"{high} - 1" if len(loop.highs) > 1 else str(loop.highs[0] + -1)
            forms = [f"{it} -= {loop.step}", f"{it} = {it} - {loop.step}"]
            if loop.step == 1:
                forms = [f"{it}--", f"--{it}", *forms]
            test = [f"{it} >= {low}", f"{it} > {low} - 1", f"{low} <= {it}"][loop.style % 3]
            return f"for ({declared}{it} = {start}; {test}; {forms[loop.style % len(forms)]})"
        forms = [f"{it} += {loop.step}", f"{it} = {it} + {loop.step}"]
        if loop.step == 1:
            forms = [f"{it}++", f"++{it}", *forms]
        tests = [f"{it} < {high}", f"{it} <= {high} - 1", f"{high} > {it}"]
        return f"for ({declared}{it} = {low}; {tests[loop.style % 3]}; {forms[loop.style % len(forms)]})"


def _bare(text: str) -> str:
    """Return the text without the parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text


def _extreme(function: str, forms: tuple[Linear, ...]) -> str:
    text = str(forms[0])
    op = "<" if function == "min" else ">"
    for form in forms[1:]:
        text = f"({text} {op} {form} ? {text} : {form})"
    return text


def _declaration(array: Array) -> str:
    if array.linear:
        return f"{array.type} *restrict {array.name}"
    if array.flat:
        return f"{array.type} *restrict {array.name}_f"
    return f"{array.type} {array.name}" + "".join(f"[{extent}]" for extent in array.dims)


def program_text(program: Program, name: str) -> str:
    """Return the C function of ``program``; scalars come and go through pointers."""
    printer = _Printer(program)
    scalars = [a for a in program.arrays if not a.dims]
    parameters = [f"int {size}" for size in program.sizes]
    parameters += [_declaration(a) for a in program.arrays if a.dims]
    parameters += [f"{a.type} *{a.name}_p" for a in scalars]
    lines = [f"void {name}({', '.join(parameters)})", "{"]
    lines += [f"  {a.type} {a.name} = *{a.name}_p;" for a in scalars]
    if program.outer_counters:
        counters = sorted({s.counter for s in walk(program.body) if isinstance(s, Loop)})
        lines += [f"  int {', '.join(counters)};"] if counters else []
    lines += [line for a in program.arrays if a.flat == "table" for line in _table(a)]
    lines += _declared_ahead(program)
    lines += ["#pragma scop", *printer.block(program.body, "  "), "#pragma endscop"]
    lines += _used_behind(program)
    lines += [f"  *{a.name}_p = {a.name};" for a in scalars]
    return "\n".join([*lines, "}", ""])


def with_tables(program: Program) -> Program:
    """Return ``program`` with tables of pointers in the place of arrays of two or three dimensions."""
    arrays = tuple(replace(a, flat="table") if len(a.dims) in (2, 3) else a for a in program.arrays)
    rows = program.indexing if program.indexing is not None and program.indexing.style == "rows" else None
    return replace(program, arrays=arrays, indexing=rows)


def _table(array: Array) -> list[str]:
    """Return the declarations of a table of pointers to the rows of an array."""
    name, type_ = array.name, array.type
    first, *inner = (f"({extent})" for extent in array.dims)
    count = " * ".join([first, *inner[:-1]])
    lines = [
        f"  {type_} *{name}_rows[{count} + 1], **{name} = {name}_rows;",
        f"  for (int r = 0; r < {count}; r++) {name}_rows[r] = {name}_f + r * {inner[-1]};",
    ]
    if len(inner) == 1:
        return lines
    lines[0] = (
        f"  {type_} *{name}_rows[{count} + 1], **{name}_planes[{first} + 1], ***{name} = {name}_planes;"
    )
    return [*lines, f"  for (int r = 0; r < {first}; r++) {name}_planes[r] = {name}_rows + r * {inner[0]};"]


def _declared_ahead(program: Program) -> list[str]:
    """Return the declarations of the variables that hold places."""
    if program.indexing is None:
        return []
    kind = program.indexing.type
    if program.indexing.style == "shared":
        return [f"  {kind} x = 0;"]
    if program.indexing.style == "strides":
        return [
            f"  const {kind} st_{a.name}_{k} = {_step_of(replace(a, dims=a.dims[k:]))};"
            for a in program.arrays
            for k in range(len(a.dims) - 1)
        ]
    if program.indexing.style != "hoisted":
        return []
    counters = dict.fromkeys(s.counter for s in walk(program.body) if isinstance(s, Loop))
    flat = [a for a in program.arrays if a.flat and len(a.dims) > 1]
    return [f"  {kind} h_{a.name}_{counter};" for a in flat for counter in counters]


def _used_behind(program: Program) -> list[str]:
    """Return the use of the shared variable behind the region, in a scalar of an integer type."""
    if program.indexing is None or program.indexing.style != "shared" or not program.indexing.live:
        return []
    scalars = [a.name for a in program.arrays if not a.dims and a.type in ("int", "long")]
    return [f"  {name} += x % 5;" for name in scalars[:1]]


# -- validity ---------------------------------------------------------------------------------------


def is_valid(program: Program) -> bool:
    """Return whether every subscript is provably in bounds and every name declared where it is used."""
    shapes: dict[str, tuple[Linear, ...]] = {a.name: a.dims for a in program.arrays}
    for extents in shapes.values():
        for extent in extents:
            if not never_negative(extent) or not extent.names <= set(program.sizes):
                return False
    return _valid_block(program.body, shapes, {}, frozenset(program.sizes))


Shapes = dict[str, tuple[Linear, ...]]
Known = dict[str, Bounds]


def _valid_block(body: tuple[Statement, ...], shapes: Shapes, ranges: Known, sizes: frozenset[str]) -> bool:
    shapes = dict(shapes)
    for item in body:
        if not _valid_statement(item, shapes, ranges, sizes):
            return False
        if isinstance(item, Local):
            shapes[item.name] = ()
        elif isinstance(item, LocalArray):
            shapes[item.name] = (constant(item.extent),)
    return True


def _valid_statement(item: Statement, shapes: Shapes, ranges: Known, sizes: frozenset[str]) -> bool:
    match item:
        case Assign(target, _, value):
            return _valid_expr(target, shapes, ranges, sizes) and _valid_expr(value, shapes, ranges, sizes)
        case Local(_, _, value):
            return _valid_expr(value, shapes, ranges, sizes)
        case LocalArray(_, _, extent, counter, value):
            inner = {**ranges, counter: Bounds((constant(0),), (constant(extent - 1),))}
            return counter not in ranges and _valid_expr(value, shapes, inner, sizes)
        case Loop():
            known = sizes | ranges.keys()
            if item.counter in known or any(not f.names <= known for f in (*item.lows, *item.highs)):
                return False
            return bool(item.body) and _valid_block(
                item.body, shapes, {**ranges, item.counter: loop_bounds(item, ranges)}, sizes
            )
        case Continue():
            return bool(ranges)
        case While(counter, limit, test, _, body):
            inner = {**ranges, counter: Bounds((constant(0),), (constant(limit - 1),))}
            return (
                bool(body)
                and counter not in sizes | ranges.keys()
                and _valid_test(test, shapes, inner, sizes)
                and _valid_block(body, shapes, inner, sizes)
            )
        case If(test, then, other):
            return (
                bool(then)
                and _valid_test(test, shapes, ranges, sizes)
                and all(_valid_block(part, shapes, ranges, sizes) for part in (then, other))
            )


def loop_bounds(loop: Loop, ranges: Known) -> Bounds:
    """Return what is known of the counter inside the loop."""
    lows = [low for form in loop.lows for low in bounds_of(form, ranges).lows]
    highs = [high + -1 for form in loop.highs for high in bounds_of(form, ranges).highs]
    return Bounds(tuple(dict.fromkeys(lows)), tuple(dict.fromkeys(highs)))


def _valid_test(test: Test | Value, shapes: Shapes, ranges: Known, sizes: frozenset[str]) -> bool:
    if isinstance(test, Value):
        return _valid_expr(test.ref, shapes, ranges, sizes)
    return bool(test.atoms) and all(atom.form.names <= sizes | ranges.keys() for atom in test.atoms)


def _valid_expr(expr: Expr, shapes: Shapes, ranges: Known, sizes: frozenset[str]) -> bool:
    match expr:
        case Ref(name, indices):
            if name not in shapes or len(indices) != len(shapes[name]):
                return False
            return all(_valid_index(i, e, ranges, sizes) for i, e in zip(indices, shapes[name], strict=True))
        case Number():
            return True
        case Counter(form):
            return form.names <= sizes | ranges.keys()
        case Binary(_, left, right):
            return _valid_expr(left, shapes, ranges, sizes) and _valid_expr(right, shapes, ranges, sizes)
        case Call(_, argument):
            return _valid_expr(argument, shapes, ranges, sizes)
        case Select(test, yes, no):
            return _valid_test(test, shapes, ranges, sizes) and all(
                _valid_expr(part, shapes, ranges, sizes) for part in (yes, no)
            )


def _valid_index(index: Index, extent: Linear, ranges: Known, sizes: frozenset[str]) -> bool:
    if not index.form.names <= sizes | ranges.keys() or not index.is_valid(ranges):
        return False
    return index.bounds(ranges).within(constant(0), extent + -1)
