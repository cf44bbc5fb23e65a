"""The trace format: what C declares, what Python reads, and what is said of a damaged file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from swbuild.diagnostics import SwbuildError
from swbuild.emulator.model.replay import replay
from swbuild.emulator.model.trace import (
    NONE,
    Kind,
    Process,
    Record,
    Trace,
    header_path,
    read_trace,
    write_trace,
)
from swbuild.machine import load

RECORDS = (
    Record(Kind.SPAWN, 255, address=2**64 - 1, ldm=0, value=0),
    Record(Kind.KERNEL_BEGIN, 0),
    Record(Kind.DMA_GET, 0, 1, 0xFF, 7, 2**40 + 3, 0x500001406000, 64, 4096, 128, 256, 12, 0),
    Record(Kind.WAIT, 0, reply=12, value=1),
    Record(Kind.KERNEL_END, 0, compute=5),
)

C_WRITER = r"""
#include <stdio.h>
#include "swb_trace.h"
int main(int argc, char **argv) {
    FILE *out = fopen(argv[1], "wb");
    struct swb_trace_header head = {SWB_TRACE_MAGIC, SWB_TRACE_VERSION,
        sizeof(struct swb_trace_record), 1};
    struct swb_trace_record one = {.kind = SWB_DMA_GET, .cpe = 1, .mode = 2, .mask = 3, .site = 4,
        .compute = 5, .address = 6, .ldm = 7, .length = 8, .block = 9, .gap = 10, .reply = 11, .value = 12};
    struct swb_trace_record two = {.kind = SWB_MARK, .cpe = SWB_TRACE_HOST, .reply = SWB_TRACE_NONE};
    fwrite(&head, sizeof head, 1, out);
    fwrite(&one, sizeof one, 1, out);
    fwrite(&two, sizeof two, 1, out);
    return fclose(out);
}
"""


def test_a_written_trace_says_what_it_is(tmp_path: Path) -> None:
    write_trace(tmp_path / "t", RECORDS, counted=False, host_counted=True)
    assert read_trace(tmp_path / "t") == Trace((), False, False, True, tmp_path / "t")
    assert (tmp_path / "t").stat().st_size == 16 + 48 * len(RECORDS)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_what_c_writes_is_what_python_writes(tmp_path: Path) -> None:
    (tmp_path / "w.c").write_text(C_WRITER, encoding="utf-8")
    command = ["gcc", "-Wall", "-Werror", "-I", header_path(), "-o", tmp_path / "w", tmp_path / "w.c"]
    subprocess.run(command, check=True)
    subprocess.run([tmp_path / "w", tmp_path / "t"], check=True)
    records = (
        Record(Kind.DMA_GET, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
        Record(Kind.MARK, 255, reply=NONE),
    )
    write_trace(tmp_path / "p", records)
    assert (tmp_path / "t").read_bytes() == (tmp_path / "p").read_bytes()


def test_kinds_are_those_of_the_header() -> None:
    text = (header_path() / "swb_trace.h").read_text(encoding="utf-8")
    for kind in Kind:
        assert f"SWB_{kind.name} = {kind.value}," in text


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda data: data[:5], "too short"),
        (lambda data: b"\0" + data[1:], "does not start"),
        (lambda data: data[:4] + b"\x09" + data[5:], "version 9"),
        (lambda data: data[:16] + b"\xee" + data[17:], "unknown kind 238"),
    ],
)
def test_a_damaged_trace_is_told(damage: object, why: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_trace(path, RECORDS)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(SwbuildError, match=why) as caught:
        replay(Process(0, read_trace(path)), load("sw26010"))
    assert "error[SW691]" in str(caught.value) and str(path) in str(caught.value)


def test_a_trace_cut_in_the_middle_of_a_record_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_trace(path, RECORDS)
    path.write_bytes(path.read_bytes()[:-1])
    assert read_trace(path).dropped
