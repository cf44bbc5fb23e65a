"""Diagnostics that are broken on purpose: the test of each must fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The diagnostic, the runtime's file, what is there, what takes its place, and the program that shows it.
MUTATIONS = [
    (
        "SW610",
        "dma.c",
        "return LIKELY(swemu_mem_valid(c, mem,",
        "return 1 || LIKELY(swemu_mem_valid(c, mem,",
        "11-pitch",
    ),
    ("SW610", "hooks.c", "    if (LIKELY(swemu_mem_valid(c, p, n)))\n", "    if (1)\n", "42-out"),
    ("SW612", "dma.c", "if (x->len > DMA_LONGEST)", "if (0)", "10-too-long"),
    ("SW613", "dma.c", "if (x->len % 4 || (uintptr_t)x->mem % 4", "if (0 && (uintptr_t)x->mem % 4", "08-not"),
    ("SW614", "dma.c", "if (x->len % x->bsize && (", "if (0 && (", "12-ragged"),
    ("SW617", "dma.c", "if (swemu_ldm_place(c, (const void *)x->reply, 4) == NOWHERE)", "if (0)", "09-reply"),
    (
        "SW621",
        "ldm.c",
        "if (swemu.stack_in_ldm && swemu_ldm_static_size(c) + c->heap_used + depth",
        "if (0 && depth",
        "14-stack",
    ),
    ("SW622", "ldm.c", "if (b->size != size)", "if (0)", "16-free"),
    ("SW630", "sync.c", 'swemu_fault(c, pc, "SW630"', 'swemu_fault(c, pc, "SW639"', "17-not"),
    (
        "SW640",
        "sched.c",
        "            swemu_hang();\n        struct timespec",
        "            abort();\n        struct timespec",
        "18-barrier",
    ),
    ("SW650", "regcomm.c", "if (fifos[column][c->id].used) {", "if (0) {", "20-never"),
    ("SW660", "races.c", "if (UNLIKELY(unordered(c, &w->write)))", "if (0)", "41-race"),
    (
        "SW669",
        "check.c",
        "        raced |= swemu_check_memory(c, there, (size_t)x->len, kind, x->pc, true);\n",
        "        raced |= kind < 0;\n",
        "51-rma",
    ),
    ("SW669", "races.c", "if (UNLIKELY(unordered(c, &w->reads[k])))", "if (0)", "52-rma"),
    ("SW623", "places.c", "if (!v || v->kind == RUNTIME ||", "if (1 ||", "55-overrun"),
    ("SW623", "places.c", "    if (found && p + n <= hi)", "    if (1 || p + n <= hi)", "59b-get"),
    (
        "SW660",
        "races.c",
        "    for (size_t k = 0; k < GROUP_WORDS; k++)\n        page->words",
        "    for (size_t k = 1; k < GROUP_WORDS - 1; k++)\n        page->words",
        "46-race",
    ),
    ("SW660", "fetched.c", "if (UNLIKELY((*flags & FATE) == RACED))", "if (0)", "63-used"),
    ("SW660", "fetched.c", "} else if ((flags[k] & FATE) != LOST) {", "} else if (0) {", "64-written"),
    ("SW661", "check.c", "if (UNLIKELY(f[k] & (write ?", "if (0 && (f[k] & (write ?", "03-read"),
    (
        "SW661",
        "check.c",
        "        swemu_shadow_close(p, (size_t)len);\n    c->check->inflight",
        "        (void)0;\n    c->check->inflight",
        "03-write",
    ),
    ("SW662", "check.c", "    if (x->reply)\n        mark(c, x->reply, 4, REPLY, 1);", "", "01-reply-zeroed"),
    ("SW663", "hooks.c", "    uninitialised(c, p, n, pc);\n}", "    (void)uninitialised;\n}", "29-ldm"),
    (
        "SW664",
        "check.c",
        "    check_count(c, x);\n    bool own",
        "    (void)check_count;\n    bool own",
        "29-reply",
    ),
    ("SW665", "check.c", "if (!swemu.checked || !c->pending.count)", "if (1)", "03-static-return"),
    (
        "SW666",
        "check.h",
        "return (uint8_t)(c->pen + 1);",
        "return (uint8_t)(c->pen / 64 + 1);",
        "44-pointer",
    ),
    ("SW667", "check.c", "if (r->completed > c->check->knows[r->by]", "if (0", "06-rma"),
    (
        "SW668",
        "races.c",
        "if (UNLIKELY(w->write.kind == STORES && swemu.cache",
        "if (UNLIKELY(0 && swemu.cache",
        "27-cache",
    ),
    (
        "SW671",
        "misc.c",
        '    swemu_fault(c, CALLER(), "SW671"',
        '    if (0) swemu_fault(c, CALLER(), "SW671"',
        "21-unaligned",
    ),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("swbuild", "tests/emulator", "tests/helpers"):
        shutil.copytree(ROOT / folder, made / folder, ignore=ignored)
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / name, made / name)
    return made


def outcome(copy: Path, program: str) -> tuple[int, str]:
    """Run the tests of a program with the copy's runtime."""
    base = {k: v for k, v in os.environ.items() if not k.startswith(("SWBUILD_", "PYTEST_"))}
    environment = {**base, "PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache")}
    words = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-k", program]
    words += ["tests/emulator/test_pitfalls.py"]
    done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    shutil.rmtree(copy / "cache", ignore_errors=True)
    return done.returncode, done.stdout


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("code", "file", "old", "new", "program"), MUTATIONS, ids=[f"{m[0]}-{m[4]}" for m in MUTATIONS]
)
def test_a_broken_diagnostic_is_noticed(
    copy: Path, code: str, file: str, old: str, new: str, program: str
) -> None:
    path = copy / "swbuild" / "emulator" / "runtime" / file
    text = path.read_text()
    assert text.count(old) == 1, "the runtime has changed: the mutation needs another text"
    path.write_text(text.replace(old, new))
    try:
        status, out = outcome(copy, program)
    finally:
        path.write_text(text)
    assert status == 1, out
    assert re.search(rf"FAILED .*{re.escape(program)}", out), out
    assert code in (ROOT / "tests/emulator/pitfalls" / next(iter(programs(program)))).read_text()


def programs(start: str) -> list[str]:
    return [path.name for path in (ROOT / "tests/emulator/pitfalls").glob(f"{start}*.c")]


@pytest.mark.matrix
def test_as_it_is_they_pass(copy: Path) -> None:
    status, out = outcome(copy, " or ".join(mutation[4] for mutation in MUTATIONS))
    assert status == 0, out
