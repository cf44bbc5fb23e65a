"""What the computer does not give is no fault of the program: status 99, and what to raise."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_programs import build, call, environment_for

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("limits")
    (made / "pitfall.h").write_text((HERE / "pitfalls" / "pitfall.h").read_text())
    (made / "app.c").write_text((HERE / "correct" / "strides.c").read_text())
    assert build("sw26010", made / "app.c", made).status == 0
    return made


@pytest.mark.parametrize(
    ("limit", "checked", "text"),
    [
        ("-v 300000", "0", "raise the limit on virtual memory"),
        ("-v 1000000", "1", "needs 32 TiB of address space"),
        ("-f 100", "1", "raise the limits on files"),
    ],
)
def test_a_limit_is_told_as_such(limit: str, checked: str, text: str, folder: Path) -> None:
    settings = environment_for("sw26010", SWBUILD_EMU_CHECKED=checked)
    done = call(["bash", "-c", f"ulimit {limit}; exec ./app"], folder, settings)
    assert done.status == 99, done
    assert "error[SW603]" in done.err and text in done.err


def test_without_a_limit_it_runs(folder: Path) -> None:
    assert call(["./app"], folder, environment_for("sw26010")).status == 0


def test_too_much_ldm_is_told_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "pitfall.h").write_text((HERE / "pitfalls" / "pitfall.h").read_text())
    (tmp_path / "app.c").write_text(
        '#include "pitfall.h"\n#ifdef SLAVE\n__thread_local double small[64], large[8000];\n'
        "static __thread_local char middle[2000];\n"
        "void work(struct job *j)\n{\n    static __thread_local int last[7];\n"
        "    j->out[0] = large[j->n]++ + small[j->n]++ + middle[j->n]++ + last[j->n % 7]++;\n}\n#endif\n"
    )
    done = build("sw26010", tmp_path / "app.c", tmp_path)
    assert done.status == 1
    assert "app.c: error[SW620]: the LDM variables take 66" in done.err
    sizes = [line.strip() for line in done.err.splitlines() if " takes " in line]
    assert sizes == [
        f"app.c: '{name}' takes {size} bytes"
        for name, size in (("large", 64000), ("middle", 2000), ("small", 512), ("last", 28))
    ]
    assert build("sw26010-pro", tmp_path / "app.c", tmp_path).status == 0
