"""What instructions of the SW64 family do, written by rule: registers are lists of lanes of 64 bits.

``SCALARS`` give the lowest lane from those of the operands, ``LANES`` each lane, ``WORDS`` each word, and
``WHOLES`` all lanes from all lanes.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from itertools import pairwise

ALL = 2**64 - 1
SIGN = 2**63


def signed(x, bits=64):
    x &= 2**bits - 1
    return x - 2**bits if x >> (bits - 1) else x


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def bits_of(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def in_register(word):
    """Return a single, as it lies in memory, in the form of a double."""
    value = struct.unpack("<f", struct.pack("<I", word))[0]
    sign, exponent, fraction = word >> 31, word >> 23 & 0xFF, word & 0x7FFFFF
    if exponent == 0 or exponent == 255:
        return sign << 63 | (0x7FF if exponent else 0) << 52 | fraction << 29
    return bits_of(value)


def in_memory(bits):
    return bits >> 62 << 30 | bits >> 29 & 0x3FFFFFFF


def single(bits):
    return struct.unpack("<f", struct.pack("<I", in_memory(bits)))[0]


def from_single(value):
    try:
        return in_register(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        return in_register(0x7F800000 | (value < 0) << 31)


def rounded(x, precision, least):
    """Return an exact number as a float of so many bits, ties to even; ``least`` is denormals' exponent."""
    if not x:
        return 0.0
    size = math.floor(math.log2(abs(x.numerator)) - math.log2(x.denominator))
    exponent = max(size - precision - 1, least)
    while abs(x) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    try:
        return math.copysign(
            math.ldexp(round(abs(x) / Fraction(2) ** exponent), exponent), 1 if x > 0 else -1
        )
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def multiply_add(a, b, c, precision, least):
    """Return a * b + c with one rounding."""
    if not math.isfinite(a) or not math.isfinite(b):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        zeros = (math.copysign(1, a) * math.copysign(1, b), math.copysign(1, c))
        return -0.0 if not a * b and not c and zeros == (-1, -1) else 0.0
    return rounded(exact, precision, least)


def divided(a, b):
    if b:
        return a / b
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    return math.nan if not a or math.isnan(a) else -math.inf if negative else math.inf


def product(a, b):
    return a * b


def root(a):
    return math.nan if a < 0 or math.isnan(a) else math.copysign(math.sqrt(a), a)


ARITHMETIC = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": product, "div": divided}
SIGNS = {"ma": (1, 1), "ms": (1, -1), "nma": (-1, 1), "nms": (-1, -1)}
COMPARE = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "un": lambda a, b: math.isnan(a) or math.isnan(b),
}
TESTS = {
    "eq": lambda a: a == 0,
    "ne": lambda a: a != 0,
    "lt": lambda a: a < 0,
    "le": lambda a: a <= 0,
    "gt": lambda a: a > 0,
    "ge": lambda a: a >= 0,
}


def magnitude(bits):
    """Return a number of the sign that a float has, 0 for both zeros."""
    return (-1 if bits & SIGN else 1) * (bits & ~SIGN)


def to_long(value, how):
    return how(value) if math.isfinite(value) else 0


def on_doubles(f):
    return lambda *operands: bits_of(f(*map(double, operands)))


def on_singles(f):
    return lambda *operands: from_single(f(*map(single, operands)))


def fused(signs, precision, least):
    p, s = signs
    return lambda a, b, c: multiply_add(p * a, b, s * c, precision, least)


def compared(f):
    return lambda a, b: bits_of(2.0 if f(double(a), double(b)) else 0.0)


def field(name, width):
    """Return what takes bytes out of a word, puts some in, or clears them, at the place that b says."""

    def run(a, b):
        n, low = b & 7, name.endswith("l")
        source = a.to_bytes(8, "little")
        if name.startswith("ext"):
            moved = source[n:] if low or not n else bytes(8 - n) + source[:n]
            result = moved[:width]
        elif name.startswith("ins"):
            wide = bytes(n) + source[:width] + bytes(16)
            result = wide[:8] if low else wide[8:16]
        else:
            gone = range(n, n + width)
            result = bytes(0 if k + (0 if low else 8) in gone else source[k] for k in range(8))
        return int.from_bytes(result, "little")

    return run


