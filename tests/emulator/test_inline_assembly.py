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
