"""The table of meanings: for each mnemonic C text over its operands, and where the meaning comes from.

In a text ``a b c`` are the operands that are read, in order, numbers among them; ``d`` is the register that
is written, ``@`` the address, which is BASE + OFFSET.  An operand shows the view of its register behind a dot
(a member of ``sw64_reg``), else the row's.  Views beside those: ``reg`` the register as a whole, ``count`` a
number of bits to shift by, ``word`` the 32 bits that are inserted, ``windex`` and ``lindex`` the number of a
word or of a lane, ``rounding`` a way to round, ``counter`` and ``control`` the number of a control register.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["BRANCHES", "MEANINGS", "REFUSED", "SOURCES", "Meaning"]

#: Where meanings come from.
SOURCES = {
    "family": "descriptions of the family's server cores: qemu's target/sw64, an LLVM with lib/Target/Sw64",
    "vendor": "the vendor's manuals and headers",
    "listing": "listings of the vendor's compilers beside their C",
    "programs": "public programs for the machine and what they do with the result",
}
_CPE = ("sw3", "sws")
_ALL = ("sw3", "sws", "host")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row: C ``text`` whose value goes to the view ``result`` of the target, or statements (no result).

    ``align`` is what the processor demands of the address, for each lane with ``vector``.  With ``effect`` it
    does something even when its result is thrown away.
    """

    result: str
    view: str
    text: str
    source: str
    machines: tuple[str, ...] = _ALL
    inferred: bool = False
    align: int = 0
    vector: bool = False
    effect: bool = False


_Table = dict[str, tuple[Meaning, ...]]


def _rows(
    result: str,
    view: str,
    source: str,
    texts: Mapping[str, str],
    machines: tuple[str, ...] = _ALL,
    *,
    inferred: bool = False,
    align: int = 0,
    vector: bool = False,
    effect: bool = False,
) -> _Table:
    """Return rows for mnemonics (several of one text are separated by blanks) that share all else."""
    return {
        name: (Meaning(result, view, text, source, machines, inferred, align, vector, effect),)
        for names, text in texts.items()
        for name in names.split()
    }


_SCALED = {
    f"s{scale}{name}{width}": f"{cast}(a*{scale}{sign}b)"
    for scale in (4, 8)
    for name, sign in (("add", "+"), ("sub", "-"))
    for width, cast in (("w", "(int)"), ("l", ""))
}
_MASKS = {"b": "0xffUL", "h": "0xffffUL", "w": "0xffffffffUL", "l": "~0UL"}
_FIELDS = {
    name + width: text.replace("M", mask)
    for width, mask in _MASKS.items()
    for name, text in {
        "extl": "a>>8*(b&7)&M",
        "exth": "sw64_below(a,b)&M",
        "insl": "(a&M)<<8*(b&7)",
        "insh": "sw64_over(a&M,b)",
        "maskl": "a&~(M<<8*(b&7))",
        "maskh": "a&~sw64_over(M,b)",
    }.items()
}
_INTEGER = {
    **_SCALED,
    "addw": "(int)(a+b)",
    "subw": "(int)(a-b)",
    "mulw": "(int)(a*b)",
    "addl": "a+b",
    "subl": "a-b",
    "mull": "a*b",
    "umulh": "sw64_umulh(a,b)",
    "negw": "(int)-a",
    "negl": "-a",
    "and": "a&b",
    "or bis": "a|b",
    "xor": "a^b",
    "andnot bic": "a&~b",
    "ornot": "a|~b",
    "eqv": "a^~b",
    "not": "~a",
    "mov": "a",
    "sll": "a<<(b&63)",
    "srl": "a>>(b&63)",
    "sra": "a.l>>(b&63)",
    "cmpeq": "a==b",
    "cmplt": "a.l<b.l",
    "cmple": "a.l<=b.l",
    "cmpult": "a<b",
    "cmpule": "a<=b",
    "cmpgeb": "sw64_cmpgeb(a,b)",
    "zap": "a&~sw64_bytes(b)",
    "zapnot": "a&sw64_bytes(b)",
    **_FIELDS,
    "sextb": "(signed char)a",
    "sexth": "(short)a",
    "sextw": "(int)a",
    "ctpop": "__builtin_popcountl(a)",
    "ctlz": "a?__builtin_clzl(a):64",
    "cttz": "a?__builtin_ctzl(a):64",
}
#: What a register is compared with nothing for: by its integer, and by its sign and magnitude as a float.
_TESTS = {"eq": "a==0", "ne": "a!=0", "lt": "a<0", "le": "a<=0", "gt": "a>0", "ge": "a>=0"}
_SIGNS = {
    "eq": "(a.u<<1)==0",
    "ne": "(a.u<<1)!=0",
    "lt": "a<0&&(a.u<<1)!=0",
    "le": "a<0||a==0",
    "gt": "a>0",
    "ge": "a>=0||(a.u<<1)==0",
}
_BITS = {"bc": "(a&1)==0", "bs": "(a&1)!=0"}
#: The test of every conditional branch.
BRANCHES: Mapping[str, str] = {
    **{f"b{name}": text for name, text in _TESTS.items()},
    **{f"bl{name}": text for name, text in _BITS.items()},
    **{f"fb{name}": text for name, text in _SIGNS.items()},
}
_TRUE = "0x4000000000000000L"
_PRODUCTS = {"ma": "a,b,c", "ms": "a,b,-c", "nma": "-a,b,c", "nms": "-a,b,-c"}
_SINGLE = {"a": "sw64_get_s(a)", "b": "sw64_get_s(b)", "c": "sw64_get_s(c)"}
_ARITHMETIC = {"add": "a+b", "sub": "a-b", "mul": "a*b", "div": "a/b"}
_COMPARE = {"eq": "a==b", "le": "a<=b", "lt": "a<b"}
#: Conversions to integers; 4 rounds towards zero, 5 down, 6 to the nearest, 7 up.
_ROUNDED = {
    "fcvtdl fcvtdl_g": "sw64_to_long(a,6)",
    "fcvtdl_z": "sw64_to_long(a,4)",
    "fcvtdl_p": "sw64_to_long(a,7)",
    "fcvtdl_n": "sw64_to_long(a,5)",
}


