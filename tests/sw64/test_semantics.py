"""What instructions do, against an independent model."""

import math
import random
import subprocess
from pathlib import Path

import pytest
import sw64_model as model

import swbuild.emulator
from swbuild.sw64 import semantics
from swbuild.sw64.instructions import INSTRUCTIONS
from swbuild.sw64.meanings import BRANCHES, MEANINGS, REFUSED, SOURCES
from swbuild.sw64.semantics import HOST, SW3, SWS, Unknown
from swbuild.sw64.syntax import Instruction


def test_every_instruction_of_the_table_has_a_meaning_or_a_reason():
    known = MEANINGS.keys() | REFUSED.keys()
    left = [name for name in INSTRUCTIONS if name not in known and not semantics.is_control_flow(name)]
    assert not left and not known - INSTRUCTIONS.keys() - REFUSED.keys()
    assert all(name in BRANCHES for name, shape in INSTRUCTIONS.items() if shape.form in ("il", "rl"))
    assert {row.source for rows in MEANINGS.values() for row in rows} <= SOURCES.keys()


@pytest.mark.parametrize(
    ("text", "machine", "reason"),
    [
        ("umulqa $1,$2,$3", SW3, "not published"),
        ("rcsr $1,9", SW3, "number 9"),
        ("vinsw $1,$2,8,$3", SW3, "number 8"),
        ("addl $1,$40,$3", SW3, "register \\$40"),
        ("addl $1,x,$3", SW3, "'x' is no number"),
        ("ldw $1,lab($3)", SW3, "'lab' is no number"),
        ("putr $1,$2", SWS, "on this processor"),
        ("fcvtlw $f1,$f2", SW3, "on this processor"),
        ("bne $1,1b", HOST, "straight line"),
        ("frobnicate $1", HOST, "not known"),
    ],
)
def test_what_is_not_known_is_refused_by_name(text, machine, reason):
    name, operands = text.split()
    with pytest.raises(Unknown, match=reason):
        semantics.statement(Instruction(1, name, tuple(operands.split(","))), machine)


INCLUDE = Path(swbuild.emulator.__file__).parent / "include"
#: What the runtime would do, told.
STUBS = r"""
#include <stdio.h>
#include <string.h>
#include "swemu_sw64.h"
#undef R
#define R(n) r[n]
#define LANES SW64_LANES
static unsigned long told[4];
static void tell(unsigned long a, unsigned long b, unsigned long c)
{
    told[0]++, told[1] = a, told[2] = b, told[3] = c;
}
void __swemu_unaligned(const volatile void *p, unsigned long n) { tell((unsigned long)p % 64, n, 0); }
void __swemu_memb(void) { tell(0, 0, 0); }
unsigned long __swemu_cycles(void) { return 123456789; }
long __swemu_csr(int number) { return 1000 + number; }
void __swemu_set_csr(int number, long value) { tell(number, value, 0); }
long __swemu_fetch_add(volatile void *word, long n, int bytes)
{
    long old = bytes == 4 ? *(volatile int *)word : *(volatile long *)word;
    tell(n, bytes, 0);
    if (bytes == 4) *(volatile int *)word += n; else *(volatile long *)word += n;
    return old;
}
void __swemu_reg_send(const void *value, int bytes, int target, int column)
{
    const unsigned long *lanes = value;
    tell(lanes[0] ^ lanes[LANES - 1], (unsigned)(bytes * 100 + target), column);
}
void __swemu_reg_receive(void *value, int bytes, int column) { memset(value, 0x21 + column, bytes); }
int __swemu_dma_start(const void *d, void *m, void *l)
{
    tell(*(const long *)d, (long)m, (long)l);
    return 0;
}
int __swemu_syn(int scope, int mask) { tell(scope, mask, 0); return 0; }
int __swemu_element(void) { static int n; return n++ % LANES; }
static unsigned char memory[256] __attribute__((aligned(64)));
unsigned long __swemu_row(void) { return (unsigned long)memory + 64; }
void __swemu_relax(unsigned n, const volatile void *word) { }
"""
RUN = r"""
static void run(void (*f)(sw64_reg *))
{
    for (int set = 0; set < SETS; set++) {
        sw64_reg r[64];
        memset(r, 0, sizeof r), memset(told, 0, sizeof told);
        for (int n = 1; n <= 3; n++)
            for (int k = 0; k < LANES; k++)
                r[n].lane[k] = inputs[set][n - 1][k];
        for (int k = 0; k < LANES; k++)
            r[9].lane[k] = 0x1111111111111111 * (k + 1);
        for (int k = 0; k < 256; k++)
            memory[k] = k ^ 0x5a;
        for (int n = 1; n <= 9; n += n == 3 ? 6 : 1)
            r[32 + n] = r[n];
        r[5].u = (unsigned long)memory + 64;
        f(r);
        if (r[32 + 9].lane[0] != 0x1111111111111111)
            r[9] = r[32 + 9];
        for (int k = 0; k < LANES; k++)
            printf("%lx ", r[9].lane[k]);
        for (int k = 0; k < 4; k++)
            printf("%lx ", told[k]);
        for (int k = 0; k < 256; k++)
            if (memory[k] != (k ^ 0x5a))
                printf("%d:%02x ", k - 64, memory[k]);
        printf("\n");
    }
}
"""
INTEGERS = [
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    0x7F,
    0x80,
    0xFFFF,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
INTEGERS += [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x80FF7F0100FE0180]
DOUBLES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    0.1,
    1 / 3,
    1e300,
    -1e300,
    5e-324,
    2.0**62,
    -(2.0**63),
]
DOUBLES += [1e19, -3e25, math.inf, -math.inf, math.nan, 1 + 2**-52, 2**53 - 1.0, 1e-160, -1e-160]
SINGLES = [
    0,
    1 << 31,
    0x3F800000,
    0xBF800000,
    0x40490FDB,
    0x7F7FFFFF,
    0x00800000,
    1,
    0x7FFFFF,
    0x7F800000,
    0xFF800000,
]
SINGLES += [0x7FC00000, 0x3F800001, 0x4B7FFFFF, 0xC2F6E979, 0x33800000, 0x20000000]
SETS = 24


