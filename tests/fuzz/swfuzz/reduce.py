"""Makes a failing program small: tries smaller ones in batches and keeps those that fail alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from swfuzz.linear import Linear, constant, variable
from swfuzz.program import (
    Array,
    Assign,
    Binary,
    Call,
    Expr,
    If,
    Index,
    Local,
    LocalArray,
    Loop,
    Number,
    Program,
    Ref,
    Select,
    Statement,
    Test,
    While,
    is_valid,
    program_text,
    walk,
)

__all__ = ["reduced", "smaller"]

#: Tells which of these programs still fail in the way that is looked into.
Judge = Callable[[Mapping[str, Program]], set[str]]


def reduced(
    program: Program,
    judge: Judge,
    tell: Callable[[Program], None] = lambda program: None,
    batch: int = 12,
    rounds: int = 60,
) -> Program:
    """Return a program that fails like ``program`` and that no single step makes smaller."""
    tried: set[str] = {_key(program)}
    for _ in range(rounds):
        candidates = list(_unique(smaller(program), tried))
        found = False
        for start in range(0, len(candidates), batch):
            part = {f"f{i}": p for i, p in enumerate(candidates[start : start + batch])}
            tried.update(map(_key, part.values()))
            failing = judge(part)
            if failing:
                program = min((part[name] for name in failing), key=_size)
                tell(program)
                found = True
                break
        if not found:
            return program
    return program


def _key(program: Program) -> str:
    return program_text(program, "f") + repr(sorted(program.options.items(), key=str))


def _size(program: Program) -> tuple[int, int, int]:
    return sum(1 for _ in walk(program.body)), len(_key(program)), len(program.options)


def _unique(programs: Iterator[Program], tried: set[str]) -> Iterator[Program]:
    seen: set[str] = set()
    for program in programs:
        key = _key(program)
        if key not in tried and key not in seen and is_valid(program):
            seen.add(key)
            yield program


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs that are a step simpler, the large steps first; not all of them are valid."""
    for body in _blocks(program.body):
        if body:
            yield _cleaned(replace(program, body=body))
    for name in program.options:
        yield replace(program, options={k: v for k, v in program.options.items() if k != name})
    if program.outer_counters:
        yield replace(program, outer_counters=False)
    if program.indexing is not None:
        yield replace(program, indexing=None)
    if "m" in program.sizes:
        yield _cleaned(_without_m(program))
    for i, array in enumerate(program.arrays):
        for simpler in _arrays(array):
            yield replace(program, arrays=(*program.arrays[:i], simpler, *program.arrays[i + 1 :]))


def _arrays(array: Array) -> Iterator[Array]:
    if array.flat:
        yield replace(array, flat="")
    if array.type != "double":
        yield replace(array, type="double")
    for i, extent in enumerate(array.dims):
        if extent != variable("n"):
            yield replace(array, dims=(*array.dims[:i], variable("n"), *array.dims[i + 1 :]))


def _cleaned(program: Program) -> Program:
    used = {ref.array for ref in _refs(program.body)}
    return replace(program, arrays=tuple(a for a in program.arrays if a.name in used))


def _refs(item: object) -> Iterator[Ref]:
    if isinstance(item, Ref):
        yield item
    if isinstance(item, tuple):
        for part in item:
            yield from _refs(part)
    elif hasattr(item, "__dataclass_fields__"):
        for name in item.__dataclass_fields__:
            yield from _refs(getattr(item, name))


def _mapped(item: object, change: Callable[[Linear], Linear]) -> object:
    """Return a tree with every form in it changed."""
    if isinstance(item, Linear):
        return change(item)
    if isinstance(item, tuple):
        return tuple(_mapped(part, change) for part in item)
    if hasattr(item, "__dataclass_fields__"):
        values = {name: _mapped(getattr(item, name), change) for name in item.__dataclass_fields__}
        return type(item)(**values)
    return item


def _without_m(program: Program) -> Program:
    def change(form: Linear) -> Linear:
        return form.replaced("m", variable("n"))

    arrays, body = _mapped(program.arrays, change), _mapped(program.body, change)
    options = {k: v for k, v in program.options.items() if k != "params"}
    return replace(program, sizes=("n",), arrays=arrays, body=body, options=options)  # type: ignore[arg-type]