def _singles(text: str, function: str) -> str:
    """Return a text over doubles as one over singles, whose operands ``function`` takes out of registers."""
    return "".join(f"{function}({part})" if part in ("a", "b", "c") else part for part in text)


def _sent(text: str, column: int) -> str:
    return f"{text};__swemu_reg_send(&d,sizeof(sw64_reg),8,{column})"


_SPLAT_D = "(sw64_vl){0}+*(sw64_i8*)@"
_SPLAT_S = "(sw64_vu){0}+sw64_widen(*(sw64_u4*)@)"

#: One element of the first operand, which the processor counts, times all of the second, from the third.
_COUNTED = "int k=__swemu_element();d.vd=sw64_vfma((sw64_vd){0}-a[k],b,c)"
_STORED = (
    "unsigned long row=__swemu_row();"
    "if(row&(sizeof(sw64_reg)-1))__swemu_unaligned((void*)row,sizeof(sw64_reg));*(sw64_m8*)row=d.vl"
)

_GROUPS: tuple[_Table, ...] = (
    _rows("u", "u", "family", _INTEGER),
    _rows("l", "l", "family", {f"sel{name}": f"{text}?b:c" for name, text in _TESTS.items()}),
    _rows("l", "l", "family", {f"sell{name}": f"{text}?b:c" for name, text in _BITS.items()}),
    _rows("u", "u", "family", {"ldi": "BASE+(OFFSET)", "ldih": "BASE+(long)((int)(OFFSET)*65536)"}),
    # ---- loads and stores ----
    _rows("l", "l", "family", {"ldbu": "*(sw64_u1*)@"}, align=1),
    _rows("l", "l", "family", {"ldhu": "*(sw64_u2*)@"}, align=2),
    _rows("l", "l", "family", {"ldw ldw_nc": "*(sw64_i4*)@"}, align=4),
    _rows("l", "l", "family", {"ldl ldl_nc fldd": "*(sw64_i8*)@"}, align=8),
    _rows("l", "l", "family", {"ldl_u": "*(sw64_i8*)(@&-8)"}),
    _rows("", "u", "family", {"stb": "*(sw64_u1*)@=(unsigned char)a"}, align=1),
    _rows("", "u", "family", {"sth": "*(sw64_u2*)@=(unsigned short)a"}, align=2),
    _rows("", "u", "family", {"stw stw_nc": "*(sw64_u4*)@=(unsigned)a"}, align=4),
    _rows("", "u", "family", {"stl stl_nc fstd": "*(sw64_u8*)@=a"}, align=8),
    _rows("", "u", "family", {"stl_u": "*(sw64_u8*)(@&-8)=a"}),
    _rows("u", "u", "family", {"flds": "sw64_widen(*(sw64_u4*)@)"}, align=4),
    _rows("", "u", "family", {"fsts": "*(sw64_u4*)@=sw64_narrow(a)"}, align=4),
    _rows("vl", "vl", "family", {"vldd": "*(sw64_m8*)@"}, align=8, vector=True),
    _rows("vu", "vu", "family", {"vlds": "sw64_vwiden(*(sw64_m4*)@)"}, align=4, vector=True),
    _rows("", "vl", "family", {"vstd": "*(sw64_m8*)@=a"}, align=8, vector=True),
    _rows("", "vu", "family", {"vsts": "*(sw64_m4*)@=sw64_vnarrow(a)"}, align=4, vector=True),
    _rows("vl", "", "family", {"ldde": _SPLAT_D}, align=8),
    _rows("vu", "", "family", {"ldse": _SPLAT_S}, align=4),
    _rows("vl", "", "family", {"vldw_u": "*(sw64_m8*)(@&-(long)sizeof(sw64_reg))"}, ("sws", "host")),
    # ---- floating point ----
    _rows("d", "d", "family", {f"f{name}d": text for name, text in _ARITHMETIC.items()}),
    _rows(
        "u",
        "u",
        "family",
        {f"f{n}s": f"sw64_put_s({_singles(text, 'sw64_get_s')})" for n, text in _ARITHMETIC.items()},
    ),
    _rows("d", "d", "family", {f"f{name}d": f"__builtin_fma({text})" for name, text in _PRODUCTS.items()}),
    _rows(
        "u",
        "u",
        "family",
        {
            f"f{n}s": f"sw64_put_s(__builtin_fmaf({_singles(text, 'sw64_get_s')}))"
            for n, text in _PRODUCTS.items()
        },
    ),
    _rows("d", "d", "family", {"fsqrtd": "__builtin_sqrt(a)"}),
    _rows("u", "u", "family", {"fsqrts": "sw64_put_s(__builtin_sqrtf(sw64_get_s(a)))"}),
    _rows("d", "d", "family", {f"fcmp{name}": f"{text}?2.0:0.0" for name, text in _COMPARE.items()}),
    _rows("d", "d", "family", {"fcmpun": "__builtin_isunordered(a,b)?2.0:0.0"}),
    _rows("l", "l", "family", {f"fsel{name}": f"({text})?b:c" for name, text in _SIGNS.items()}),
    _rows(
        "u",
        "u",
        "family",
        {
            "fcpys": "(a&1UL<<63)|(b&~(1UL<<63))",
            "fcpysn": "(~a&1UL<<63)|(b&~(1UL<<63))",
            "fcpyse": "(a>>52<<52)|(b&0xfffffffffffffUL)",
            "fabs": "a&~(1UL<<63)",
            "fneg": "a^1UL<<63",
            "fmov itofd ftoid ifmovd fimovd": "a",
            "itofs ifmovs": "sw64_widen((unsigned)a)",
            "ftois fimovs": "(int)sw64_narrow(a)",
            "fcvtds": "sw64_put_s((float)a.d)",
            "fcvtls": "sw64_put_s((float)a.l)",
        },
    ),
    _rows("d", "u", "family", {"fcvtsd": "sw64_get_s(a)", "fcvtld": "(double)a.l"}),
    _rows("l", "d", "family", _ROUNDED),
    _rows("l", "u", "family", {"fcvtwl": "(int)sw64_narrow(a)"}, ("host",)),
    _rows("u", "u", "family", {"fcvtlw": "(a>>30&3)<<62|(a&0x3fffffff)<<29"}, ("host",)),
    _rows("l", "d", "programs", {"fcvtdlr": "sw64_to_long(a,b.rounding)"}, _CPE, inferred=True),
    # ---- vectors ----
    _rows("vd", "vd", "family", {f"v{name}d": text for name, text in _ARITHMETIC.items()}),
    _rows(
        "vu",
        "vu",
        "family",
        {f"v{n}s": f"sw64_put_vs({_singles(text, 'sw64_get_vs')})" for n, text in _ARITHMETIC.items()},
    ),
    _rows("vd", "vd", "family", {f"v{name}d": f"sw64_vfma({text})" for name, text in _PRODUCTS.items()}),
    _rows(
        "vu",
        "vu",
        "family",
        {
            f"v{n}s": f"sw64_put_vs(sw64_vfmas({_singles(text, 'sw64_get_vs')}))"
            for n, text in _PRODUCTS.items()
        },
    ),
    _rows("vd", "vd", "family", {"vsqrtd": "sw64_vsqrt(a)"}),
    _rows("vu", "vu", "family", {"vsqrts": "sw64_put_vs(sw64_vsqrts(sw64_get_vs(a)))"}),
    _rows("vl", "vd", "family", {f"vfcmp{name}": f"({text})&{_TRUE}" for name, text in _COMPARE.items()}),
    _rows("vl", "vd", "family", {"vfcmpun": f"((a!=a)|(b!=b))&{_TRUE}"}),
    _rows(
        "vu",
        "vu",
        "family",
        {
            "vcpys": "(a&1UL<<63)|(b&~(1UL<<63))",
            "vcpysn": "(~a&1UL<<63)|(b&~(1UL<<63))",
            "vcpyse": "(a>>52<<52)|(b&0xfffffffffffffUL)",
            "vfmov": "a",
            "vaddl": "a+b",
            "vsubl": "a-b",
            "vandw": "a&b",
            "vxorw": "a^b",
            "vbisw": "a|b",
            "vbicw": "a&~b",
            "vornotw": "a|~b",
            "veqvw": "a^~b",
            "sllow": "sw64_left(a,b.count&(8*sizeof(sw64_reg)-1))",
            "srlow": "sw64_right(a,b.count&(8*sizeof(sw64_reg)-1))",
        },
    ),
    _rows(
        "vl",
        "vl",
        "family",
        {
            "vseleq vfseleq": "sw64_choose((a<<1)==0,b,c)",
            "vsellt vfsellt": "sw64_choose((a<0)&((a<<1)!=0),b,c)",
            "vselle vfselle": "sw64_choose((a<0)|(a==0),b,c)",
        },
    ),
    _rows(
        "vx",
        "vx",
        "family",
        {
            "vaddw": "a+b",
            "vsubw": "a-b",
            "vsllw": "a<<(int)(b.count&31)",
            "vsrlw": "a>>(int)(b.count&31)",
            "vcmpeqw": "(sw64_vx)(a==b)&1",
            "vcmpulew": "(sw64_vx)(a<=b)&1",
            "vcmpultw": "(sw64_vx)(a<b)&1",
        },
    ),
    _rows(
        "vw",
        "vw",
        "family",
        {"vsraw": "a>>(int)(b.count&31)", "vcmplew": "(a<=b)&1", "vcmpltw": "(a<b)&1"},
    ),
    _rows("", "", "listing", {"vinsw": "sw64_vw v=b.vw;v[c.windex]=a.word;d.vw=v"}),
    _rows("", "", "listing", {"vinsf": "sw64_vl v=b.vl;v[c.lindex]=a.l;d.vl=v"}),
    _rows("l", "vw", "listing", {"vextw": "a[b.windex]"}, _CPE),
    _rows("u", "vw", "family", {"vextw": "sw64_widen((unsigned)a[b.windex])"}, ("host",)),
    _rows("l", "vl", "listing", {"vextf": "a[b.lindex]"}),
    _rows("vl", "vl", "vendor", {"vshff": "sw64_vshff(a,b,c.u)"}, ("sw3",)),
    _rows("vw", "vw", "vendor", {"vshfw": "sw64_vshfw(a,b,c.u)"}, ("sw3",)),
    _rows("vw", "vw", "programs", {"vconw": "sw64_join(a,b,c.u>>2&15)"}, ("sws",)),
    _rows("vw", "vw", "family", {"vconw": "sw64_join(b,a,c.u>>2&7)"}, ("host",)),
    _rows("vl", "", "family", {"vcpyf": "(sw64_vl){0}+a.l"}),
    _rows("vx", "", "family", {"vcpyw": "(sw64_vx){0}+(unsigned)a.word"}),
    _rows("", "vd", "programs", {"vlenma": _COUNTED}, ("sws",), inferred=True),
    _rows("", "vd", "programs", {"vlenmas": f"{_COUNTED};{_STORED}"}, ("sws",), inferred=True, effect=True),
    # ---- register communication ----
    _rows("", "reg", "vendor", {"putr": "__swemu_reg_send(&a,sizeof(sw64_reg),(int)b.l,0)"}, ("sw3",)),
    _rows("", "reg", "vendor", {"putc": "__swemu_reg_send(&a,sizeof(sw64_reg),(int)b.l,1)"}, ("sw3",)),
    _rows("", "", "vendor", {"getr": "__swemu_reg_receive(&d,sizeof(sw64_reg),0)"}, ("sw3",), effect=True),
    _rows("", "", "vendor", {"getc": "__swemu_reg_receive(&d,sizeof(sw64_reg),1)"}, ("sw3",), effect=True),
    _rows(
        "", "", "vendor", {"vldr": _sent("d.vl=*(sw64_m8*)@", 0)}, ("sw3",), align=8, vector=True, effect=True
    ),
    _rows(
        "", "", "vendor", {"vldc": _sent("d.vl=*(sw64_m8*)@", 1)}, ("sw3",), align=8, vector=True, effect=True
    ),
    _rows("", "", "vendor", {"ldder": _sent(f"d.vl={_SPLAT_D}", 0)}, ("sw3",), align=8, effect=True),
    _rows("", "", "vendor", {"lddec": _sent(f"d.vl={_SPLAT_D}", 1)}, ("sw3",), align=8, effect=True),
    _rows("", "", "programs", {"ldser": _sent(f"d.vu={_SPLAT_S}", 0)}, ("sw3",), align=4, effect=True),
    _rows("", "", "programs", {"ldsec": _sent(f"d.vu={_SPLAT_S}", 1)}, ("sw3",), align=4, effect=True),
    # ---- control registers, fences, barriers, atomic operations ----
    _rows("l", "", "vendor", {"rcsr": "__swemu_csr(a.counter)"}, _CPE),
    _rows("", "l", "programs", {"wcsr": "__swemu_set_csr(b.control,a)"}, ("sws",), inferred=True),
    _rows("u", "", "family", {"rtc": "__swemu_cycles()"}),
    _rows("", "", "family", {"memb wmemb": "__swemu_memb()", "nop unop fnop imemb": ""}),
    _rows("", "", "programs", {"synr": "__swemu_syn(0,(int)a.l)", "sync": "__swemu_syn(1,(int)a.l)"}, _CPE),
    _rows("", "reg", "vendor", {"dma": "__swemu_dma_start(&a,(void*)b.l,(void*)c.l)"}, ("sw3",)),
    _rows("l", "", "vendor", {"faaw": "(int)__swemu_fetch_add((void*)@,1,4)"}, _CPE, effect=True),
    _rows("l", "", "vendor", {"faal": "__swemu_fetch_add((void*)@,1,8)"}, _CPE, effect=True),
    _rows("", "l", "vendor", {"updt_addw": "(void)__swemu_fetch_add((void*)@,a,4)"}, _CPE),
    _rows("", "l", "vendor", {"updt_subw": "(void)__swemu_fetch_add((void*)@,-a,4)"}, _CPE),
    _rows("", "l", "vendor", {"updt_addl": "(void)__swemu_fetch_add((void*)@,a,8)"}, _CPE),
    _rows("", "l", "vendor", {"updt_subl": "(void)__swemu_fetch_add((void*)@,-a,8)"}, _CPE),
)


def _merged(groups: tuple[_Table, ...]) -> _Table:
    merged: _Table = {}
    for group in groups:
        for name, rows in group.items():
            merged[name] = (*merged.get(name, ()), *rows)
    return merged


#: The rows of every mnemonic; the first whose machines hold a machine is its meaning there.
MEANINGS: Mapping[str, tuple[Meaning, ...]] = _merged(_GROUPS)

#: What is known by name and not emulated, with the reason.
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(("halt",), "it stops the processor"),
    **dict.fromkeys(("synp",), "what it waits for is not published"),
    **dict.fromkeys(
        (
            "umulqa",
            *(f"{u}{op}o_{take}carry" for u in ("", "u") for op in ("add", "sub") for take in ("", "take_")),
        ),
        "its arithmetic of 256 bits is not published",
    ),
    **dict.fromkeys(("vconl", "vcons", "vcond"), "how it joins its operands is not published"),
    **dict.fromkeys(("vcmpgew",), "the form of its result is not published"),
    **dict.fromkeys(("fcvtws",), "its meaning is not published"),
}
