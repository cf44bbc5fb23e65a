"""Checked code: its tests stand in the assembly, and correct programs of many shapes raise no alarm."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from emulator_programs import build, launch

from swbuild.emulator import install

DRIVER = Path(install.__file__).parent / "driver"

CORRECT = r"""
#include "pitfall.h"
#ifdef SLAVE
#include <string.h>
struct padded { double d; int i; char c; };
__thread_local struct padded one, two[3];
__thread_local double buffer[2][96];
__thread_local float row[33];
__thread_local char text[37];
__thread_local short halves[21];
__thread_local volatile int replies[2], reply;
static double deep(const double *x, int n)
{
    double own[32];
    for (int i = 0; i < 32; i++)
        own[i] = x[i % n];
    return n > 90 ? deep(own, 32) + own[3] : own[n - 1];
}
void work(struct job *j)
{
    int me = _MYID;
    double sum = 0;
    one.d = me;                       /* structures with holes are copied whole */
    one.i = 1;
    one.c = 'x';
    two[0] = one;
    memcpy(&two[1], &two[0], sizeof one);
    for (int i = 0; i < 36; i++)
        text[i] = (char)(i + (i > 0 ? text[i - 1] : 0) * 0);
    for (int i = 0; i < 21; i++)
        halves[i] = (short)i;
    replies[0] = replies[1] = 0;      /* the next piece is under way while this one is used */
    athread_get(PE_MODE, j->in, buffer[0], 768, (void *)&replies[0], 0, 0, 0);
    for (int k = 0; k < 8; k++) {
        int now = k % 2;
        if (k < 7)
            athread_get(PE_MODE, j->in + 96 * (k + 1), buffer[!now], 768, (void *)&replies[!now], 0, 0, 0);
        while (replies[now] != k / 2 + 1)
            ;
        for (int i = 0; i < 96; i++)
            sum += buffer[now][i] * (1 + 0 * two[1].d);
        sum += 0 * deep(buffer[now], 96);
    }
    for (int i = 0; i < 33; i++)      /* neighbouring words, of odd numbers, by different CPEs */
        row[i] = (float)me;
    reply = 0;
    PUT(row, (float *)j->out + 33 * me, 132);
    while (reply != 1)
        ;
    asm volatile("memb");
    athread_syn(ARRAY_SCOPE, 0xffff);
    reply = 0;
    GET((float *)j->out + 33 * ((me + 1) % 64), row, 132);
    while (reply != 1)
        ;
    athread_syn(ARRAY_SCOPE, 0xffff);
    j->out[2048 + me] = sum + row[32] + halves[20] + text[35] + two[1].i;
}
#endif
"""


def program(text: str, folder: Path) -> None:
    (folder / "app.c").write_text(text)
    header = Path(__file__).parent / "pitfalls" / "pitfall.h"
    (folder / "pitfall.h").write_text(header.read_text())


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_no_alarm(machine: str, level: str, tmp_path: Path) -> None:
    program(CORRECT, tmp_path)
    done = build(machine, tmp_path / "app.c", tmp_path, [level, "-std=gnu99"])
    assert done.status == 0, done.err
    done = launch(machine, tmp_path, "checked")
    assert (done.status, done.err) == (0, "")


MISTAKES = {
    "SW661": ("while (replies[now] != k / 2 + 1)", "while (0)"),
    "SW660": ('asm volatile("memb");\n    athread_syn(ARRAY_SCOPE, 0xffff);', ""),
    "SW663": ("one.i = 1;\n", "sum += one.i;\n"),
    "SW664": ("replies[0] = replies[1] = 0;", ""),
}


@pytest.mark.parametrize("code", MISTAKES)
def test_alarm_for_the_same_program_with_a_mistake(code: str, tmp_path: Path) -> None:
    old, new = MISTAKES[code]
    assert CORRECT.count(old) == 1
    program(CORRECT.replace(old, new), tmp_path)
    assert build("sw26010", tmp_path / "app.c", tmp_path, ["-O2", "-std=gnu99"]).status == 0
    done = launch("sw26010", tmp_path, "checked")
    assert f"[{code}]" in done.err
    assert done.status == 86 if code != "SW664" else done.status in (86, 87)


BROADCAST = r"""
#include "pitfall.h"
#ifdef SLAVE
#include <dma.h>
__thread_local double got[512];
__thread_local volatile int reply;
void work(struct job *j)
{
    double mine[512]; /* the others' stacks, which they do not use, have it too */
    int count = 0;
    dma_desc once = 0, all = 0;
    dma_set_op(&once, DMA_GET);
    dma_set_mode(&once, BCAST_MODE);
    dma_set_size(&once, sizeof mine);
    dma_set_mask(&once, 255);
    dma_set_reply(&once, &count);
    if (_MYID == 9)
        for (int k = 0; k < 3; k++) {
            count = 0;
            dma(once, j->in + 512 * k, mine);
            dma_wait(&count, 1);
            j->out[4000 + k] = mine[k];
        }
    reply = 0;
    athread_syn(ARRAY_SCOPE, 0xffff);
    if (_MYID == 5)
        athread_get(BCAST_MODE, j->in + 1024, got, sizeof got, (void *)&reply, 0xff, 0, 0);
    while (reply != 1)
        ;
    j->out[_MYID] = got[511 - _MYID];
}
#else
#define CHECK
#endif
"""


@pytest.mark.parametrize("mode", ["eager", "late", "random:3", "checked"])
def test_broadcasts(mode: str, tmp_path: Path) -> None:
    text = (Path(__file__).parent / "pitfalls" / "pitfall.h").read_text()
    wanted = "for (int k = 0; k < 64; k++) bad += job.out[k] != 1535 - k;"
    wanted += "for (int k = 0; k < 3; k++) bad += job.out[4000 + k] != 513 * k;"
    program(BROADCAST, tmp_path)
    text = text.replace(
        "    free(job.in);", f"    int bad = 0; {wanted} if (bad) return bad;\n    free(job.in);"
    )
    (tmp_path / "pitfall.h").write_text(text)
    assert build("sw26010", tmp_path / "app.c", tmp_path).status == 0
    for _ in range(3):
        done = launch("sw26010", tmp_path, mode)
        assert (done.status, done.err) == (0, "")


POKED = r"""
#define OWN_MAIN
#include "pitfall.h"
#ifdef SLAVE
__thread_local volatile int go = 0;
__thread_local double given[4];
int ready[64];
void work(struct job *j)
{
    while (go != 7)
        ;
    j->out[_MYID] = given[1] + _MYID;
    go = 8;
}
#else
extern volatile __thread int go;
extern __thread double given[4];
int main(void)
{
    static double out[64];
    struct job job = {0, out, 64};
    athread_init();
    for (int i = 0; i < 64; i++)
        h2ldm(go, i, 0) = 0;
    athread_spawn(work, &job);
    for (int i = 0; i < 64; i++) {
        h2ldm(given, i, 0)[1] = 10 * i;
        h2ldm(go, i, 0) = 7;
    }
    athread_join();
    for (int i = 0; i < 64; i++)
        if (out[i] != 11 * i || *(int *)IO_addr(go, i, 0) != 8)
            return 1;
    return go + (given[1] != 0);
}
#endif
"""


@pytest.mark.parametrize("mode", ["eager", "late", "random:1", "checked"])
def test_the_host_reaches_into_the_ldm(mode: str, tmp_path: Path) -> None:
    program(POKED, tmp_path)
    assert build("sw26010", tmp_path / "app.c", tmp_path).status == 0
    for _ in range(5):
        done = launch("sw26010", tmp_path, mode)
        assert (done.status, done.err) == (0, "")


def test_a_second_start_is_told(tmp_path: Path) -> None:
    path = Path(__file__).parent / "pitfalls" / "24-init-twice.c"
    assert build("sw26010", path, tmp_path).status == 0
    done = launch("sw26010", tmp_path, "eager")
    assert "warning[SW604]: athread_init is called twice" in done.err
    assert done.status == 0


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(DRIVER))
    yield __import__("checks")
    sys.modules.pop("checks", None)


def test_calls_go_behind_the_function(checks: object) -> None:
    text = (
        "f:\n\t.cfi_startproc\n\t.loc 1 7 3 view .LVU2\n\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n"
        "\tmovsd\t(%rbx), %xmm0\n\tcall\t__tsan_volatile_read4@PLT\n\tjmp\t__tsan_func_exit@PLT\n"
        "\t.cfi_endproc\n.LFE0:\n\t.size\tf, .-f\n"
    )
    lines = checks.inline_tests(text).splitlines()  # type: ignore[attr-defined]
    assert lines.count("\tcall\t__tsan_read8@PLT") == 1
    assert lines.index("\tcall\t__tsan_read8@PLT") > lines.index("\tret")
    assert lines[lines.index("\tcall\t__tsan_read8@PLT") - 1].strip() == ".loc 1 7 3"
    assert "\tcall\t__tsan_volatile_read4@PLT" in lines[: lines.index("\tret")]
    assert lines.index("\tjne .Lswemu_call1") < lines.index(".Lswemu_back1:") < lines.index("\tret")
    assert lines.index("\tjmp .Lswemu_back1") < lines.index("\t.cfi_endproc")
