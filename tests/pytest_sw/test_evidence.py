"""Data that somebody else left, or that is not all there, is never believed: tests that must not pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from acting import run_pytest

from swbuild.check.exchange import has_end, read_output

#: A launcher that lets the job run and changes what it left in the file ``$1``, of ``$size`` bytes.
_FORGER = """\
#!/bin/sh
forge() {{
    size=$(wc -c <"$1")
    {change}
    mv "$1.new" "$1"
}}
"$1"
find '{folder}' -name node.bin | while read -r file; do forge "$file"; done
"""

#: The end of a data file is a mark of 8 bytes and the nonce of 16.
_FORGED = {
    "nothing": 'cp "$1" "$1.new"',
    "the nonce of another run": 'head -c $((size - 16)) "$1" >"$1.new"; printf 0123456789abcdef >>"$1.new"',
    "no end record": 'head -c $((size - 24)) "$1" >"$1.new"',
    "no end mark": ('(head -c $((size - 24)) "$1"; printf ........; tail -c 16 "$1") >"$1.new"'),
    "only the end": 'tail -c 24 "$1" >"$1.new"',
}


@pytest.mark.parametrize("change", _FORGED.values(), ids=list(_FORGED))
def test_only_whole_data_of_this_run_is_believed(
    acting: Path, stand_ins: str, tmp_path: Path, change: str
) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text(_FORGER.format(change=change, folder=tmp_path / "artifacts"))
    launcher.chmod(0o755)
    options = [f"--sw-launcher={launcher} {{exe}}", f"--sw-artifacts={tmp_path}/artifacts"]
    found = run_pytest(
        acting, "--sw-target=node", "--sw-infra-retries=1", *options, "-k", "k0 or k1", path=stand_ins
    )
    if change == _FORGED["nothing"]:
        assert found.categories == ["pass"] * 2, found.output
    else:
        assert found.categories == ["no-evidence"] * 2, found.output
        assert set(found.results.values()) == {"error"}
        # Another job may do better, unless the data looks whole from outside.
        attempts = "1" if change == _FORGED["only the end"] else "2"
        assert {found.properties[name]["sw.attempts"] for name in ("k0", "k1")} == {attempts}


@pytest.mark.parametrize(
    ("data", "believed"),
    [
        (b"SSWSCEND" + b"0123456789abcdef", True),
        (b"SSWSCEND" + b"another run's...", False),
        (b"SSWSCEND", False),
        (b"", False),
        (b"0123456789abcdef", False),
        (b"SSWSCEND" + b"0123456789abcdef and more", False),
    ],
)
def test_the_end_of_a_file_is_mark_and_nonce(tmp_path: Path, data: bytes, believed: bool) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    assert read_output(path, [], [], "0123456789abcdef").complete == believed
    assert has_end(path, "0123456789abcdef") == believed


def test_no_file_is_no_evidence(tmp_path: Path) -> None:
    assert not read_output(tmp_path / "none", [], [], "0123456789abcdef").complete
    assert not has_end(tmp_path / "none", "0123456789abcdef")