def zapped(a, b, keep):
    return int.from_bytes(
        bytes(x if (b >> k & 1) == keep else 0 for k, x in enumerate(a.to_bytes(8, "little"))), "little"
    )


SCALARS = {
    "addw": lambda a, b: signed(a + b, 32),
    "subw": lambda a, b: signed(a - b, 32),
    "mulw": lambda a, b: signed(a * b, 32),
    "addl": lambda a, b: a + b,
    "subl": lambda a, b: a - b,
    "mull": lambda a, b: a * b,
    "umulh": lambda a, b: a * b >> 64,
    "negw": lambda a: signed(-a, 32),
    "negl": lambda a: -a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "bis": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andnot": lambda a, b: a & (ALL - b),
    "bic": lambda a, b: a & (ALL - b),
    "ornot": lambda a, b: a | (ALL - b),
    "eqv": lambda a, b: ALL - (a ^ b),
    "not": lambda a: ALL - a,
    "mov": lambda a: a,
    "sll": lambda a, b: a * 2 ** (b % 64),
    "srl": lambda a, b: a // 2 ** (b % 64),
    "sra": lambda a, b: signed(a) // 2 ** (b % 64),
    "cmpeq": lambda a, b: a == b,
    "cmplt": lambda a, b: signed(a) < signed(b),
    "cmple": lambda a, b: signed(a) <= signed(b),
    "cmpult": lambda a, b: a < b,
    "cmpule": lambda a, b: a <= b,
    "cmpgeb": lambda a, b: sum((a >> 8 * k & 255 >= b >> 8 * k & 255) << k for k in range(8)),
    "zap": lambda a, b: zapped(a, b, 0),
    "zapnot": lambda a, b: zapped(a, b, 1),
    "sextb": lambda a: signed(a, 8),
    "sexth": lambda a: signed(a, 16),
    "sextw": lambda a: signed(a, 32),
    "ctpop": lambda a: bin(a).count("1"),
    "ctlz": lambda a: 64 - a.bit_length(),
    "cttz": lambda a: (a & -a).bit_length() - 1 if a else 64,
    **{
        f"s{n}{name}{width}": lambda a, b, n=n, sign=sign, width=width: signed(
            a * n + sign * b, 32 if width == "w" else 64
        )
        for n in (4, 8)
        for name, sign in (("add", 1), ("sub", -1))
        for width in "wl"
    },
    **{
        f"{name}{side}{width}": field(name + side, size)
        for name in ("ext", "ins", "mask")
        for side in "lh"
        for width, size in (("b", 1), ("h", 2), ("w", 4), ("l", 8))
    },
    **{f"sel{n}": lambda a, b, c, f=f: b if f(signed(a)) else c for n, f in TESTS.items()},
    "sellbc": lambda a, b, c: c if a % 2 else b,
    "sellbs": lambda a, b, c: b if a % 2 else c,
    **{f"fsel{n}": lambda a, b, c, f=f: b if f(magnitude(a)) else c for n, f in TESTS.items()},
    "fabs": lambda a: a % SIGN,
    "fneg": lambda a: a ^ SIGN,
    **dict.fromkeys(("fmov", "itofd", "ftoid", "ifmovd", "fimovd"), lambda a: a),
    **dict.fromkeys(("itofs", "ifmovs"), lambda a: in_register(a % 2**32)),
    **dict.fromkeys(("ftois", "fimovs"), lambda a: signed(in_memory(a), 32)),
    "fcvtsd": lambda a: bits_of(single(a)),
    "fcvtds": lambda a: from_single(double(a)),
    "fcvtld": lambda a: bits_of(float(signed(a))),
    "fcvtls": lambda a: from_single(rounded(Fraction(signed(a)), 24, -149)),
    **dict.fromkeys(("fcvtdl", "fcvtdl_g"), lambda a: to_long(double(a), round)),
    "fcvtdl_z": lambda a: to_long(double(a), int),
    "fcvtdl_p": lambda a: to_long(double(a), math.ceil),
    "fcvtdl_n": lambda a: to_long(double(a), math.floor),
    "fcvtdlr": lambda a, how: to_long(double(a), {4: int, 5: math.floor, 6: round, 7: math.ceil}[how]),
    "fcvtwl": lambda a: signed(in_memory(a), 32),
    "fcvtlw": lambda a: (a >> 30 & 3) << 62 | (a & 0x3FFFFFFF) << 29,
}

