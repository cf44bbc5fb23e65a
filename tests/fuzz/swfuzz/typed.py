"""Random whole programs about types, aliases and names: their ``main`` prints all that they compute.

A program consists of units: a function with one region, what it needs at file scope, and the calls that
``main`` makes of it, with pointers that overlap or do not.  The integers of a unit have any type that C has,
typedefs and enums among them; its names are, now and then, those that generated code and the machine's
headers use.  Nothing in it is undefined: sums stay small or unsigned, subscripts stay inside, numbers in
floating point never become integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

__all__ = ["Unit", "program_of", "random_unit"]

#: Elements of an array in one dimension, and how far a subscript may lie beyond a size.
_ROOM, _BEYOND = 48, 4
_SIZES = (3, 5, 8, 17, 33, 40)

_SMALL = ("char", "signed char", "unsigned char", "short", "unsigned short", "_Bool")
_WIDE = ("int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "unsigned int")
_FLOATS = ("float", "double")
_UNSIGNED_WIDE = {"unsigned", "unsigned int", "unsigned long", "unsigned long long"}

#: Names that generated code, isl and the machines' headers use, or could.
_POOL = Path(__file__).with_name("names.txt").read_text().split()


@dataclass(frozen=True, slots=True)
class Unit:
    """One function with its region: the text before it and of it, and the block of ``main`` that calls it."""

    name: str
    text: str
    calls: str


@dataclass(frozen=True, slots=True)
class _Type:
    """A type by its name; ``raw``: its values may be summed as they are, being small or unsigned.

    ``truth``: it is another name of ``_Bool``, which holds no size.
    """

    name: str
    raw: bool
    floating: bool = False
    small: bool = False
    truth: bool = False


@dataclass(frozen=True, slots=True)
class _Object:
    """``spelling`` with ``{0}`` and ``{1}`` for the subscripts is an element; without any, a scalar."""

    spelling: str
    type: _Type
    rank: int = 0
    writable: bool = True


class _Writer:
    """Writes one unit."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.number = number
        self.taken: set[str] = set()
        self.file: list[str] = []
        self.objects: list[_Object] = []
        self.counters: list[tuple[str, str]] = []
        self.constants: list[str] = []
        self.functions: list[str] = []
        self.setters: list[tuple[str, _Type]] = []
        self.types: list[_Type] = []
        self.fresh = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # -- names and types --------------------------------------------------------------------------

    def name(self, plain: str) -> str:
        """Return a name for a local object: ``plain``, one of the pool, or one made from another's."""
        found = plain
        if self.chance(0.3):
            found = self.random.choice(_POOL)
        elif self.chance(0.1) and self.taken:
            pattern = self.random.choice(
                ("{}_ldm", "{}_lo0", "{}_n0", "LDM_{}", "MEM_{}", "{}_", "sw_{}", "{}0")
            )
            found = pattern.format(self.random.choice(sorted(self.taken)))
        while found in self.taken:
            found += "x"
        self.taken.add(found)
        return found

    def at_file_scope(self, plain: str) -> str:
        """Return a name that no other unit has."""
        return f"{self.random.choice(('u', 'sw_', 'A_ldm', 'slave_', 'args'))}{self.number}_{plain}"

    def type(self, small: float = 0.2, floating: float = 0.35) -> _Type:
        pick = self.random.random()
        if pick < floating:
            return _Type(self.random.choice(_FLOATS), False, floating=True)
        if pick < floating + small:
            name = self.random.choice(_SMALL)
            return _Type(name, True, small=True, truth=name == "_Bool")
        own = [kind for kind in self.types if not kind.floating]
        if own and self.chance(0.4):
            return self.random.choice(own)
        name = self.random.choice(_WIDE)
        return _Type(name, name in _UNSIGNED_WIDE)

    def make_types(self) -> None:
        """Define enums, and chains of typedefs."""
        for k in range(self.random.choice((0, 1, 1, 2))):
            self.enum(f"e{k}")
        for k in range(self.random.choice((0, 1, 2))):
            base = self.type(floating=0.2)
            first, last = self.at_file_scope(f"t{k}"), self.at_file_scope(f"tt{k}")
            self.file += [f"typedef {base.name} {first};", f"typedef {first} {last};"]
            self.types.append(replace(base, name=last))

    def enum(self, plain: str) -> None:
        tag, first, second = (self.at_file_scope(plain + part) for part in ("", "a", "b"))
        kind = self.random.choice(("plain", "plain", "plain", "negative", "wide", "packed"))
        values = {
            "plain": f"{first}, {second} = {self.random.choice(('5', '(1 << 4) - 2', '0x21'))}",
            "negative": f"{first} = -3, {second}",
            "wide": f"{first} = 1, {second} = 0x100000000",
            "packed": f"{first}, {second} = 9",
        }[kind]
        packed = " __attribute__((packed))" if kind == "packed" else ""
        self.file.append(f"enum {tag} {{ {values} }}{packed};")
        self.constants += [first] if kind == "wide" else [first, second]
        name = f"enum {tag}"
        if self.chance(0.4):
            alias = self.at_file_scope(plain + "t")
            self.file.append(f"typedef enum {tag} {alias};")
            name = alias
        self.types.append(_Type(name, kind != "negative", small=kind == "packed"))

    def make_functions(self) -> None:
        """Define a function of a number, and one that sets a variable through its address."""
        if self.chance(0.5):
            name, kind = self.at_file_scope("f"), self.type(floating=0.0)
            result = self.type(floating=0.0)
            value = f"x % 11 + {self.random.randint(0, 4)}"
            self.file.append(f"static inline {result.name} {name}({kind.name} x) {{ return {value}; }}")
            self.functions.append(name)
        if self.chance(0.5):
            name, kind = self.at_file_scope("set"), self.type(small=0.0, floating=0.3)
            self.file.append(f"static inline void {name}({kind.name} *x, int y) {{ *x = y % 7 + 2; }}")
            self.setters.append((name, kind))

    # -- expressions ------------------------------------------------------------------------------

    def literal(self) -> str:
        return self.random.choice(("1", "3", "2u", "5L", "7ul", "4ll", "'a'", "0x10", "1u", "9"))

    def subscript(self, counter: str) -> str:
        shift = self.random.randint(0, _BEYOND - 1)
        suffix = self.random.choice(("", "", "", "u", "l"))
        return f"{counter} + {shift}{suffix}" if shift else counter

    def element(self, found: _Object) -> str | None:
        """Return an element of an object, inside it; None where there are too few counters."""
        over = [
            [c for c, size in self.counters if found.rank == 1 or size == self.bounds[k]]
            for k in range(found.rank)
        ]
        if not all(over):
            return None
        return found.spelling.format(*(self.subscript(self.random.choice(counters)) for counters in over))

    def leaf(self, floating: bool, tame: bool) -> str:
        pick = self.random.random()
        if pick < 0.12:
            return self.random.choice(("0.5", "2.0f", "1.25", "3")) if floating else self.literal()
        if pick < 0.22 and self.counters:
            return self.random.choice(self.counters)[0]
        if pick < 0.3 and self.constants:
            return self.random.choice(self.constants)
        usable = [o for o in self.objects if floating or not o.type.floating]
        chosen = self.random.choice(usable) if usable else None
        text = self.element(chosen) if chosen is not None else None
        if chosen is None or text is None:
            return self.literal()
        if chosen.type.floating or (chosen.type.raw and not tame and not floating):
            return text
        return f"({text} % {self.random.choice(('13', '7', '5u', '11'))})"

    def integer(self, size: int) -> str:
        """Return an integer expression that is defined for all values of its variables."""
        if size <= 0:
            return self.leaf(False, False)
        pick = self.random.random()
        if pick < 0.35:
            return f"({self.integer(size - 1)} {self.random.choice('+-')} {self.integer(size - 1)})"
        if pick < 0.42:
            return f"({self.leaf(False, True)} * {self.leaf(False, True)})"
        if pick < 0.55:
            divisor = self.random.choice((self.literal(), f"(({self.integer(0)} & 7) + 1)"))
            return f"({self.integer(size - 1)} {self.random.choice('/%')} {divisor})"
        if pick < 0.63:
            return f"({self.integer(size - 1)} {self.random.choice('&|^')} {self.integer(size - 1)})"
        if pick < 0.68:
            return f"({self.integer(size - 1)} >> ({self.leaf(False, True)} & 3))"
        if pick < 0.72:
            return f"(({self.integer(size - 1)} & 15) << {self.random.randint(1, 3)})"
        if pick < 0.78:
            kind = self.type(floating=0.0)
            return f"(({kind.name})({self.integer(size - 1)} % 29))"
        if pick < 0.84 and self.functions:
            return f"{self.random.choice(self.functions)}({self.integer(size - 1)})"
        if pick < 0.92:
            return f"({self.test()} ? {self.integer(size - 1)} : {self.integer(size - 1)})"
        return f"{self.random.choice(('~', '!'))}{self.leaf(False, False)}"

    def real(self, size: int) -> str:
        """Return an expression in floating point, or an integer one that stays small."""
        if size <= 0:
            return self.leaf(True, True)
        if self.chance(0.15):
            return f"({self.integer(size - 1)} % 17)"
        if self.chance(0.2):
            return f"({self.test()} ? {self.real(size - 1)} : {self.real(size - 1)})"
        return f"({self.real(size - 1)} {self.random.choice('+-')} {self.real(size - 1)})"

    def test(self) -> str:
        left, right = self.integer(1), self.integer(self.random.choice((0, 0, 1)))
        return f"{left} {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} {right}"

    # -- statements -------------------------------------------------------------------------------

    def assign(self) -> str:
        """Return an assignment to an element or a scalar."""
        writable = [(o, text) for o in self.objects if o.writable and (text := self.element(o)) is not None]
        ranked = [pair for pair in writable if pair[0].rank]
        if not writable:
            return ";"
        target, text = self.random.choice(ranked if ranked and self.chance(0.85) else writable)
        size = self.random.choice((1, 1, 2, 2, 3))
        if target.type.floating:
            form = self.random.choice(
                ("{} = 0.5 * {};", "{} = {} * 0.25f;", "{0} = 0.5f * {0} + 0.125 * {1};")
            )
            return form.format(text, self.real(size))
        if self.chance(0.3) and target.type.raw and not target.type.small:
            return f"{text} {self.random.choice(('+=', '-=', '^='))} {self.integer(size)};"
        return f"{text} = {self.integer(size)};"

    def local(self, inner: list[str]) -> None:
        """Declare a variable, set by an expression or through its address."""
        self.fresh += 1
        name = self.name(f"v{self.fresh}")
        if self.setters and self.chance(0.4):
            setter, kind = self.random.choice(self.setters)
            inner += [f"{kind.name} {name};", f"{setter}(&{name}, {self.leaf(False, True)});"]
        else:
            kind = self.type()
            value = self.real(1) if kind.floating else self.integer(1)
            inner.append(f"{kind.name} {name} = {value};")
        self.objects.append(_Object(name, kind, writable=self.chance(0.5)))

    def block(self, depth: int) -> list[str]:
        known = len(self.objects)
        inner: list[str] = []
        if self.counters and self.chance(0.3):
            self.local(inner)
        for _ in range(self.random.choice((1, 1, 2))):
            if depth > 0 and self.chance(0.6):
                inner += self.loop(depth - 1)
            elif self.counters and self.chance(0.25):
                inner += [f"if ({self.test()})", f"  {self.assign()}"]
            else:
                inner.append(self.assign())
        del self.objects[known:]
        return inner

    def loop(self, depth: int) -> list[str]:
        counter = self.name("ijkl"[len(self.counters)])
        kind = self.random.choice(
            ("int", "int", "int", "long", "unsigned", "short", "unsigned char", "size_t", "char")
        )
        low, size = self.random.choice((0, 0, 1, 2)), self.random.choice(self.bounds)
        high = size + self.random.choice(("", "", " - 1", " - 2"))
        step = self.random.choice(("++", "++", "++", " += 2"))
        head = f"for ({kind} {counter} = {low}; {counter} < {high}; {counter}{step}) {{"
        if kind in ("int", "long", "short") and self.chance(0.15):
            head = f"for ({kind} {counter} = {high} - 1; {counter} >= {low}; {counter}--) {{"
        self.counters.append((counter, size))
        body = self.block(depth)
        self.counters.pop()
        self.taken.discard(counter)
        return [head, *(f"  {line}" for line in body), "}"]

    # -- the unit ---------------------------------------------------------------------------------

    def unit(self) -> Unit:
        self.make_types()
        self.make_functions()
        return _Frame(self).unit()

    bounds: tuple[str, ...] = ()


