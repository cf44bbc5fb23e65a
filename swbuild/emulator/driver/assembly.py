"""Translate inline assembly of the Sunway processors into C that calls the runtime.

A statement ``asm volatile("putr %0,%1\\n" :: "r"(v), "r"(d) : "memory")`` becomes a call per instruction.
Only the instructions of the table are known; any other one is an error at its place.
"""

from __future__ import annotations

import re

__all__ = ["UnknownInstruction", "translate"]

_OPERAND = re.compile(r"%\[(\w+)\]|%([0-9]+)")
_ADDRESS = re.compile(r"^(-?[0-9]*)\((.+)\)$", re.DOTALL)


class UnknownInstruction(Exception):
    """The statement holds an instruction that is not emulated."""


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator outside brackets and strings."""
    parts, depth, quote, start, k = [], 0, "", 0, 0
    while k < len(text):
        c = text[k]
        if quote:
            if c == "\\":
                k += 1
            elif c == quote:
                quote = ""
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == separator and not depth:
            parts.append(text[start:k])
            start = k + 1
        k += 1
    return [*parts, text[start:]]


def _template(text: str) -> str:
    """Return the value of adjacent string literals, as far as assembly uses escapes."""
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " "}.get(m[1], m[1]), "".join(pieces))


class _Operands:
    """The operands of one statement: C expressions by number and by name."""

    def __init__(self, sections: list[str]) -> None:
        self.values: list[str] = []
        self.memory: list[bool] = []
        self.names: dict[str, int] = {}
        for section in sections[:2]:
            for part in _split(section, ","):
                self._add(part.strip())

    def _add(self, part: str) -> None:
        match = re.match(r'^(?:\[(\w+)\]\s*)?"([^"]*)"\s*\((.*)\)$', part, re.DOTALL)
        if not match:
            return
        if match[1]:
            self.names[match[1]] = len(self.values)
        self.values.append(match[3].strip())
        self.memory.append("m" in match[2])

    def _index(self, match: re.Match[str]) -> int:
        index = self.names.get(match[1], -1) if match[1] else int(match[2])
        if not 0 <= index < len(self.values):
            raise UnknownInstruction(match[0])
        return index

    def value(self, text: str) -> str:
        """Return the C expression of an operand: ``%0``, ``%[x]``, a number or a zero register."""
        text = text.strip()
        match = _OPERAND.fullmatch(text)
        if match:
            return f"({self.values[self._index(match)]})"
        if text in ("$31", "$r31", "zero", "$zero"):
            return "0"
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)", text):
            return text
        raise UnknownInstruction(text)

    def assign(self, text: str, value: str) -> str:
        """Return the C statement that gives an operand a value; the zero register takes none."""
        left = self.value(text)
        return f"(void)({value});" if left == "0" else f"{left}={value};"

    def address(self, text: str) -> str:
        """Return the C expression of a memory operand: ``0(%1)``, or a ``"m"`` operand."""
        text = text.strip()
        match = _ADDRESS.match(text)
        if match:
            return f"((volatile char*)({self.value(match[2])})+{match[1] or 0})"
        match = _OPERAND.fullmatch(text)
        if match and self.memory[self._index(match)]:
            return f"((volatile char*)&({self.values[self._index(match)]}))"
        return f"((volatile char*){self.value(text)})"


def _register(send: bool, column: int) -> object:
    def make(o: _Operands, args: list[str]) -> str:
        value = o.value(args[0])
        if send:
            return (
                f"__extension__({{__typeof__({value}) __swemu_v={value};"
                f"__swemu_reg_send(&__swemu_v,sizeof __swemu_v,(int)({o.value(args[1])}),{column});}});"
            )
        return f"__swemu_reg_receive((void*)&{value},sizeof {value},{column});"

    return make


def _load(kind: str) -> object:
    return lambda o, args: o.assign(args[0], f"*(volatile {kind}*){o.address(args[1])}")


def _store(kind: str) -> object:
    return lambda o, args: f"*(volatile {kind}*){o.address(args[1])}=({kind}){o.value(args[0])};"


def _add(width: int) -> object:
    return lambda o, args: o.assign(args[0], f"__swemu_fetch_add({o.address(args[1])},1,{width})")


def _update(width: int, sign: str) -> object:
    return lambda o, args: (
        f"(void)__swemu_fetch_add({o.address(args[1])},{sign}(long){o.value(args[0])},{width});"
    )


#: Instructions that compute one value: the C for it, of operands a, b and c; the last operand takes it.
_OPERATIONS = {
    **{f"{name}l": f"(long)a{sign}(long)b" for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))},
    **{f"{name}w": f"(int)(a{sign}b)" for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))},
    **{
        name: f"(long)a{sign}(long)b"
        for name, sign in (("and", "&"), ("bis", "|"), ("xor", "^"), ("sra", ">>"))
    },
    **{name: f"(long)((unsigned long)a{sign}b)" for name, sign in (("sll", "<<"), ("srl", ">>"))},
    "bic": "(long)a&~(long)b",
    **{name: f"(long)a{sign}(long)b" for name, sign in (("cmpeq", "=="), ("cmplt", "<"), ("cmple", "<="))},
    **{name: f"(unsigned long)a{sign}(unsigned long)b" for name, sign in (("cmpult", "<"), ("cmpule", "<="))},
    "ctpop": "__builtin_popcountl((unsigned long)a)",
    "ctlz": "(a?__builtin_clzl((unsigned long)a):64)",
    "cttz": "(a?__builtin_ctzl((unsigned long)a):64)",
    **{
        f"{kind}{name}{width}": f"a{sign}b"
        for kind in "fv"
        for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"))
        for width in "ds"
    },
    "fcpys": "__builtin_copysign(b,a)",
    "fcpysn": "__builtin_copysign(b,-a)",
    "fsqrtd": "__builtin_sqrt(a)",
    "fsqrts": "__builtin_sqrtf(a)",
    "vsqrtd": "simd_vsqrtd(a)",
    "vsqrts": "simd_vsqrts(a)",
    "vextf": "(a)[b]",
    "fseleq": "(a==0?b:c)",
    "fsellt": "(a<0?b:c)",
    "fselle": "(a<=0?b:c)",
    "seleq": "(a==0?b:c)",
    "sellt": "((long)a<0?b:c)",
    "selle": "((long)a<=0?b:c)",
}


def _operation(text: str) -> object:
    pieces = re.split(r"\b([abc])\b", text)
    count = 1 + max("abc".index(piece) for piece in pieces[1::2])

    def make(o: _Operands, args: list[str]) -> str:
        values = {name: o.value(arg) for name, arg in zip("abc", args[:count], strict=False)}
        if len(args) != count + 1:
            raise IndexError
        return o.assign(args[count], "".join(values.get(piece, piece) for piece in pieces))

    return make


_TABLE: dict[str, object] = {
    "memb": lambda o, args: "__swemu_memb();",
    "nop": lambda o, args: ";",
    "unop": lambda o, args: ";",
    "rtc": lambda o, args: f"{o.value(args[0])}=__swemu_cycles();",
    "rcsr": lambda o, args: f"{o.value(args[0])}=__swemu_csr({o.value(args[1])});",
    "putr": _register(True, 0),
    "putc": _register(True, 1),
    "getr": _register(False, 0),
    "getc": _register(False, 1),
    "faaw": _add(4),
    "faal": _add(8),
    "updt_addw": _update(4, ""),
    "updt_subw": _update(4, "-"),
    "updt_addl": _update(8, ""),
    "updt_subl": _update(8, "-"),
    "sync": lambda o, args: f"(void)athread_syn(ARRAY_SCOPE,{o.value(args[0])});",
    "synr": lambda o, args: f"(void)athread_syn(ROW_SCOPE,{o.value(args[0])});",
    "sync_row": lambda o, args: f"(void)athread_syn(ROW_SCOPE,{o.value(args[0])});",
    "sync_col": lambda o, args: f"(void)athread_syn(COL_SCOPE,{o.value(args[0])});",
    "synp": lambda o, args: ";",
    "mov": lambda o, args: f"{o.value(args[1])}={o.value(args[0])};",
    "ldi": lambda o, args: o.assign(args[0], f"((long){o.address(args[1])})"),
    "dma": lambda o, args: (
        f"(void)__swemu_dma_start(&{o.value(args[0])},(void*)(long){o.value(args[1])},"
        f"(void*)(long){o.value(args[2])});"
    ),
    **{name: _operation(text) for name, text in _OPERATIONS.items()},
    "fmad": lambda o, args: f"{o.value(args[3])}={o.value(args[0])}*{o.value(args[1])}+{o.value(args[2])};",
    "vmad": lambda o, args: f"{o.value(args[3])}={o.value(args[0])}*{o.value(args[1])}+{o.value(args[2])};",
    "vldd": lambda o, args: (
        f"{o.value(args[0])}=*(volatile __typeof__({o.value(args[0])})*){o.address(args[1])};"
    ),
    "vstd": lambda o, args: (
        f"*(volatile __typeof__({o.value(args[0])})*){o.address(args[1])}={o.value(args[0])};"
    ),
    **{name: _load("int") for name in ("ldw", "ldw_nc")},
    **{name: _load("long") for name in ("ldl", "ldl_nc")},
    **{name: _store("int") for name in ("stw", "stw_nc")},
    **{name: _store("long") for name in ("stl", "stl_nc")},
    "fldd": _load("double"),
    "flds": _load("float"),
    "fstd": _store("double"),
    "fsts": _store("float"),
}


def _instruction(operands: _Operands, text: str) -> str:
    words = text.split(None, 1)
    make = _TABLE.get(words[0])
    if make is None:
        raise UnknownInstruction(words[0])
    arguments = _split(words[1], ",") if len(words) > 1 else []
    try:
        return make(operands, arguments)  # type: ignore[operator,no-any-return]
    except IndexError:
        raise UnknownInstruction(text) from None


def translate(body: str) -> str | None:
    """Return the C for the inside of an asm statement; None to keep it (an empty template).

    Raises :class:`UnknownInstruction` for what is not emulated.
    """
    sections = _split(body, ":")
    template = _template(sections[0])
    lines = [line.split("#")[0].strip() for line in re.split(r"[\n;]", template)]
    lines = [line for line in lines if line]
    if not lines:
        return None
    operands = _Operands(sections[1:])
    return "{" + "".join(_instruction(operands, line) for line in lines) + "}"