#: Lane by lane; those of scalars have the same names with f for v.
LANES = {
    **{f"v{n}d": on_doubles(f) for n, f in ARITHMETIC.items()},
    **{f"v{n}s": on_singles(f) for n, f in ARITHMETIC.items()},
    **{f"v{n}d": on_doubles(fused(signs, 53, -1074)) for n, signs in SIGNS.items()},
    **{f"v{n}s": on_singles(fused(signs, 24, -149)) for n, signs in SIGNS.items()},
    "vsqrtd": on_doubles(root),
    "vsqrts": on_singles(root),
    **{f"vfcmp{n}": compared(f) for n, f in COMPARE.items()},
    "vcpys": lambda a, b: a & SIGN | b % SIGN,
    "vcpysn": lambda a, b: ~a & SIGN | b % SIGN,
    "vcpyse": lambda a, b: a >> 52 << 52 | b % 2**52,
    "vfmov": lambda a: a,
    "vaddl": lambda a, b: a + b,
    "vsubl": lambda a, b: a - b,
    "vandw": lambda a, b: a & b,
    "vxorw": lambda a, b: a ^ b,
    "vbisw": lambda a, b: a | b,
    "vbicw": lambda a, b: a & ~b,
    "vornotw": lambda a, b: a | ~b,
    "veqvw": lambda a, b: ~(a ^ b),
    **{
        f"{v}sel{n}": lambda a, b, c, n=n: b if TESTS[n](magnitude(a)) else c
        for v in ("v", "vf")
        for n in ("eq", "lt", "le")
    },
}
SCALARS.update(
    {"f" + name[1:]: f for name, f in LANES.items() if name[1:4] in ("add", "sub", "mul", "div", "cpy")}
)
SCALARS.update({"f" + name[1:]: f for name, f in LANES.items() if name[1:-1] in (*SIGNS, "sqrt")})
SCALARS.update({"f" + name[2:]: f for name, f in LANES.items() if name.startswith("vfcmp")})
del SCALARS["faddl"], SCALARS["fsubl"]

WORDS = {
    "vaddw": lambda a, b: a + b,
    "vsubw": lambda a, b: a - b,
    "vcmpeqw": lambda a, b: a == b,
    "vcmplew": lambda a, b: signed(a, 32) <= signed(b, 32),
    "vcmpltw": lambda a, b: signed(a, 32) < signed(b, 32),
    "vcmpulew": lambda a, b: a <= b,
    "vcmpultw": lambda a, b: a < b,
}
SHIFTS = {
    "vsllw": lambda a, n: a << n % 32,
    "vsrlw": lambda a, n: a >> n % 32,
    "vsraw": lambda a, n: signed(a, 32) >> n % 32,
}


def words(lanes):
    return [lane >> shift & 0xFFFFFFFF for lane in lanes for shift in (0, 32)]


def joined(found):
    return [(low & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32 for low, high in list(pairwise(found))[::2]]


def whole(lanes):
    return sum(lane << 64 * k for k, lane in enumerate(lanes))


def cut(value, lanes):
    return [value >> 64 * k & ALL for k in range(lanes)]


def inserted(items, n, value):
    return [value if k == n else item for k, item in enumerate(items)]


def vshff(a, b, s):
    return [b[s & 3], b[s >> 2 & 3], a[s >> 4 & 3], a[s >> 6 & 3]]


def vshfw(a, b, s):
    return joined([words(a if k > 3 else b)[s >> 4 * k & 7] for k in range(8)])
