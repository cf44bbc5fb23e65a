"""Inline assembly of the Sunway processors in C: what it computes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import Outcome, call, environment_for

HOST = """
#include <athread.h>
extern void SLAVE_FUN(work)(int *);
int main(void) { int n = 0; athread_init(); athread_spawn(work, &n); athread_join(); return n; }
"""
FORMS = r"""#include <slave.h>
#include <simd.h>
int failed;
volatile long flag;
#define CHECK(x) do { if (!(x) && !failed) failed = __LINE__; } while (0)
__thread_local double data[8] __attribute__((aligned(32))) = {1, 2, 3, 4, 5, 6, 7, 8};
__thread_local float singles[4] __attribute__((aligned(16))) = {1.5f, -2, 0, 4};
__thread_local int words[5] = {3, 1, 4, 1, 5};
void work(int *result)
{
    long n = 5, sum, x; int i = 7; unsigned u = 0x80000000u; float f = 1.25f; doublev4 v; floatv4 s;
    /* a loop with hard registers and a numeric label */
    asm volatile("ldi $1,0($31)\n\tmov %2,$2\n\tmov %1,$3\n"
                 "1:\tldw $4,0($2)\n\taddl $1,$4,$1\n\tldi $2,4($2)\n\tsubl $3,1,$3\n\tbne $3,1b\n\t"
                 "mov $1,%0" : "=r"(sum) : "r"(n), "r"(words) : "$1", "$2", "$3", "$4", "memory");
    CHECK(sum == 14);
    /* names, matching constraints, forward branches, unsigned words as the processor holds them */
    asm("addl %[a],%[b],%[r]" : [r] "=r"(x) : [a] "r"(n), [b] "0"(3L)); CHECK(x == 8);
    asm("bge %1,1f\n\tmov 1,%0\n\tbr $31,2f\n1:\tmov 2,%0\n2:" : "=r"(x) : "r"(-1L)); CHECK(x == 1);
    asm("bge %1,1f\n\tmov 1,%0\n\tbr 2f\n1:\tmov 2,%0\n2:" : "=r"(x) : "r"(0L)); CHECK(x == 2);
    asm("cmpult %1,%2,%0" : "=r"(x) : "r"(u), "r"(0x80000001u)); CHECK(x == 1);
    asm("addw %0,1,%0" : "+r"(i)); CHECK(i == 8);
    /* memory operands and immediates */
    asm("ldw %0,%1" : "=r"(x) : "m"(words[4])); CHECK(x == 5);
    asm volatile("stw %1,%0" : "=m"(words[0]) : "r"(77)); CHECK(words[0] == 77);
    asm("ldw %0,%2(%1)" : "=r"(x) : "r"(words), "i"(2 * sizeof(int))); CHECK(x == 4);
    asm("addw %1,%2,%0" : "=r"(x) : "r"(i), "i"(sizeof words)); CHECK(x == 28);
    /* floating point, singles and vectors of them */
    asm("fadds %1,%1,%0" : "=r"(f) : "r"(f)); CHECK(f == 2.5f);
    asm("vldd %0,0(%1)\n\tvmad %0,%0,%0,%0" : "=r"(v) : "r"(&data[4])); CHECK(v[0] == 30 && v[3] == 72);
    asm("vlds %0,%1\n\tvmuls %0,%0,%0" : "=r"(s) : "m"(singles));
    CHECK(s[0] == 2.25f && s[1] == 4 && s[3] == 16);
    asm("vmuls %1,%1,%0" : "=r"(s) : "r"(s)); CHECK(s[0] == 5.0625f && s[3] == 256);
    asm("vextf %1,2,%0" : "=r"(f) : "r"(s)); CHECK(f == 0);
    asm("vshff %1,%2,0x1b,%0" : "=r"(v) : "r"(*(doublev4 *)data), "r"(*(doublev4 *)&data[4]));
    CHECK(v[0] == 8 && v[1] == 7 && v[2] == 2 && v[3] == 1);
    /* which CPE this is, rows and columns in step, a wait for a word that another CPE sets */
    asm("rcsr %0,0" : "=r"(x)); CHECK(x == _PEN);
    asm("rcsr %0,1" : "=r"(x)); CHECK(x == _ROW);
    asm("rcsr %0,2" : "=r"(x)); CHECK(x == _COL);
    asm volatile("ldi %0,0xff($31)\n\tsync %0\n\tsynr %0" : "=r"(x) : : "memory");
    if (_MYID == 63)
        asm volatile("stl %0,0(%1)" : : "r"(42L), "r"(&flag) : "memory");
    asm volatile("1:\tldl %0,0(%1)\n\tcmpeq %0,42,%0\n\tbeq %0,1b" : "=&r"(x) : "r"(&flag) : "memory");
    if (_MYID == 3)
        *result = failed;
}
"""


def do(folder: Path, *words: str, machine: str = "sw26010") -> Outcome:
    return call(words, folder, environment_for(machine))


def built(folder: Path, slave: str, level: str, machine: str = "sw26010") -> None:
    role, tool = ("-", "sw5cc") if machine == "sw26010" else ("-m", "swgcc")
    (folder / "host.c").write_text(HOST)
    (folder / "slave.c").write_text(slave)
    for words in (
        (f"{role}host", "-c", "host.c"),
        (f"{role}slave", "-msimd", level, "-c", "slave.c"),
        (f"{role}hybrid", "host.o", "slave.o", "-o", "app"),
    ):
        done = do(folder, tool, *words, machine=machine)
        assert done.status == 0, done


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_operands_registers_labels_and_memory(level: str, tmp_path: Path) -> None:
    built(tmp_path, FORMS, level)
    for mode in ((), ("env", "SWBUILD_EMU_CHECKED=1")):
        assert do(tmp_path, *mode, "./app").status == 0, "the line of the first check that failed"


#: Products by the counted multiply-add, which subtracts them: weights whose element changes with every
#: instruction, in a loop over K, then rows of A against all of B with rows that are stored as they come out.
PRODUCTS = r"""
#include <slave.h>
#include <simd.h>
#define CHECK(x) do { if (!(x) && !failed) failed = __LINE__; } while (0)
#define K 20
int failed;
__thread_local float x[K * 8] __attribute__((aligned(64))), w[K * 8] __attribute__((aligned(64)));
__thread_local double sums[64] __attribute__((aligned(64))), rows[8 * 16] __attribute__((aligned(64)));
__thread_local int words[64] __attribute__((aligned(64)));
#define EACH(M) M("16") M("17") M("18") M("19") M("20") M("21") M("22") M("23")
#define CLEAR(n) "vcpyf $31,$" n "\n\t"
#define STEP(n) "vlenma $40,$41,$" n ",$" n "\n\t"
static void by_columns(void)
{
    asm volatile("wcsr %0,0x92\n\t" EACH(CLEAR)
                 "mov %3,$1\n\tmov %1,$2\n\tmov %2,$3\n"
                 "1:\tvlds $40,0($2)\n\tvlds $41,0($3)\n\t" EACH(STEP)
                 "ldi $2,32($2)\n\tldi $3,32($3)\n\tsubw $1,1,$1\n\tbgt $1,1b\n\t"
                 "vstd $16,0(%4)\n\tvstd $17,64(%4)\n\tvstd $18,128(%4)\n\tvstd $19,192(%4)\n\t"
                 "vstd $20,256(%4)\n\tvstd $21,320(%4)\n\tvstd $22,384(%4)\n\tvstd $23,448(%4)"
                 : : "r"(8L << 32), "r"(w), "r"(x), "r"((long)K), "r"(sums)
                 : "$1", "$2", "$3", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$40", "$41",
                   "memory");
}
static void by_rows(const float *a, const float *b, double *c)
{
    asm volatile("ldi $1,1($31)\n\twcsr $1,0x92\n\twcsr %[C],0x90\n\tldi $2,128($31)\n\twcsr $2,0x91\n\t"
                 "vlds $50,0(%[A])\n\tvlds $51,32(%[A])\n\tvldd $52,0(%[C])\n\tvldd $53,128(%[C])\n\t"
                 "ldi $3,0(%[B])\n\tldi $4,7($31)\n"
                 "2:\tvlds $54,0($3)\n\tvlenma $50,$54,$52,$52\n\tvlenma $51,$54,$53,$53\n\t"
                 "addl $3,32,$3\n\tsubl $4,1,$4\n\tbne $4,2b\n\t"
                 "vlds $54,0($3)\n\tvlenmas $50,$54,$52,$52\n\tvlenmas $51,$54,$53,$53"
                 : : [A] "r"(a), [B] "r"(b), [C] "r"(c)
                 : "$1", "$2", "$3", "$4", "$50", "$51", "$52", "$53", "$54", "memory");
}
void work(int *result)
{
    floatv8 f; doublev8 d; intv16 v; long n;
    for (int k = 0; k < K * 8; k++)
        x[k] = k * 7 % 13 - 5.5f, w[k] = k * 5 % 11 - 3.25f;
    by_columns();
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum -= (double)w[8 * k + i] * x[8 * k + j];
            CHECK(sums[8 * i + j] == sum);
        }
    for (int k = 0; k < 8 * 16; k++)
        rows[k] = k;
    by_rows(w, x, rows + 8);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 8; j++) {
            double sum = 16 * i + 8 + j;
            for (int k = 0; k < 8; k++)
                sum -= (double)w[8 * i + k] * x[8 * k + j];
            CHECK(rows[16 * i + 8 + j] == sum && rows[16 * i + j] == 16 * i + j);
        }
    /* an unaligned vector from two aligned ones; singles and words as operands */
    for (int k = 0; k < 64; k++)
        words[k] = k;
    asm("vldw_u $40,0(%1)\n\tvldw_u $41,64(%1)\n\tvconw $41,$40,%1,%0"
        : "=r"(v) : "r"(words + 5) : "$40", "$41");
    CHECK(v[0] == 5 && v[10] == 15 && v[11] == 16 && v[15] == 20);
    asm("vlds %0,0(%1)\n\tvadds %0,%0,%0" : "=r"(f) : "r"(x)); CHECK(f[0] == -11 && f[7] == 2 * x[7]);
    asm("vmuld %1,%1,%0" : "=r"(d) : "r"(*(doublev8 *)sums)); CHECK(d[7] == sums[7] * sums[7]);
    asm("rcsr %0,0x91" : "=r"(n)); CHECK(n == 128);
    if (_MYID == 3)
        *result = failed;
}
"""


def test_the_counted_multiply_add_gives_products(tmp_path: Path) -> None:
    built(tmp_path, PRODUCTS, "-O2", "sw26010-pro")
    for mode in ((), ("env", "SWBUILD_EMU_CHECKED=1")):
        assert do(tmp_path, *mode, "./app").status == 0, "the line of the first check that failed"
    told = do(tmp_path, "swgcc", "-mslave", "-msimd", "-c", "slave.c", machine="sw26010-pro").err
    assert "slave.c:15: note: what 'vlenma' does is inferred from public programs" in told


def test_control_registers_that_say_what_is_not_known_end_the_run(tmp_path: Path) -> None:
    for text, message in {
        'asm volatile("vlenma %0,%0,%0,%0" : "+r"(d));': "needs control register 0x92",
        'asm volatile("wcsr %0,0x92" : : "r"(4L << 32));': "0x400000000 in control register 0x92",
    }.items():
        slave = (
            f"#include <slave.h>\n#include <simd.h>\nvoid work(int *n) {{ doublev8 d = 0; {text} *n = 0; }}\n"
        )
        built(tmp_path, slave, "-O2", "sw26010-pro")
        done = do(tmp_path, "./app", machine="sw26010-pro")
        assert done.status == 86 and "slave.c:3" in done.err and message in done.err, done


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("ldl %0,4(%1)", "not a multiple of 8"),
        ("vldd %0,16(%1)", "not a multiple of 32"),
        ("ldw %0,256(%1)", "out of bounds"),
        ("stw %0,-4(%1)", "out of bounds"),
        ("fldd %0,8(%1)", "nothing has been written there"),
        ("ldl %0,0(%1)\\n\\tldl_u %0,7(%1)", ""),
    ],
)
def test_checked_mode_looks_at_loads_and_stores(text: str, fault: str, tmp_path: Path) -> None:
    slave = "#include <slave.h>\n__thread_local long words[32] __attribute__((aligned(32)));\n"
    slave += "void work(int *n)\n{\n    long x = 0;\n    words[0] = 1;\n"
    slave += f'    asm volatile("nop\\n\\t{text}" : "+r"(x) : "r"(words) : "memory");\n'
    slave += "    if (!_MYID)\n        *n = x == 5;\n}\n"
    built(tmp_path, slave, "-O2")
    done = do(tmp_path, "env", "SWBUILD_EMU_CHECKED=1", "./app")
    found = done.status == 86 and "slave.c:7" in done.err and fault in done.err
    assert found if fault else done.status == 0, done


MESSAGES = r"""
#include <slave.h>
#include <simd.h>
#define CHECK(x) do { if (!(x) && !failed) failed = __LINE__; } while (0)
int failed;
__thread_local double data[4] __attribute__((aligned(32)));
__thread_local float singles[4] __attribute__((aligned(16)));
void work(int *result)
{
    doublev4 v = 0, w = 0; floatv4 s, t = {1.5f, -2, 3e-40f, 4}; long x = 0;
    for (int k = 0; k < 4; k++)
        data[k] = k + 1, singles[k] = k + 0.5f;
    /* loads that send along the row and down the column */
    if (_COL == 0)
        asm volatile("vldr %0,0(%1)" : "=r"(v) : "r"(data) : "memory");
    else
        asm volatile("getr %0" : "=r"(v));
    if (_ROW == 0)
        asm volatile("lddec %0,8(%1)\n\tldsec $31,4(%1)" : "=r"(w) : "r"(data) : "memory");
    else
        asm volatile("getc %0\n\tgetc $31" : "=r"(w));
    CHECK(v[0] == 1 && v[3] == 4 && w[0] == 2 && w[3] == 2);
    /* singles and integers from C to assembly and back */
    if (_COL == 1) {
        simd_putr(t, 2);
        asm volatile("vlds %0,0(%1)\n\tputr %0,%2" : "=&r"(s) : "r"(singles), "r"(2) : "memory");
        asm volatile("putr %0,2" : : "r"(-7L));
    } else if (_COL == 2) {
        asm volatile("getr %0" : "=r"(s)); CHECK(s[0] == 1.5f && s[1] == -2 && s[2] == 3e-40f);
        s = simd_getr(s); CHECK(s[0] == 0.5f && s[3] == 3.5f);
        asm volatile("getr %0" : "=r"(x)); CHECK(x == -7);
    }
    if (_MYID == 10)
        *result = failed;
}
"""


def test_messages_between_registers(tmp_path: Path) -> None:
    built(tmp_path, MESSAGES, "-O2")
    for mode in ((), ("env", "SWBUILD_EMU_CHECKED=1")):
        assert do(tmp_path, *mode, "./app").status == 0, "the line of the first check that failed"


CXX = """
extern "C" {
#include <slave.h>
#include <simd.h>
}
template <typename T> static T twice(T x) { T r; asm("addl %1,%1,%0" : "=r"(r) : "r"(x)); return r; }
struct mixed { void *p; float f; doublev8 d; floatv8 s; };
extern "C" void work(int *n)
{
    mixed q = {n, 1.5f, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}};
    long a[3] = {1, 2, 3}; int bad = 0; void *v; char c = -3;
    asm("fadds %0,%0,%0" : "+r"(q.f)); bad += q.f != 3;
    asm("vaddd %0,%0,%0" : "+r"(q.d)); bad += q.d[7] != 16;
    asm("vmuls %0,%0,%0" : "+f"(q.s)); bad += q.s[7] != 64;
    asm("mov %1,%0" : "=r"(v) : "r"(q.p)); bad += v != n;
    asm("ldl %0,8(%1)" : "=r"(a[0]) : "r"(a)); bad += a[0] != 2;
    asm("addw %1,0,%0" : "=r"(a[1]) : "r"(c)); bad += a[1] != -3;
    bad += twice(21) != 42 || twice(21L) != 42;
    if (_MYID == 0)
        *n = bad;
}
"""
ON_THE_HOST = """
#include <athread.h>
extern void SLAVE_FUN(work)(int *);
int main(void)
{
    int n = 0; unsigned long t, u; long x; double d = 2;
    asm volatile("rtc %0" : "=r"(t)); asm volatile("memb"); asm volatile("rtc %0" : "=r"(u));
    asm("addl %1,%2,%0" : "=r"(x) : "r"(3L), "r"(4L));
    asm("fmuld %1,%1,%0" : "=f"(d) : "f"(d));
    asm("fcmplt %1,%2,$f1\\n\\tfbne $f1,1f\\n\\tmov 5,%0\\n1:" : "+r"(x) : "f"(1.0), "f"(2.0) : "$f1");
    athread_init(); athread_spawn(work, &n); athread_join();
    return n + (u < t) + (x != 7) + (d != 4);
}
"""


def test_assembly_in_cxx_and_on_the_host(tmp_path: Path) -> None:
    (tmp_path / "slave.cpp").write_text(CXX)
    (tmp_path / "host.c").write_text(ON_THE_HOST)
    for words in (
        ("swgcc", "-mhost", "-c", "host.c"),
        ("swg++", "-mslave", "-msimd", "-O2", "-c", "slave.cpp"),
        ("swg++", "-mhybrid", "host.o", "slave.o", "-o", "app"),
    ):
        done = do(tmp_path, *words, machine="sw26010-pro")
        assert done.status == 0 and "warning" not in done.err, done
    assert do(tmp_path, "./app", machine="sw26010-pro").status == 0


def test_inferred_meanings_are_told_of_in_files_of_assembly_too(tmp_path: Path) -> None:
    lines = ("\t.text", "\t.globl work", "\t.ent work", "work:", "\tfcvtdlr $1,5,$2", "\tret $31,($26),1")
    (tmp_path / "slave.S").write_text("\n".join((*lines, "\t.end work", "")))
    done = do(tmp_path, "sw5cc", "-slave", "-c", "slave.S")
    assert (done.status, done.err) == (
        0,
        "slave.S:5: note: what 'fcvtdlr' does is inferred from public programs\n",
    )