def _blocks(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Yield simpler bodies."""
    if len(body) > 1:
        for i in range(len(body)):
            yield body[:i] + body[i + 1 :]
    for i, item in enumerate(body):
        for simpler in _statements(item):
            yield body[:i] + simpler + body[i + 1 :]


def _statements(item: Statement) -> Iterator[tuple[Statement, ...]]:
    """Yield what may stand in the place of a statement."""
    match item:
        case Loop():
            yield _mapped(item.body, lambda form: form.replaced(item.counter, item.lows[0]))  # type: ignore[misc]
            yield item.body
            for body in _blocks(item.body):
                if body:
                    yield (replace(item, body=body),)
            yield from ((loop,) for loop in _loops(item))
        case While():
            yield _mapped(item.body, lambda form: form.replaced(item.counter, constant(0)))  # type: ignore[misc]
            for body in _blocks(item.body):
                if body:
                    yield (replace(item, body=body),)
            if item.leaves:
                yield (replace(item, leaves=False),)
        case If(test, then, other):
            yield then
            if other:
                yield other
                yield (replace(item, other=()),)
            for body in _blocks(then):
                yield (replace(item, then=body),)
            for body in _blocks(other):
                yield (replace(item, other=body),)
            if isinstance(test, Test):
                for i in range(len(test.atoms)):
                    if len(test.atoms) > 1:
                        yield (replace(item, test=replace(test, atoms=test.atoms[:i] + test.atoms[i + 1 :])),)
                if test.negated:
                    yield (replace(item, test=replace(test, negated=False)),)
        case Assign(target, op, value):
            if op != "=":
                yield (replace(item, op="="),)
            for ref in _simpler_refs(target):
                yield (replace(item, target=ref),)
            for expr in _exprs(value):
                yield (replace(item, value=expr),)
        case Local() | LocalArray():
            for expr in _exprs(item.value):
                yield (replace(item, value=expr),)
            if item.type != "double":
                yield (replace(item, type="double"),)


def _loops(loop: Loop) -> Iterator[Loop]:
    if loop.down:
        yield replace(loop, down=False, style=0)
    if loop.step > 1:
        yield replace(loop, step=1)
    if loop.style:
        yield replace(loop, style=0)
    if loop.lows != (constant(0),):
        yield replace(loop, lows=(constant(0),))
    for i in range(len(loop.highs)):
        if len(loop.highs) > 1:
            yield replace(loop, highs=loop.highs[:i] + loop.highs[i + 1 :])
    if loop.highs != (variable("n"),):
        yield replace(loop, highs=(variable("n"),))


def _exprs(value: Expr) -> Iterator[Expr]:
    """Yield simpler values."""
    if not isinstance(value, Number):
        yield Number("1")
    match value:
        case Binary(op, left, right):
            yield left
            yield right
            for expr in _exprs(left):
                yield Binary(op, expr, right)
            for expr in _exprs(right):
                yield Binary(op, left, expr)
        case Call(_, argument):
            yield argument
            for expr in _exprs(argument):
                yield replace(value, argument=expr)
        case Select(_, yes, no):
            yield yes
            yield no
            for expr in _exprs(yes):
                yield replace(value, yes=expr)
            for expr in _exprs(no):
                yield replace(value, no=expr)
        case Ref():
            yield from _simpler_refs(value)


def _simpler_refs(ref: Ref) -> Iterator[Ref]:
    for i, index in enumerate(ref.indices):
        for simpler in _indices(index):
            yield replace(ref, indices=(*ref.indices[:i], simpler, *ref.indices[i + 1 :]))


def _indices(index: Index) -> Iterator[Index]:
    if index.op:
        yield Index(index.form)
    if index.form != constant(0):
        yield Index(constant(0))
    if index.form.constant:
        yield replace(index, form=index.form + -index.form.constant)
    for name, _ in index.form.terms:
        if len(index.form.terms) > 1:
            yield replace(index, form=index.form.replaced(name, constant(0)))