def pool(name: str) -> list[int]:
    """Return values on which an instruction may show what it does."""
    if name.startswith(("f", "vf", "vcpys")) or (name in model.LANES and name[-1] in "sd"):
        if name[-1] == "s" and not name.startswith(("fsel", "fabs", "fcvtls", "fcpys", "vcpys", "ifm")):
            return [*map(model.in_register, SINGLES), model.bits_of(1.1)]
        return list(map(model.bits_of, DOUBLES))
    return INTEGERS


def variants(name: str, machine: semantics.Machine) -> list[tuple[str, ...]]:
    """Return operands to try: registers 1 to 3 in, register 9 out, numbers where they may stand."""
    numbers = {
        "vinsw": ["0", "3", str(2 * machine.lanes - 1)],
        "vinsf": ["0", str(machine.lanes - 1)],
        "vextw": ["0", "3", str(2 * machine.lanes - 1)],
        "vextf": ["0", str(machine.lanes - 1)],
        "fcvtdlr": ["4", "5", "6", "7"],
        "wcsr": ["0x92"],
    }.get(name, ["4"])
    form = INSTRUCTIONS[name].form
    prefix = "$f" if not machine.unified and name[0] in "vf" and name not in ("fimovd", "fimovs") else "$"
    offset = "0" if name.startswith(("vld", "vst")) or name.endswith("_u") else "8"
    found = []
    for number in numbers:
        ins = iter((f"{prefix}1", f"{prefix}2", f"{prefix}3"))
        letters = {"w": f"{prefix}9", "m": f"{offset}($5)", "n": number}
        found.append(tuple(letters.get(letter) or next(ins) for letter in form))
    if name in ("vextw", "vextf"):
        return [(operands[0], number, operands[2]) for operands, number in zip(found, numbers, strict=True)]
    for number in ("7", "200") if "i" in form else ():
        at = form.rindex("i")
        found.append((*found[0][:at], number, *found[0][at + 1 :]))
    return found


def values(operands: tuple[str, ...], ins: list[list[int]]) -> list[list[int] | int]:
    """Return the lanes of each register that is read, and the numbers."""
    found: list[list[int] | int] = []
    for operand in operands:
        if operand.lstrip("$f").isdigit() and operand.startswith("$") and not operand.endswith("9"):
            found.append(ins[int(operand.lstrip("$f")) - 1])
        elif not operand.startswith("$") and "(" not in operand:
            found.append(int(operand, 0))
    return found