class _Frame:
    """The function around a region: its parameters, and how ``main`` calls it."""

    def __init__(self, writer: _Writer) -> None:
        self.writer = writer
        self.random = writer.random
        self.parameters: list[str] = []
        self.arguments: list[str] = []
        self.storage: list[str] = []
        self.shown: list[tuple[str, str]] = []
        self.before: list[str] = []
        self.after: list[str] = []
        self.of_type: dict[tuple[str, int], list[str]] = {}

    def unit(self) -> Unit:
        writer = self.writer
        name = f"region_{writer.number}"
        writer.taken.add(name)
        self.sizes()
        if writer.chance(0.6):
            self.structure()
        for k in range(self.random.choice((1, 2, 3))):
            self.array("abc"[k])
        if writer.chance(0.5):
            self.out_parameter()
        if writer.chance(0.4):
            self.scalar_before()
        depth = self.random.choice((1, 2, 2))
        body = [line for _ in range(self.random.choice((1, 1, 2))) for line in writer.loop(depth - 1)]
        lines = [
            f"void {name}({', '.join(self.parameters)})",
            "{",
            *(f"  {line}" for line in self.before),
            "#pragma scop",
            *(f"  {line}" for line in body),
            "#pragma endscop",
            *(f"  {line}" for line in self.after),
            "}",
        ]
        return Unit(name, "\n".join([*writer.file, *lines]) + "\n", self.calls(name))

    def sizes(self) -> None:
        kinds = [k for k in _WIDE + _SMALL if k != "_Bool"]
        names = []
        for plain in ("n", "m"):
            own = [t.name for t in self.writer.types if not (t.floating or t.truth)]
            kind = self.random.choice(["int", "int", "long", *kinds, *own])
            kind = "int" if any(t.name == kind and "packed" in t.name for t in self.writer.types) else kind
            names.append(self.writer.name(plain))
            self.parameters.append(f"{kind} {names[-1]}")
            self.arguments.append(plain)
        self.writer.bounds = tuple(names)

    def array(self, plain: str) -> None:
        """Add an array: a pointer, one with two dimensions, or one at file scope."""
        writer, kind = self.writer, self.writer.type(small=0.15)
        style = self.random.choice(("pointer", "pointer", "square", "square", "linear", "global"))
        shared = f"s{writer.number}_{plain}"
        name = writer.name(plain) if style != "global" else f"{writer.at_file_scope(plain)}"
        n, m = writer.bounds
        count = _ROOM if style in ("pointer", "global") else _ROOM * _ROOM
        if style == "global":
            writer.file.append(f"static {kind.name} {name}[{_ROOM}];")
            writer.objects.append(_Object(f"{name}[{{0}}]", kind, 1))
            self.shown.append((name, f"sizeof {name}"))
            self.fill(name, f"{_ROOM}", kind)
            return
        restrict = self.random.choice(("", "", "restrict "))
        if style == "pointer":
            self.parameters.append(f"{kind.name} *{restrict}{name}")
            writer.objects.append(_Object(f"{name}[{{0}}]", kind, 1))
        elif style == "square":
            self.parameters.append(f"{kind.name} {name}[{restrict}{n} + {_BEYOND}][{m} + {_BEYOND}]")
            writer.objects.append(_Object(f"{name}[{{0}}][{{1}}]", kind, 2))
        else:
            self.parameters.append(f"{kind.name} *{restrict}{name}")
            writer.objects.append(_Object(f"{name}[({{0}}) * ({m} + {_BEYOND}) + {{1}}]", kind, 2))
        self.own(shared, kind, count, "restrict" in self.parameters[-1], style == "square")

    def own(self, shared: str, kind: _Type, count: int, alone: bool, square: bool) -> None:
        """Give a pointer parameter memory: its own, or, where it may overlap, now and then another's."""
        others = self.of_type.setdefault((kind.name, count), [])
        if others and not alone and not square and self.writer.chance(0.5):
            other = self.random.choice(others)
            self.arguments.append(f"(call == 1 ? {shared} : call == 2 ? {other} : {other} + 1)")
        else:
            self.arguments.append(shared)
        if not alone and not square:
            others.append(shared)
        pointer = f"(void *){self.arguments.pop()}" if square else self.arguments.pop()
        self.arguments.append(pointer)
        self.storage.append(f"static {kind.name} {shared}[{count + 2}];")
        self.shown.append((shared, f"sizeof {shared}"))
        self.fill(shared, str(count + 2), kind)

    def fill(self, name: str, count: str, kind: _Type) -> None:
        value = "(next() % 64) * 0.25" if kind.floating else "next() % 50 - 10"
        self.storage.append(f"for (long x = 0; x < {count}; x++) {name}[x] = {value};")

    def structure(self) -> None:
        """Add a pointer to a structure that may lead back to it, with members behind macros and odd ones."""
        writer, number = self.writer, self.writer.number
        tag, kind, counted = writer.at_file_scope("g"), writer.type(small=0.1), writer.type(0.2, 0.0)
        z, p, q, k, o = writer.name("z"), "p", "q", "k", "o"
        writer.file.append(
            f"struct {tag} {{ {counted.name} {k}; {kind.name} *{p}; unsigned bits : 3;"
            f" {kind.name} {q}[{_ROOM}]; union {{ int whole; float part; }} either; struct {tag} *{o}; }};"
        )
        spellings = [f"{z}->{p}[{{0}}]", f"{z}->{q}[{{0}}]", f"{z}->{o}->{p}[{{0}}]", f"{z}->{o}->{q}[{{0}}]"]
        chosen = self.random.sample(spellings, self.random.choice((1, 2, 3)))
        if writer.chance(0.4):
            macro = writer.at_file_scope("M")
            writer.file.append(f"#define {macro}(x) {chosen[0].format('x')}")
            chosen[0] = f"{macro}({{0}})"
        writer.objects += [_Object(text, kind, 1) for text in chosen]
        if writer.chance(0.5):
            writer.objects.append(_Object(f"{z}->{k}", counted, writable=writer.chance(0.5)))
        if writer.chance(0.3):
            writer.objects.append(_Object(f"{z}->{o}->{k}", counted, writable=writer.chance(0.5)))
        self.parameters.append(f"struct {tag} *{z}")
        one, two = f"z{number}", f"o{number}"
        self.storage += [
            f"static struct {tag} {one}, {two};",
            f"static {kind.name} p{number}[{_ROOM + 2}], q{number}[{_ROOM + 2}];",
        ]
        self.storage += [
            f"{one}.{o} = call == 2 ? &{one} : &{two}; {two}.{o} = &{one};",
            f"{one}.{p} = p{number}; {two}.{p} = call == 3 ? p{number} + 1 : q{number};",
            f"{one}.{k} = 4; {two}.{k} = 6; {one}.bits = 5; {one}.either.whole = 3;",
        ]
        for name in (f"{one}.{q}", f"{two}.{q}", f"p{number}", f"q{number}"):
            self.fill(name, f"(long)(sizeof {name} / sizeof *{name})", kind)
            self.shown.append((name, f"sizeof {name}"))
        self.shown += [(f"&{one}.{k}", f"sizeof {one}.{k}"), (f"&{two}.{k}", f"sizeof {two}.{k}")]
        self.arguments.append(f"&{one}")

    def out_parameter(self) -> None:
        """Add a scalar that the region reaches through a pointer; it may lie in one of the arrays."""
        writer, kind = self.writer, self.writer.type(small=0.1)
        name, shared = writer.name("s"), f"s{writer.number}_s"
        self.parameters.append(f"{kind.name} *{name}")
        writer.objects.append(_Object(f"*{name}", kind))
        self.storage += [f"static {kind.name} {shared};", f"{shared} = 3;"]
        others = self.of_type.get((kind.name, _ROOM), [])
        self.arguments.append(f"(call == 2 ? {others[0]} + 2 : &{shared})" if others else f"&{shared}")
        self.shown.append((f"&{shared}", f"sizeof {shared}"))

    def scalar_before(self) -> None:
        """Add a variable of the function that the region changes and the function hands out."""
        writer, kind = self.writer, self.writer.type()
        name, kept = writer.name("w"), writer.at_file_scope("kept")
        writer.file.append(f"{kind.name} {kept};")
        register = "register " if writer.chance(0.2) else ""
        self.before.append(f"{register}{kind.name} {name} = 1;")
        if not register and writer.chance(0.3):
            for setter, wanted in writer.setters:
                if wanted.name == kind.name:
                    self.before.append(f"{setter}(&{name}, 5);")
        writer.objects.append(_Object(name, kind))
        self.after.append(f"{kept} = {name};")
        self.shown.append((f"&{kept}", f"sizeof {kept}"))

    def calls(self, name: str) -> str:
        declared = [line for line in self.storage if line.startswith("static ")]
        settings = [line for line in self.storage if not line.startswith("static ")]
        shown = [f'show("{name} {text}", {text}, {size});' for text, size in self.shown]
        tried = self.random.sample([(n, m) for n in _SIZES for m in _SIZES], 2)
        rows = ", ".join(f"{{{n}, {m}}}" for n, m in tried)
        lines = [
            "{",
            *(f"  {line}" for line in declared),
            f"  static const int sizes[][2] = {{ {rows} }};",
            "  for (int at = 0; at < 2; at++)",
            "    for (int call = 1; call <= 3; call++) {",
            "      int n = sizes[at][0], m = sizes[at][1];",
            *(f"      {line}" for line in settings),
            f"      {name}({', '.join(self.arguments)});",
            *(f"      {line}" for line in shown),
            "    }",
            "}",
        ]
        return "\n".join(f"  {line}" for line in lines) + "\n"


_HEAD = """#include <stddef.h>
#include <stdio.h>
"""

_TOOLS = """
static unsigned long seed = 1;

static long next(void)
{
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return (long)(seed >> 40);
}

static void show(const char *what, const void *object, size_t size)
{
  unsigned long sum = 14695981039346656037ul;
  for (size_t x = 0; x < size; x++)
    sum = (sum ^ ((const unsigned char *)object)[x]) * 1099511628211ul;
  printf("%s %016lx\\n", what, sum);
}
"""


def random_unit(seed: int) -> Unit:
    """Return the unit of a seed; its region is called ``region_<seed>``."""
    return _Writer(Random(f"typed {seed}"), seed).unit()


def program_of(units: Sequence[Unit]) -> str:
    """Return the C text of a program of ``units``."""
    parts = [_HEAD, *(unit.text for unit in units), _TOOLS]
    return "\n".join([*parts, "int main(void)", "{", *(unit.calls for unit in units), "  return 0;", "}", ""])
