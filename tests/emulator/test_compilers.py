"""The stand-in compilers: roles, options, prefixes, archives, rewriting."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from emulator_programs import Outcome, call, environment_for

from swbuild.diagnostics import SwbuildError
from swbuild.emulator import environment, toolchain_dir
from swbuild.machine import machine_names

HOST = (
    "#include <athread.h>\nextern void SLAVE_FUN(work)(int *);\nint main(void) { int n = 0; athread_init(); "
)
HOST += "athread_spawn(work, &n); athread_join(); return n; }\n"
SLAVE = (
    "#include <slave.h>\nint twice(int);\nvoid work(int *n) { if (_MYID == 5) *n = twice(_ROW + _COL); }\n"
)
HELP = "#include <stdlib.h>\nint twice(int x) { return abs(-2 * x); }\n"
CXX_HOST = """\
extern "C" {
#include <athread.h>
void slave_work(int *);
}
#include <vector>
int main()
{
    std::vector<int> n(1);
    athread_init();
    __real_athread_spawn((void *)slave_work, n.data(), 1);
    athread_join();
    return n[0];
}
"""
VECTORS = """\
#include <slave.h>
#include <simd.h>
void work(int *n)
{
    char odd; double a[5]; doublev4 v = 3, w = (doublev4)2.0;
    odd = 1;
    simd_store(v, a);
    simd_load(v, a);
    v = v * w;
    if (_MYID == 0)
        *n = (int)simd_vextf3(v) + odd;
}
"""
SPELLINGS = {
    "sw5cc": ("sw26010", "-host", "-slave", "-hybrid"),
    "sw5cc.new": ("sw26010", "-host", "-slave", "-hybrid"),
    "swgcc": ("sw26010-pro", "-mhost", "-mslave", "-mhybrid"),
    "sw9gcc": ("sw26010-pro", "-mhost", "-mslave", "-mhybrid"),
    "mpicc": ("sw26010", "-host", "-slave", "-hybrid"),
}


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.c").write_text(text)


def do(folder: Path, *words: str, machine: str = "sw26010") -> Outcome:
    return call(words, folder, environment_for(machine))


def must(folder: Path, *words: str, machine: str = "sw26010") -> Outcome:
    done = do(folder, *words, machine=machine)
    assert done.status == 0, done
    return done


def symbols(path: Path) -> dict[str, str]:
    lines = subprocess.run(["nm", "-P", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0]: line.split()[1] for line in lines}


@pytest.mark.parametrize("tool", SPELLINGS)
def test_every_spelling_builds_a_program(tool: str, tmp_path: Path) -> None:
    machine, host, slave, hybrid = SPELLINGS[tool]
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    must(tmp_path, tool, host, "-O2", "-c", "host.c", machine=machine)
    must(tmp_path, tool, slave, "-msimd", "-O2", "-c", "slave.c", machine=machine)
    must(tmp_path, tool, slave, "-c", "help.c", machine=machine)
    must(tmp_path, tool, hybrid, "host.o", "slave.o", "help.o", "-o", "app", "-lm_slave", machine=machine)
    assert do(tmp_path, "./app").status == 10


def test_slave_functions_get_a_prefix_and_variables_do_not(tmp_path: Path) -> None:
    put(
        tmp_path,
        s="int shared; extern int other; int f(void); int (*p)(void) = f;\n"
        "static int g(void) { return other; }\n"
        "int h(void) { return f() + g() + shared; }\n",
    )
    must(tmp_path, "sw5cc", "-slave", "-O0", "-c", "s.c")
    found = symbols(tmp_path / "s.o")
    assert found["slave_h"] == "T"
    assert found["slave_f"] == "U"
    assert found["g"] == "t"
    assert found["other"] == "U"
    assert found["shared"] in "BC"


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_functions_that_have_the_prefix_keep_it(machine: str, tmp_path: Path) -> None:
    slave = SLAVE.replace("void work", "void slave_work").replace("twice", "slave_twice")
    put(tmp_path, host=HOST, slave=slave, help=HELP.replace("twice", "slave_twice"))
    compiler, dash = ("sw5cc", "-") if machine == "sw26010" else ("swgcc", "-m")
    must(tmp_path, compiler, f"{dash}host", "-c", "host.c", machine=machine)
    must(tmp_path, compiler, f"{dash}slave", "-c", "slave.c", "help.c", machine=machine)
    must(tmp_path, compiler, f"{dash}hybrid", "host.o", "slave.o", "help.o", "-o", "app", machine=machine)
    assert do(tmp_path, "./app").status == 10


def test_archives_with_slave_objects(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    must(tmp_path, "sw5cc", "-slave", "-c", "slave.c")
    must(tmp_path, "sw5cc", "-slave", "-c", "help.c")
    must(tmp_path, "swar", "rcs", "libwork.a", "slave.o", "help.o")
    must(tmp_path, "sw5cc", "-hybrid", "host.c", "-L.", "-lwork", "-o", "app")
    assert do(tmp_path, "./app").status == 10
    checked = call(["./app"], tmp_path, environment_for("sw26010", SWBUILD_EMU_CHECKED="1"))
    assert (checked.status, checked.err) == (10, "")


def test_joined_objects_of_both_roles(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    environment = environment_for("sw26010", SWBUILD_EMU_COUNTED_CODE="1")
    assert call(["sw5cc", "-slave", "-c", "slave.c", "help.c"], tmp_path, environment).status == 0
    must(tmp_path, "sw5cc", "-host", "-c", "host.c")
    must(tmp_path, "sw5ld", "-r", "slave.o", "host.o", "-o", "both.o")
    must(tmp_path, "sw5ar", "rcs", "libhelp.a", "help.o")
    must(tmp_path, "sw5cc", "-hybrid", "both.o", "-L.", "-lhelp", "-o", "app")
    assert do(tmp_path, "./app").status == 10
    for setting in (
        {"SWBUILD_EMU_CHECKED": "1"},
        {"SWBUILD_EMU_TRACE": "events"},
        {"SWBUILD_EMU_MODEL": "model"},
    ):
        done = call(["./app"], tmp_path, environment_for("sw26010", **setting))
        assert (done.status, done.err) == (10, "")
    done = do(tmp_path, "sw5ld", "both.o", "-o", "app")
    assert done.status == 1
    assert "sw5ld: error[SW601]: the linker is emulated for joining objects (-r) only" in done.err


def test_a_slave_object_in_a_host_link_is_refused(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    must(tmp_path, "swgcc", "-mhost", "-c", "host.c")
    must(tmp_path, "swgcc", "-mslave", "-c", "slave.c")
    done = do(tmp_path, "swgcc", "host.o", "slave.o", "-o", "app")
    assert done.status == 1
    assert "slave.o: error[SW601]: slave object in a host link" in done.err
    assert not (tmp_path / "app").exists()


def test_what_the_linker_misses_is_said_once(tmp_path: Path) -> None:
    # the versions of a program are linked side by side; their messages in one stream would mix
    host = HOST.replace("return n;", "extern int gone(void); return gone();")
    put(tmp_path, host=host, slave=SLAVE, help=HELP)
    for role, name in (("-host", "host"), ("-slave", "slave"), ("-slave", "help")):
        must(tmp_path, "sw5cc", role, "-c", f"{name}.c", "-o", f"{name}.o")
    done = do(tmp_path, "sw5cc", "-hybrid", "host.o", "slave.o", "help.o", "-o", "app")
    assert done.status != 0
    assert done.err.count("undefined reference to `gone'") == 1


def test_mpicc_links_both_roles_without_being_told(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=SLAVE + HELP)
    must(tmp_path, "mpicc", "-mhost", "-c", "host.c", machine="sw26010-pro")
    must(tmp_path, "mpicc", "-mslave", "-c", "slave.c", machine="sw26010-pro")
    must(tmp_path, "mpicc", "host.o", "slave.o", "-o", "app", machine="sw26010-pro")
    assert do(tmp_path, "./app", machine="sw26010-pro").status == 10
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    must(tmp_path, "mpicc", "-host", "-c", "host.c")
    must(tmp_path, "sw5cc", "-slave", "-c", "slave.c")
    must(tmp_path, "sw5cc", "-slave", "-c", "help.c")
    must(tmp_path, "mpicc", "host.o", "slave.o", "help.o", "-o", "app")
    assert do(tmp_path, "./app").status == 10
    assert do(tmp_path, "sw5cc", "host.o", "slave.o", "help.o", "-o", "app").status == 1


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_inline_functions_of_a_header_may_be_in_many_objects(machine: str, tmp_path: Path) -> None:
    compiler, dash = ("sw5cc", "-") if machine == "sw26010" else ("swgcc", "-m")
    (tmp_path / "both.h").write_text("inline int sum(int a, int b) { return a + b; }\n")
    head = '#include "both.h"\n'
    call_ = SLAVE.replace("twice(_ROW + _COL)", "twice(sum(_ROW, _COL))")
    put(tmp_path, host=head + HOST.replace("return n", "return sum(n, 1)"), slave=head + call_)
    put(tmp_path, help=head + HELP.replace("abs(-2 * x)", "sum(x, x)"), more=head + "int other = 3;\n")
    for level in ("-O0", "-O2"):
        for name, role in (("host", "host"), ("more", "host"), ("slave", "slave"), ("help", "slave")):
            must(tmp_path, compiler, dash + role, level, "-c", f"{name}.c", machine=machine)
        objects = ["host.o", "more.o", "slave.o", "help.o"]
        must(tmp_path, compiler, f"{dash}hybrid", *objects, "-o", "app", machine=machine)
        assert do(tmp_path, "./app").status == 11
        checked = call(["./app"], tmp_path, environment_for(machine, SWBUILD_EMU_CHECKED="1"))
        assert (checked.status, checked.err) == (11, "")


def test_waiting_for_a_word_that_is_not_volatile_is_a_warning(tmp_path: Path) -> None:
    slave = "#include <slave.h>\nvoid work(int *n)\n{\n    int r = 0, x;\n"
    slave += "    if (_MYID) return;\n    athread_get(PE_MODE, n, &x, 4, &r, 0, 0, 0);\n"
    slave += "    while (r != 1)\n        ;\n    *n = x + 4;\n}\n"
    put(tmp_path, host=HOST, slave=slave)
    for level in ("-O0", "-O2"):
        done = must(tmp_path, "sw5cc", "-slave", level, "-c", "slave.c")
        assert "slave.c:7:" in done.err
        assert "is not volatile" in done.err
        must(tmp_path, "sw5cc", "-hybrid", "host.c", "slave.o", "-o", "app")
        assert do(tmp_path, "./app").status == 4


def test_copies_of_the_machine_s_headers_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "sdk").mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "sdk" / "athread.h").write_text("int __real_athread_spawn(void *, void *);\n#error copy\n")
    guard = "#ifndef _S_H\n#define _S_H\n"
    (tmp_path / "sdk" / "slave.h").write_text(
        guard + "extern char _CGN __thread_local_fix;\n#error x\n#endif\n"
    )
    (tmp_path / "sdk" / "more.h").write_text('#include "slave.h"\nint twice(int);\n')
    (tmp_path / "own" / "dma.h").write_text("int twice(int);\n")
    put(tmp_path, host=HOST, slave="#include <dma.h>\n" + SLAVE.replace("int twice(int);\n", ""), help=HELP)
    for include in ("-Isdk", "-I sdk"):
        words = [*include.split(), "-Iown", "-c"]
        must(tmp_path, "sw5cc", "-host", *words, "host.c")
        must(tmp_path, "sw5cc", "-slave", "-c", "help.c")
    must(tmp_path, "sw5cc", "-slave", "-Iown", "-c", "slave.c")
    must(tmp_path, "sw5cc", "-hybrid", "host.o", "slave.o", "help.o", "-o", "app")
    assert do(tmp_path, "./app").status == 10
    text = (tmp_path / "slave.c").read_text()
    put(tmp_path, slave=text.replace("<dma.h>", "<more.h>").replace("#include <slave.h>\n", ""))
    must(tmp_path, "sw5cc", "-slave", "-Isdk", "-c", "slave.c")


@pytest.mark.parametrize("option", ["-mavx2", "-march=native", "-mwhatever"])
def test_unknown_options_are_errors(option: str, tmp_path: Path) -> None:
    put(tmp_path, a="int a;\n")
    done = do(tmp_path, "swgcc", "-mslave", option, "-c", "a.c")
    assert done.status == 1
    assert option in done.err


def test_both_roles_at_once_are_an_error(tmp_path: Path) -> None:
    put(tmp_path, a="int a;\n")
    assert "exclude each other" in do(tmp_path, "swgcc", "-mslave", "-mhost", "-c", "a.c").err


def test_machine_options_are_swallowed(tmp_path: Path) -> None:
    put(tmp_path, a="int a;\n")
    words = [
        "-msimd",
        "-mieee",
        "-mftz",
        "-faddress_align=64",
        "-fPIC",
        "-Wa,-slave_disp_noalign",
        "-fcheck-ldm-stack",
    ]
    assert must(tmp_path, "swgcc", "-mslave", *words, "-c", "a.c").err == ""
    assert must(tmp_path, "sw5cc", "-slave", "-OPT:unroll_times=0", "-LNO:simd=1", "-c", "a.c").err == ""


def test_dependency_files_name_the_object(tmp_path: Path) -> None:
    put(tmp_path, a='#include "a.h"\nint a;\n')
    (tmp_path / "a.h").write_text("")
    must(tmp_path, "swgcc", "-mslave", "-MD", "-c", "a.c", "-o", "out.o")
    text = (tmp_path / "out.d").read_text()
    assert text.startswith("out.o:") and "a.c" in text and "a.h" in text
    must(tmp_path, "swgcc", "-mhost", "-MMD", "-MF", "x.dep", "-MT", "goal", "-c", "a.c")
    assert (tmp_path / "x.dep").read_text().startswith("goal:")


def test_errors_are_at_the_users_line(tmp_path: Path) -> None:
    put(
        tmp_path,
        a="int f(void)\n{\n    volatile int x = 0;\n    while (x != 1)\n        ;\n    return wrong;\n}\n",
    )
    done = do(tmp_path, "sw5cc", "-slave", "-c", "a.c")
    assert "a.c:6:12: error" in done.err
    assert done.status != 0
    assert not (tmp_path / "a.o").exists()


def test_shared_ldm_is_refused_at_its_line(tmp_path: Path) -> None:
    put(tmp_path, a="#include <slave.h>\n\n__thread_local_share double x[8];\n")
    done = do(tmp_path, "swgcc", "-mslave", "-msimd", "-c", "a.c", machine="sw26010-pro")
    assert done.status == 1
    assert "a.c:3:" in done.err
    assert "the part of the LDM that CPEs share is not emulated" in done.err


def test_unknown_assembly_is_an_error_at_its_line(tmp_path: Path) -> None:
    put(tmp_path, a='void f(void)\n{\n    asm volatile("vldw_ur $1, 0($2)");\n}\n')
    done = do(tmp_path, "sw5cc", "-slave", "-c", "a.c")
    assert "a.c:3: error[SW601]: inline assembly: instruction 'vldw_ur' is not known" in done.err
    assert done.status == 1


def test_assembly_of_one_s_own_making_is_taken(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=SLAVE, help=HELP)
    must(tmp_path, "sw5cc", "-slave", "-S", "slave.c")
    must(tmp_path, "sw5cc", "-slave", "-c", "slave.s")
    must(tmp_path, "sw5cc", "-slave", "-c", "help.c")
    must(tmp_path, "sw5cc", "-hybrid", "host.c", "slave.o", "help.o", "-o", "app")
    assert do(tmp_path, "./app").status == 10


def test_c_plus_plus_host(tmp_path: Path) -> None:
    (tmp_path / "host.cpp").write_text(CXX_HOST)
    put(tmp_path, slave=SLAVE, help=HELP)
    must(tmp_path, "swg++", "-mhost", "-std=c++14", "-c", "host.cpp", machine="sw26010-pro")
    must(tmp_path, "swgcc", "-mslave", "-c", "slave.c", machine="sw26010-pro")
    must(tmp_path, "swgcc", "-mslave", "-c", "help.c", machine="sw26010-pro")
    must(tmp_path, "swg++", "-mhybrid", "host.o", "slave.o", "help.o", "-o", "app", machine="sw26010-pro")
    assert do(tmp_path, "./app").status == 10


def test_scalars_fill_vectors_and_arrays_are_aligned(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=VECTORS)
    must(tmp_path, "sw5cc", "-slave", "-msimd", "-c", "slave.c")
    must(tmp_path, "sw5cc", "-hybrid", "host.c", "slave.o", "-o", "app")
    assert do(tmp_path, "./app").status == 7


def test_counted_code_has_no_hidden_calls(tmp_path: Path) -> None:
    put(
        tmp_path,
        s="#include <slave.h>\nstruct big { double x[99]; };\n"
        "void work(double *a) { for (int i = 0; i < 512; i++) a[i] = 0; }\n"
        "void copy(struct big *a, const struct big *b) { *a = *b; }\n"
        "void move(int n, double *restrict a, double *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }\n",
    )
    environment = environment_for("sw26010", SWBUILD_EMU_COUNTED_CODE="1")
    for level in ("-O2", "-O3"):
        assert call(["sw5cc", "-slave", level, "-c", "s.c"], tmp_path, environment).status == 0
        words = ["objcopy", "-O", "binary", "--only-section=.swbuild.counted"]
        words += ["--set-section-flags", ".swbuild.counted=alloc", "s.o", "counted.o"]
        subprocess.run(words, cwd=tmp_path, check=True)
        found = symbols(tmp_path / "counted.o")
        assert found["slave_work"] == "T"
        assert not [name for name in found if "mem" in name]


def test_files_named_like_modules_of_python_do_not_matter(tmp_path: Path) -> None:
    for name in ("ast", "dataclasses", "swbuild"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken for a module')\n")
    put(tmp_path, slave=SLAVE)
    environment = environment_for("sw26010", SWBUILD_EMU_COUNTED_CODE="1")
    done = call(["sw5cc", "-slave", "-O2", "-c", "slave.c"], tmp_path, environment)
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("call_", ["athread_init_cgs()", "athread_spawn_cgs(work, 0)", "athread_join_cgs()"])
def test_several_core_groups_in_a_process_are_refused(call_: str, tmp_path: Path) -> None:
    put(
        tmp_path,
        a=f"#include <athread.h>\nvoid SLAVE_FUN(work)(void *);\nint main(void)\n{{\n    {call_};\n}}\n",
    )
    done = do(tmp_path, "swgcc", "-mhost", "-c", "a.c", machine="sw26010-pro")
    assert done.status != 0
    assert "a.c:5:" in done.err
    assert "one process has one core group here: start one MPI rank for each" in done.err


def test_machines_go_by_their_names() -> None:
    for machine in machine_names():
        assert toolchain_dir(machine).name == machine
        assert environment(machine, {})["SWBUILD_MACHINE"] == machine
    with pytest.raises(SwbuildError, match="there is no machine `sw1`"):
        toolchain_dir("sw1")


OPERATIONS = """\
#include <slave.h>
#include <simd.h>
#if N == 8
#define vd doublev4
#define vf floatv4
typedef intv8 vi; enum { D = 4 };
#else
#define vd doublev8
#define vf floatv8
typedef intv16 vi; enum { D = 8 };
#endif
static vd grid[3];
int failed;
#define CHECK(x) do { if (!(x) && !failed) failed = __LINE__; } while (0)
void work(int *result)
{
    vd a = 0, b = 0, r; vf f = 0, g = 1; vi x = 0, y = 0, z;
    for (int k = 0; k < D; k++) { a[k] = k - 2; b[k] = 10 + k; f[k] = 1 - k; }
    for (int k = 0; k < N; k++) { x[k] = k - 3; y[k] = 100 * k; }
    vd *pointer = grid;
    grid[1] = 2.5;
    (pointer + 1)[1] = 4;
    *pointer = 3.5;
    CHECK(grid[2][1] == 4 && grid[0][2] == 3.5);
    r = -1;
    for (int k = 0; k < D; k++)
        CHECK(grid[1][k] == 2.5 && r[k] == -1);
    g = 0.1;
    x = 7;
    for (int k = 0; k < N; k++) { CHECK(x[k] == 7); x[k] = k - 3; }
    CHECK(g[3] == 0.1f);
    r = simd_vselne(a, b, grid[1]);
    CHECK(r[2] == 2.5 && r[1] == 11 && r[3] == 13);
    r = simd_vselgt(a, b, simd_vselge(a, grid[1], a));
    CHECK(r[0] == -2 && r[2] == 2.5 && r[3] == 13);
    r = simd_vseleq(simd_vfcmplt(a, b), b, a);
    CHECK(r[0] == -2 && simd_vextf(simd_vfcmple(b, a), 1) == 0 && simd_vfcmpeq(a, a)[2] == 2);
    a[1] = __builtin_nan("");
    CHECK(simd_vfcmpun(a, b)[1] == 2 && simd_vfcmpun(a, b)[0] == 0);
    CHECK(simd_vcpys(a, b)[0] == -10 && simd_vcpysn(a, b)[0] == 10 && simd_vcpys(f, g)[2] == -0.1f);
    CHECK(simd_vabsd(a)[0] == 2 && simd_vabss(f)[3] == 2);
    CHECK(simd_vcpyf(b)[3] == 10 && simd_vcpyf(3.0)[1] == 3);
    CHECK(simd_vsellt(f, g, f)[0] == 1 && simd_vsellt(f, g, f)[2] == 0.1f);
    z = simd_vcmpltw(x, y);
    CHECK(z[0] == 1 && simd_vcmpltw(y, x)[7] == 0 && simd_vcmpeqw(x, x)[3] == 1);
    CHECK(simd_vcmpultw(y, x)[0] == 1 && simd_vcmpulew(x, y)[0] == 0);
    z = simd_vseleqw(x, y, x);
    CHECK(z[3] == 300 && z[4] == 1 && simd_vsellbcw(x, y, x)[5] == 500 && simd_vsellbcw(x, y, x)[4] == 1);
    CHECK(simd_vlog(0xfe, x, y, z)[5] == (x[5] | y[5] | z[5]));
    CHECK(simd_vlog(0xc0, x, y, z)[5] == (x[5] & y[5]) && simd_veqvw(x, x)[1] == -1);
    CHECK(simd_vbicw(y, x)[6] == (600 & ~3) && simd_vornotw(y, x)[6] == (600 | ~3));
    CHECK(simd_vrolw(x, 4)[0] == -33 && simd_vrolw(y, 31)[3] == 150 && simd_vrolw(y, 32)[3] == 300);
    CHECK(simd_vinsw(9, x, 5)[5] == 9 && simd_vinsw7(8, x)[7] == 8 && simd_vextw(y, 6) == 600);
    r = (vd)f;
    CHECK(r[0] == 1 && r[3] == -2);
    f = (vf)(b + 0.5);
    CHECK(f[1] == 11.5f && ((vd)x)[1] != x[1] && ((vf)2.5)[1] == 2.5f && ((vd)(1 + 1))[2] == 2);
    CHECK(simd_smaxw(x, y)[0] == 0 && simd_sminw(x, y)[0] == -3);
    if (_MYID == 3)
        *result = failed;
}
"""


@pytest.mark.parametrize(("machine", "lanes"), [("sw26010", 8), ("sw26010-pro", 16)])
def test_operations_on_vectors(machine: str, lanes: int, tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=OPERATIONS)
    words = ["sw5cc", "-host"] if machine == "sw26010" else ["swgcc", "-mhost"]
    must(tmp_path, *words, "-c", "host.c", machine=machine)
    words = ["sw5cc", "-slave"] if machine == "sw26010" else ["swgcc", "-mslave"]
    must(tmp_path, *words, "-msimd", "-std=gnu99", f"-DN={lanes}", "-c", "slave.c", machine=machine)
    words = ["sw5cc", "-hybrid"] if machine == "sw26010" else ["swgcc", "-mhybrid"]
    must(tmp_path, *words, "host.o", "slave.o", "-o", "app", machine=machine)
    assert do(tmp_path, "./app").status == 0, "the line of the first check that failed"


INSTRUCTIONS = r"""
#include <slave.h>
#include <simd.h>
#include <dma.h>
int failed;
#define CHECK(x) do { if (!(x) && !failed) failed = __LINE__; } while (0)
__thread_local volatile int reply = 0;
void work(int *result)
{
    long a = 12, b = 5, r; double x = -2.5, y = 4, z; doublev4 v = {1, 2, 3, 4}, w = {4, 9, 16, 25};
    int count, copy = 0;
    asm("ctpop %1, %0" : "=r"(count) : "r"(a));
    CHECK(count == 2);
    asm("ctlz %1, %0" : "=r"(r) : "r"(a)); CHECK(r == 60);
    asm("cttz %1, %0" : "=r"(r) : "r"(a)); CHECK(r == 2);
    asm("subl %1, %2, %0" : "=r"(r) : "r"(a), "r"(b)); CHECK(r == 7);
    asm("addl %1, 30, %0" : "=r"(r) : "r"(a)); CHECK(r == 42);
    asm("sll %1, %2, %0" : "=r"(r) : "r"(a), "r"(b)); CHECK(r == 384);
    asm("bic %1, %2, %0" : "=r"(r) : "r"(a), "r"(b)); CHECK(r == 8);
    asm("cmpult %1, %2, %0" : "=r"(r) : "r"(-1L), "r"(b)); CHECK(r == 0);
    asm("cmplt %1, %2, %0" : "=r"(r) : "r"(-1L), "r"(b)); CHECK(r == 1);
    asm("selle %1, %2, %3, %0" : "=r"(r) : "r"(-1L), "r"(a), "r"(b)); CHECK(r == 12);
    asm("fcpys %1, %2, %0" : "=r"(z) : "r"(x), "r"(y)); CHECK(z == -4);
    asm("fmuld %1, %2, %0" : "=r"(z) : "r"(x), "r"(y)); CHECK(z == -10);
    asm("fsellt %1, %2, %3, %0" : "=r"(z) : "r"(x), "r"(y), "r"(x)); CHECK(z == 4);
    asm("vsubd %0, %1, %0\n\tvsqrtd %1, %1" : "+r"(v), "+r"(w)); CHECK(v[1] == -7 && w[3] == 5);
    asm("vextf %1, 2, %0" : "=r"(z) : "r"(w)); CHECK(z == 4);
    asm("ldi %0, 3(%1)" : "=r"(r) : "r"(a)); CHECK(r == 15);
    dma_desc d = 0;
    dma_set_op(&d, DMA_GET);
    dma_set_mode(&d, PE_MODE);
    dma_set_size(&d, 4);
    dma_set_reply(&d, &reply);
    asm volatile("dma %0, %1, %2\n\t" : : "r"(d), "r"(result), "r"(&copy) : "memory");
    while (reply != 1)
        ;
    CHECK(copy == *result);
    if (_MYID == 3)
        *result = failed;
}
"""


def test_instructions_in_assembly(tmp_path: Path) -> None:
    put(tmp_path, host=HOST, slave=INSTRUCTIONS)
    must(tmp_path, "sw5cc", "-host", "-c", "host.c")
    for level in ("-O0", "-O2"):
        must(tmp_path, "sw5cc", "-slave", "-msimd", level, "-c", "slave.c")
        must(tmp_path, "sw5cc", "-hybrid", "host.o", "slave.o", "-o", "app")
        assert do(tmp_path, "./app").status == 0, "the line of the first check that failed"


@pytest.mark.parametrize("words", [("-mhost", "-c", "alone.c"), ("-mhost", "alone.c")])
def test_output_that_is_no_file_is_written_to(words: tuple[str, ...], tmp_path: Path) -> None:
    """As for ``-o /dev/null``: a device or a pipe is not replaced."""
    put(tmp_path, alone="int main(void) { return 0; }\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    must(tmp_path, "swgcc", *words, "-o", "pipe", machine="sw26010-pro")
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [data[:4] for data in found] == [b"\x7fELF"]


@pytest.mark.parametrize("role", ["host", "slave"])
def test_parameters_of_variable_size(role: str, tmp_path: Path) -> None:
    text = "extern double far(double);\nvoid f(int n, int m, double (*A)[m]) { A[0][n] = far(2.0); }\n"
    (tmp_path / "f.c").write_text(text)
    done = call(["sw5cc", f"-{role}", "-c", "f.c", "-o", "f.o"], tmp_path, environment_for("sw26010"))
    assert (done.status, done.err) == (0, "")
    prefix = "slave_" if role == "slave" else ""
    symbols = subprocess.run(["nm", tmp_path / "f.o"], capture_output=True, text=True, check=True).stdout
    assert f"T {prefix}f" in symbols and f"U {prefix}far" in symbols