def memory(offset: int, size: int) -> int:
    return int.from_bytes(bytes((64 + offset + k & 255) ^ 0x5A for k in range(size)), "little")


def single_lanes(offset: int, count: int) -> list[int]:
    return [model.in_register(memory(offset + 4 * k, 4)) for k in range(count)]


LOADED = {
    "ldbu": lambda n: [memory(8, 1)],
    "ldhu": lambda n: [memory(8, 2)],
    **dict.fromkeys(("ldw", "ldw_nc"), lambda n: [model.signed(memory(8, 4), 32)]),
    **dict.fromkeys(("ldl", "ldl_nc", "fldd"), lambda n: [memory(8, 8)]),
    "ldl_u": lambda n: [memory(0, 8)],
    "flds": lambda n: single_lanes(8, 1),
    "vldd": lambda n: [memory(8 * k, 8) for k in range(n)],
    "vldw_u": lambda n: [memory(8 * k, 8) for k in range(n)],
    "vlds": lambda n: single_lanes(0, n),
    "ldde": lambda n: [memory(8, 8)] * n,
    "ldse": lambda n: single_lanes(8, 1) * n,
    "vldr": lambda n: [memory(8 * k, 8) for k in range(n)],
    "vldc": lambda n: [memory(8 * k, 8) for k in range(n)],
    **dict.fromkeys(("ldder", "lddec"), lambda n: [memory(8, 8)] * n),
    **dict.fromkeys(("ldser", "ldsec"), lambda n: single_lanes(8, 1) * n),
}
STORED = {
    "stb": lambda a: (8, a[0].to_bytes(8, "little")[:1]),
    "sth": lambda a: (8, a[0].to_bytes(8, "little")[:2]),
    **dict.fromkeys(("stw", "stw_nc"), lambda a: (8, a[0].to_bytes(8, "little")[:4])),
    **dict.fromkeys(("stl", "stl_nc", "fstd"), lambda a: (8, a[0].to_bytes(8, "little"))),
    "stl_u": lambda a: (0, a[0].to_bytes(8, "little")),
    "fsts": lambda a: (8, model.in_memory(a[0]).to_bytes(4, "little")),
    "vstd": lambda a: (0, b"".join(x.to_bytes(8, "little") for x in a)),
    "vsts": lambda a: (0, b"".join(model.in_memory(x).to_bytes(4, "little") for x in a)),
}
ADDED = {"faaw": (1, 4), "faal": (1, 8), "updt_addw": (1, 4), "updt_subw": (-1, 4)}
ADDED |= {"updt_addl": (1, 8), "updt_subl": (-1, 8)}


def computed(name: str, ins: list[list[int] | int], machine: semantics.Machine) -> list[int] | None:
    """Return the lanes that an instruction computes (of one the others stay), None for other effects."""
    n = machine.lanes
    low = [x if isinstance(x, int) else x[0] for x in ins]
    wide = [[x] * n if isinstance(x, int) else x for x in ins]
    pieces = [[x] * 2 * n if isinstance(x, int) else model.words(x) for x in ins]
    last = low[-1] if low else 0
    count = last if machine.unified or not ins or isinstance(ins[-1], int) else model.in_memory(last)
    word = low[0] if machine.unified and low else model.in_memory(low[0]) if low else 0
    if name in model.SCALARS:
        return [model.SCALARS[name](*low)]
    if name in model.LANES:
        return [model.LANES[name](*lanes) for lanes in zip(*wide, strict=True)]
    if name in model.WORDS:
        return model.joined([model.WORDS[name](*x) for x in zip(*pieces, strict=True)])
    if name in model.SHIFTS:
        return model.joined([model.SHIFTS[name](x, count) for x in pieces[0]])
    rules = {
        "sllow": lambda: model.cut(model.whole(wide[0]) << count % (64 * n), n),
        "srlow": lambda: model.cut(model.whole(wide[0]) >> count % (64 * n), n),
        "vinsw": lambda: model.joined(model.inserted(pieces[1], low[2], word)),
        "vinsf": lambda: model.inserted(wide[1], low[2], low[0]),
        "vextw": lambda: [model.signed(pieces[0][low[1]], 32)],
        "vextf": lambda: [wide[0][low[1]]],
        "vshff": lambda: model.vshff(wide[0], wide[1], low[2]),
        "vshfw": lambda: model.vshfw(wide[0], wide[1], low[2]),
        "vconw": lambda: model.joined((pieces[1] + pieces[0])[low[2] >> 2 & 15 :][: 2 * n]),
        "vcpyf": lambda: [low[0]] * n,
        "vcpyw": lambda: model.joined([word] * 2 * n),
        "ldi": list,
        "ldih": list,
        "rcsr": lambda: [1000 + low[0]],
        "rtc": lambda: [123456789],
        "getr": lambda: [0x2121212121212121] * n,
        "getc": lambda: [0x2222222222222222] * n,
    }
    if not machine.unified:
        rules["vextw"] = lambda: [model.in_register(pieces[0][low[1]])]
        rules["vconw"] = lambda: model.joined((pieces[0] + pieces[1])[low[2] >> 2 & 7 :][: 2 * n])
    return rules[name]() if name in rules else None


def expected(name: str, operands: tuple[str, ...], ins: list[list[int]], machine: semantics.Machine) -> str:
    """Return the line that the C program prints."""
    n, read = machine.lanes, values(operands, ins)
    nines = [0x1111111111111111 * (k + 1) & model.ALL for k in range(n)]
    told: tuple[int, ...] = ()
    changed: dict[int, int] = {}
    result = LOADED[name](n) if name in LOADED else computed(name, read, machine) or []
    first = read[0] if read and isinstance(read[0], list) else []
    if name in STORED:
        start, data = STORED[name](first)
        changed = {start + k: byte for k, byte in enumerate(data)}
    if name in ("putr", "putc", "vldr", "vldc", "ldder", "lddec", "ldser", "ldsec"):
        target = 8 if "ld" in name else (read[1] if isinstance(read[1], int) else read[1][0])
        sent = result if "ld" in name else first
        told = (sent[0] ^ sent[n - 1], 800 * n + target & 0xFFFFFFFF, int(name[-1] == "c"))
    if name in ADDED:
        sign, size = ADDED[name]
        amount = sign * (first[0] if first else 1)
        told = (amount, size, 0)
        result = [model.signed(memory(8, size), 8 * size)] if name.startswith("faa") else []
        total = memory(8, size) + amount & 256**size - 1
        changed = {8 + k: byte for k, byte in enumerate(total.to_bytes(size, "little"))}
    if name in ("memb", "wmemb"):
        told = (0, 0, 0)
    if name in ("synr", "sync"):
        told = (int(name == "sync"), model.signed(read[0] if isinstance(read[0], int) else read[0][0], 32), 0)
    if name == "dma":
        told = tuple(x[0] for x in read if isinstance(x, list))
    if name == "wcsr":
        told = (0x92, first[0], 0)
    result = [x & model.ALL for x in result] + nines[len(result) :]
    lanes = "".join(f"{x:x} " for x in result)
    words = "".join(f"{x & model.ALL:x} " for x in ((1, *told) if told else (0, 0, 0, 0)))
    changed = {k: byte for k, byte in changed.items() if byte != (64 + k & 255) ^ 0x5A}
    return lanes + words + "".join(f"{k}:{byte:02x} " for k, byte in sorted(changed.items()))


def same(name: str, found: str, wanted: str, lanes: int) -> bool:
    """Compare lines; one NaN of an arithmetic result is as good as another."""
    pairs = list(zip(found.split(), wanted.split(), strict=False))
    nans = [
        k for k, pair in enumerate(pairs[:lanes]) if all(math.isnan(model.double(int(x, 16))) for x in pair)
    ]
    kept = [pair for k, pair in enumerate(pairs) if k not in nans]
    return len(found.split()) == len(wanted.split()) and all(a == b for a, b in kept)


@pytest.mark.parametrize("machine", [SW3, SWS, HOST], ids=lambda machine: str(machine.name))
def test_what_instructions_do_is_what_the_rules_say(machine: semantics.Machine, tmp_path: Path) -> None:
    draw = random.Random(64)
    text = [
        STUBS,
        f"#define SETS {SETS}\nstatic unsigned long inputs[SETS][3][LANES];\n",
        RUN,
        "int main(void)\n{\n",
    ]
    functions, wanted = [], []
    for name in sorted(MEANINGS):
        if semantics.meaning(name, machine) is None or name.startswith("vlenma") or name in ("ldi", "ldih"):
            continue
        lanes = [
            [[draw.choice(pool(name)) for _ in range(machine.lanes)] for _ in range(3)] for _ in range(SETS)
        ]
        digits = [[[f"{x:#x}UL" for x in reg] for reg in ins] for ins in lanes]
        numbers = ",".join("{" + ",".join("{" + ",".join(reg) + "}" for reg in ins) + "}" for ins in digits)
        text.append(
            f"{{static const unsigned long x[SETS][3][LANES]={{{numbers}}};memcpy(inputs,x,sizeof x);}}\n"
        )
        for operands in variants(name, machine):
            code = semantics.statement(Instruction(1, name, operands), machine)
            functions.append(f"static void f{len(functions)}(sw64_reg *r) {{ {code} }}\n")
            text.append(f"run(f{len(functions) - 1});\n")
            wanted += [(name, operands, ins, expected(name, operands, ins, machine)) for ins in lanes]
    text[3:3] = functions
    source = tmp_path / "all.c"
    source.write_text("".join(text) + "return 0; }\n")
    role = "host" if machine is HOST else "slave"
    macros = [
        f"-D__swemu_vector_bytes={64 if machine is SWS else 32}",
        f"-D__swemu_{role}__=1",
        f"-I{INCLUDE}",
    ]
    command = [
        "gcc",
        "-O1",
        "-w",
        "-ffp-contract=off",
        *macros,
        str(source),
        "-o",
        str(tmp_path / "all"),
        "-lm",
    ]
    subprocess.run(command, check=True)
    lines = subprocess.run([tmp_path / "all"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(wanted)
    wrong = [
        (*w, line) for w, line in zip(wanted, lines, strict=True) if not same(w[0], line, w[3], machine.lanes)
    ]
    assert not wrong, "\\n".join(map(str, wrong[:5]))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ldi $1,-8($2)", "R(1).u=R(2).u+(-8);"),
        ("ldih $1,2($31)", "R(1).u=sw64_zero.u+(long)((int)(2)*65536);"),
        ("addl $1,$31,$2", "R(2).u=R(1).u+sw64_zero.u;"),
        ("addl $1,$2,$31", ";"),
        ("ldl $31,0($5)", ";"),
        ("getr $31", "{sw64_reg sw64_d;__swemu_reg_receive(&sw64_d,sizeof(sw64_reg),0);}"),
        ("vaddd $f1,$f31,$f2", "R(34).vd=R(33).vd+sw64_zero.vd;"),
    ],
)
def test_the_zero_register_and_addresses(text: str, code: str) -> None:
    name, operands = text.split()
    machine = HOST if "$f" in text else SW3
    made = semantics.statement(Instruction(1, name, tuple(operands.split(","))), machine)
    assert made in (code, f"{{{code}}}")


def test_branches_test_signs_and_magnitudes(tmp_path: Path) -> None:
    """A float is compared with zero by its sign and magnitude: both zeros are equal."""
    values = [0, 2**63, 1, 2**63 + 1, 2**64 - 1, model.bits_of(-2.5), model.bits_of(2.5)]
    tests = {f"b{n}": (f, model.signed) for n, f in model.TESTS.items()}
    tests |= {f"fb{n}": (f, model.magnitude) for n, f in model.TESTS.items()}
    tests |= {"blbs": (lambda a: a % 2 == 1, int), "blbc": (lambda a: a % 2 == 0, int)}
    assert tests.keys() == BRANCHES.keys()
    lines = [f'printf("%d",{semantics.condition(Instruction(1, name, ("$1", "x")), SW3)});' for name in tests]
    data = ",".join(f"{x:#x}UL" for x in values)
    text = f"sw64_reg r[2];static unsigned long v[]={{{data}}};"
    text += "int main(void){for(int k=0;k<SETS;k++){r[1].u=v[k];" + "".join(lines) + "}}"
    source = tmp_path / "all.c"
    source.write_text(STUBS + text)
    flags = [
        "-D__swemu_vector_bytes=32",
        "-D__swemu_slave__=1",
        f"-DSETS={len(values)}",
        f"-I{INCLUDE}",
        "-w",
    ]
    subprocess.run(["gcc", *flags, str(source), "-o", str(tmp_path / "all")], check=True)
    found = subprocess.run([tmp_path / "all"], capture_output=True, text=True, check=True).stdout
    assert found == "".join(str(int(f(of(x)))) for x in values for f, of in tests.values())
