"""Tiles that stay in the LDMs over a loop of kernels: what is exchanged, the code, and right results."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import islpy as isl
import pytest
from generation import model_of
from objects import shared_objects
from turns import MACHINES, in_turn

from swbuild.attempt import RegionResult
from swbuild.check import CheckSettings, Outcome, RegionCheck, SourceTask, check_source, explain
from swbuild.compilation import Compilation, compile_regions
from swbuild.expressions.nodes import Binary, BinaryOperator, Constant, Name
from swbuild.frontend import SourceModel
from swbuild.generate import print_unit
from swbuild.kernelir.hoisting import hoisted
from swbuild.kernelir.nodes import (
    Along,
    Barrier,
    Begin,
    Block,
    Compute,
    Copy,
    Direction,
    Group,
    Guard,
    Loop,
    Node,
    Place,
    Purpose,
    Share,
    Transfer,
    Wait,
    Whole,
    stays_of,
)
from swbuild.kernelir.origin import MOVES_DATA, Origin, Role
from swbuild.kernelir.passes import transform, walk
from swbuild.kernelir.residency import with_flags_outside
from swbuild.kernelir.verify import faults
from swbuild.lowering.owners import owned
from swbuild.lowering.verification import scope_of, verify
from swbuild.memory.buffers import Buffer, Store
from swbuild.options import KernelOptions, Resident, Spawn, Where

OPTIONS = KernelOptions(machine="sw26010-pro", where=Where.CPES, resident=Resident.ALWAYS)

ELIMINATION = """
void f(int n, double a[restrict n][n]) {
#pragma scop
    for (int t = 0; t < n; t++)
        for (int i = t + 1; i < n; i++)
            for (int j = t + 1; j < n; j++)
                a[i][j] -= a[i][t] * a[t][j];
#pragma endscop
}
"""

WAYS = """
void f(int n, int way[restrict n][n]) {
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                way[i][j] = way[i][j] < way[i][k] + way[k][j] ? way[i][j] : way[i][k] + way[k][j];
#pragma endscop
}
"""

#: two kernels share the tiles, by columns; the host's side of a column and a vector go by main memory
COLUMNS = """
void f(int m, int n, double a[restrict m][n], double r[restrict n], double q[restrict m]) {
#pragma scop
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < m; i++)
            q[i] = a[i][k] * 0.5;
        for (int j = k + 1; j < n; j++) {
            r[j] = 0.0;
            for (int i = 0; i < m; i++)
                r[j] += q[i] * a[i][j];
            for (int i = 0; i < m; i++)
                a[i][j] -= q[i] * r[j];
        }
    }
#pragma endscop
}
"""

#: Gram and Schmidt: the norm of a column is for the CPE that has it, though it is added up in order
NORMS = """
void f(int m, int n, double a[restrict m][n], double r[restrict n], double q[restrict m][n]) {
#pragma scop
    for (int k = 0; k < n; k++) {
        r[k] = 1.0;
        for (int i = 0; i < m; i++)
            r[k] += a[i][k] * a[i][k];
        for (int i = 0; i < m; i++)
            q[i][k] = a[i][k] / r[k];
        for (int j = k + 1; j < n; j++)
            for (int i = 0; i < m; i++)
                a[i][j] -= q[i][k] * r[k];
    }
#pragma endscop
}
"""

#: Powers of a matrix, which is only read, and got once
POWERS = """
void f(int n, int m, double a[restrict n][n], double x[restrict n], double y[restrict n]) {
#pragma scop
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < n; i++) {
            y[i] = 0.0;
            for (int j = 0; j < n; j++)
                y[i] += a[i][j] * x[j];
        }
        for (int i = 0; i < n; i++)
            x[i] = y[i] * 0.125;
    }
#pragma endscop
}
"""

#: Steps down a gradient: the matrix is read by rows, which stay, and by columns, which do not
SQUARES = """
void f(int n, int m, double a[restrict n][n], double x[restrict n], double r[restrict n]) {
#pragma scop
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < n; i++) {
            r[i] = -1.0;
            for (int j = 0; j < n; j++)
                r[i] += a[i][j] * x[j];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                x[j] -= a[i][j] * r[i] * 0.125;
    }
#pragma endscop
}
"""

#: a single CPE, which knows the scalar, changes an element of the tiles of all
PIVOTS = """
void f(int n, double a[restrict n][n], double b[restrict n][n], double p) {
#pragma scop
    for (int t = 0; t < n; t++) {
        p = a[t][t] * 0.5;
        a[t][t] = p + 1.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a[i][j] += b[i][t] * p;
    }
#pragma endscop
}
"""

#: Gauss and Jordan: the column of a step is read by the rows that it is in, and the last pivots stay
GAUSS = """
void f(int n, double a[restrict n][n]) {
#pragma scop
    for (int k = 0; k < n; k++) {
        for (int j = k + 1; j < n; j++)
            a[k][j] = a[k][j] / (2.0 + a[k][k] * a[k][k]);
        for (int i = 0; i < k; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
    }
#pragma endscop
}
"""

PROGRAMS = {
    "elimination": ELIMINATION,
    "ways": WAYS,
    "columns": COLUMNS,
    "norms": NORMS,
    "pivots": PIVOTS,
    "gauss": GAUSS,
    "powers": POWERS,
    "squares": SQUARES,
}


#: what has become of a text under options: tens of seconds of work each, which several tests look at
_COMPILED: dict[tuple[str, str], tuple[SourceModel, tuple[Compilation, ...]]] = {}


def compiled(text: str, options: KernelOptions) -> tuple[SourceModel, tuple[Compilation, ...]]:
    key = (text, repr(options))
    if key not in _COMPILED:
        while len(_COMPILED) > 3:  # they take hundreds of megabytes
            del _COMPILED[next(iter(_COMPILED))]
        with TemporaryDirectory() as directory:
            model = model_of(Path(directory), text)
        _COMPILED[key] = model, compile_regions(model, {scop.name: options for scop in model.scops})
    return _COMPILED[key]


def result_of(text: str, options: KernelOptions = OPTIONS) -> RegionResult:
    made = compiled(text, options)[1][0].result
    assert isinstance(made, RegionResult)
    return made


def slave_text(text: str) -> str:
    slave = print_unit(*compiled(text, OPTIONS)).slave
    assert slave is not None
    return slave.text


def residents(made: RegionResult) -> dict[str, Buffer]:
    """Return the buffers that stay, by their kernels."""
    return {
        place.tiled.kernel.name: buffer
        for place in made.placed
        for buffer in place.plan.buffers
        if buffer.residency is not None
    }


def exchanged(made: RegionResult, *, put: bool) -> isl.Set:
    """Return all elements that are exchanged, by the step, which stands first."""
    found = isl.Set("[n] -> { [t, i, j] : false }")
    for place in made.placed:
        (step,) = place.tiled.kernel.host_loops or ("",)
        for buffer in (b for b in place.plan.buffers if b.residency is not None):
            parts = buffer.residency.wanted if put else buffer.residency.fresh
            for part in parts:
                elements = part.moved.range().reset_tuple_id().insert_dims(isl.dim_type.set, 0, 1)
                position = elements.find_dim_by_name(isl.dim_type.param, step)
                elements = elements.equate(isl.dim_type.set, 0, isl.dim_type.param, position)
                found = found.union(elements.project_out(isl.dim_type.param, position, 1))
    return found


def test_an_elimination_puts_the_next_rows_and_columns_and_gets_nothing(tmp_path: Path) -> None:
    made = result_of(ELIMINATION)
    assert residents(made)
    # in blocks of 32 pivots: what the next block works on as its own
    whole = "b >= 0 and 32 * b + 32 <= i < n and 32 * b + 32 <= j < n"
    expected = isl.Set(f"[n] -> {{ [b, i, j] : {whole} and (i < 32 * b + 64 or j < 32 * b + 64) }}")
    assert exchanged(made, put=True).is_equal(expected)
    assert exchanged(made, put=False).is_empty()


def test_what_others_have_written_is_got_in_the_next_step(tmp_path: Path) -> None:
    made = result_of(PIVOTS)
    assert len(residents(made)) == 1, "all elements, by the CPEs that own them"
    assert exchanged(made, put=False).is_equal(isl.Set("[n] -> { [t, t, t] : 0 <= t < n }"))


def test_lines_of_tiles_are_for_their_owners(tmp_path: Path) -> None:
    """Row and column of a step are for the CPEs that have them; others get the row, and an element."""
    made = result_of(WAYS)
    kept = residents(made)
    assert len(kept) == 9, "the quarters around the row and the column of a step, these, and where they meet"
    assert not any(p.tiled.kernel.single for p in made.placed)
    assert exchanged(made, put=False).is_empty()
    row = "[n] -> { [t, i, j] : 0 <= t < n and 0 <= j < n and (i = t or (i = t + 1 and i < n)) }"
    element = "[n] -> { [t, i, j] : j = t + 1 and i = j and i < n }"
    last = "[n] -> { [t, i, j] : t = n - 1 and 0 <= i < n and 0 <= j < n }"
    assert exchanged(made, put=True).is_subset(isl.Set(row).union(isl.Set(last)).union(isl.Set(element)))


def test_what_is_in_a_tile_of_the_same_cpe_is_copied(tmp_path: Path) -> None:
    made = result_of(WAYS)
    near = {
        (place.tiled.kernel.name, buffer.name)
        for place in made.placed
        for buffer in place.plan.buffers
        if buffer.in_tile is not None
    }
    # the column of a step beside the quarters, and its pivot beside the row
    assert near == {(f"f_k{k}", "way_2") for k in (0, 2, 3, 4, 5, 7)}
    text = slave_text(WAYS)
    assert len(re.findall(r"way_2 .*, copied from a tile that stays, or got", text)) == len(near)
    assert len(re.findall(r"const int \*const way_2_tile = ", text)) == len(near)


def test_what_others_write_is_not_copied_from_a_tile(tmp_path: Path) -> None:
    text = PIVOTS.replace("a[i][j] += b[i][t] * p", "a[i][j] += b[i][t] * a[i][i]")
    made = result_of(text)
    assert not any(buffer.in_tile for place in made.placed for buffer in place.plan.buffers)


def test_cpes_do_not_meet_where_each_goes_on_with_its_own(tmp_path: Path) -> None:
    code = result_of(WAYS).assembled.code
    assert ("f_k0", "f_k1") in code.owned and ("f_k3", "f_single0") in code.owned
    assert ("f_k0", "f_k3") not in code.owned, "the row of a step is read before it is changed"
    assert ("f_k3", "f_k5") not in code.owned, "and after that"
    (spawn,) = code.spawns
    assert sum(isinstance(node, Barrier) for node in walk(spawn.body)) == 4


def test_cpes_meet_before_another_gets_what_one_has_written(tmp_path: Path) -> None:
    """As where a box with the column of a step, which its own CPE has changed, is handed on."""
    made = result_of(WAYS)
    scop, scheduled = made.assembled.code.scop, made.order.scheduled
    share = Share("way_2", Along.ALL, Constant(1), (Constant(1), Constant(1)), ())
    kernels = [
        replace(kernel, body=Block((share, kernel.body))) if kernel.name == "f_k2" else kernel
        for kernel in made.assembled.code.kernels
    ]
    found = owned(scop, scheduled.dependences.all, scheduled.private, kernels)
    assert ("f_k1", "f_k2") in made.assembled.code.owned and ("f_k1", "f_k2") not in found
    assert ("f_k0", "f_k2") in found


def test_cpes_meet_before_another_may_send_messages(tmp_path: Path) -> None:
    code = result_of(WAYS, replace(OPTIONS, machine="sw26010")).assembled.code
    sending = {
        kernel.name
        for kernel in code.kernels
        if any(isinstance(node, Share) and node.in_messages for node in walk(kernel.body))
    }
    assert {"f_k0", "f_k2"} <= sending
    assert ("f_k0", "f_k2") not in code.owned and ("f_k3", "f_single0") in code.owned


@pytest.mark.parametrize(("name", "stores"), [("elimination", {Store.BOX}), ("ways", {Store.ROWS})])
def test_tiles_that_others_read_are_put_without_what_was_not_written(
    tmp_path: Path, name: str, stores: set[Store]
) -> None:
    assert {buffer.store for buffer in residents(result_of(PROGRAMS[name])).values()} == stores


def test_the_last_values_are_put(tmp_path: Path) -> None:
    put = exchanged(result_of(WAYS), put=True)
    last = isl.Set("[n] -> { [t, i, j] : t = n - 1 and 0 <= i < t and 0 <= j < t }")
    assert last.is_subset(put)


def test_what_is_left_of_a_tile_is_put_by_its_last_visit(tmp_path: Path) -> None:
    """Nobody else reads the columns: none is put before all of its tile are done."""
    made = result_of(COLUMNS)
    (width,) = {(buffer.box.bound or ())[-1] for buffer in residents(made).values()}
    begin = f"{width} * floor(j/{width})"
    full, cut = f"t = {begin} + {width - 2} <= n - 2", f"t = n - 2 and {begin} + {width - 2} > n - 2"
    expected = isl.Set(f"[m, n] -> {{ [t, i, j] : 0 <= i < m and 1 <= j < n and (({full}) or ({cut})) }}")
    assert width > 1 and exchanged(made, put=True).is_equal(expected)


def test_sums_over_a_column_are_for_its_owner(tmp_path: Path) -> None:
    made = result_of(NORMS, replace(OPTIONS, resident=Resident.AUTO))
    assert set(residents(made)) == {"f_single0", "f_k1", "f_k2"}
    owners = {place.tiled.kernel.name for place in made.placed if place.tiled.kernel.for_owners}
    assert owners == {"f_single0", "f_k1"}
    assert exchanged(made, put=False).is_empty()


def test_tiles_stay_where_the_ldm_has_room_for_whole_columns_of_known_length(tmp_path: Path) -> None:
    text = "#define m 500\n#define n 600\n" + NORMS.replace("int m, int n, ", "")
    assert set(residents(result_of(text, OPTIONS))) == {"f_single0", "f_k1", "f_k2"}


def test_a_box_that_stays_may_be_there_under_a_condition(tmp_path: Path) -> None:
    """One nest for all rows, in which only the first steps change a row's first tile."""
    made = result_of(NORMS, replace(OPTIONS, machine="sw26010", resident=Resident.AUTO))
    assert set(residents(made)) == {"f_k1"}
    assert verify(made.assembled) == ()


def test_what_is_only_read_stays_without_being_put(tmp_path: Path) -> None:
    made = result_of(POWERS, replace(OPTIONS, resident=Resident.AUTO))
    (buffer,) = residents(made).values()
    assert (buffer.array, buffer.load, buffer.store) == ("a", True, Store.NONE)
    assert buffer.residency is not None and not buffer.residency.wanted and not buffer.residency.fresh


def test_one_of_two_kernels_that_read_an_array_each_its_way_keeps_it(tmp_path: Path) -> None:
    made = result_of(SQUARES, replace(OPTIONS, resident=Resident.AUTO))
    (kept,) = residents(made).values()
    others = [b for p in made.placed for b in p.plan.buffers if b.array == "a" and b.residency is None]
    assert kept.array == "a" and len(others) == 1


def test_kernels_share_the_tiles_of_an_array(tmp_path: Path) -> None:
    made = result_of(COLUMNS)
    buffers = residents(made)
    assert len(buffers) == 3 and {buffer.array for buffer in buffers.values()} == {"a"}
    assert len({buffer.box.bound for buffer in buffers.values()}) == 1
    assert len({buffer.slots for buffer in buffers.values()}) == 1


def test_the_slave_file_says_what_stays(tmp_path: Path) -> None:
    text = slave_text(ELIMINATION)
    assert re.search(r"a stays in the LDM: \d+ tiles of \d+ x \d+ on each CPE, \d+ bytes with one more", text)
    assert "a, stays in the LDM, put what others read and what is left" in text
    assert re.search(
        r"for \(int sw_slot = 0; sw_slot < (\d+); sw_slot\+\+\)\n\s+\S+a_held\[sw_slot\] = 0;", text
    )


def test_tiles_that_are_longest_in_use_have_slots_first(tmp_path: Path) -> None:
    """Of columns that are done one by one, the last; dimensions that are dealt out before others."""
    slots = {
        name: set(re.findall(r"_slot = SW_MIN\((.*), \d+\);", slave_text(PROGRAMS[name])))
        for name in ("columns", "ways")
    }
    tiles = r"\(n - j0 - 1\) / \d+ \* \(\(m - 1\) / \d+ \+ 1\) \+ i0 / \d+"
    assert len([columns for columns in slots["columns"] if re.fullmatch(tiles, columns)]) == 1
    assert all(columns.endswith(" + i0 / 128") and "n - " in columns for columns in slots["columns"])
    assert all(re.search(r"\) / \d+ \* \(\(n - 1\) / \d+ \+ 1\) \+ ", slot) for slot in slots["ways"])


@pytest.mark.parametrize(
    "options",
    [
        replace(OPTIONS, resident=Resident.NEVER),
        replace(OPTIONS, spawn=Spawn.KERNEL),
        replace(OPTIONS, tile=(8, 8)),
        replace(OPTIONS, threads=(8, 8)),
        replace(OPTIONS, ldm_budget=64),
    ],
)
def test_nothing_stays_unless_it_may(tmp_path: Path, options: KernelOptions) -> None:
    assert not residents(result_of(ELIMINATION, options))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i][j] -=", "if (a[i][t] > 0) a[i][j] -="),  # what is written is data
        ("a[i][j] -= a[i][t]", "a[i][j] -= a[i][(int)a[0][0]]"),  # what is read is data
    ],
)
def test_accesses_that_are_not_known_exactly_keep_tiles_out(tmp_path: Path, old: str, new: str) -> None:
    assert not residents(result_of(ELIMINATION.replace(old, new)))


def test_estimates_decide_without_being_asked(tmp_path: Path) -> None:
    auto = replace(OPTIONS, resident=Resident.AUTO)
    assert residents(result_of(WAYS, auto))
    assert not residents(result_of(ELIMINATION, replace(auto, machine="sw26010")))


@pytest.mark.parametrize(("name", "machine"), in_turn([*PROGRAMS], MACHINES))
@pytest.mark.slow
def test_results_are_those_of_the_serial_loops(tmp_path: Path, name: str, machine: str) -> None:
    """With a small budget some tiles stay and others do not."""
    path = tmp_path / "region.c"
    path.write_text(PROGRAMS[name])
    options = replace(OPTIONS, machine=machine, ldm_budget=4096 if name == "gauss" else 2048)
    sizes = [{"n": n, "m": m} for n, m in ((1, 1), (2, 3), (7, 1), (37, 41))]
    sizes = [{k: v for k, v in each.items() if k in PROGRAMS[name].split("{")[0]} for each in sizes]
    task = SourceTask(path, options={"f": options}, checks={"f": RegionCheck(sizes=tuple(sizes))})
    settings = CheckSettings(modes=("late", "checked"))
    (result,) = check_source(task, settings, tmp_path, shared_objects())
    assert result.outcome is Outcome.PASS, explain(result)
    (slave,) = tmp_path.rglob("region.slave.c")
    assert "stays in the LDM" in slave.read_text()


def without(node: Node, kind: type, purpose: Purpose) -> Node:
    """Return the tree without nodes of ``kind`` for ``purpose``."""

    def change(found: Node) -> Node:
        gone = isinstance(found, kind) and getattr(found, "group", Group(0, Direction.GET)).purpose is purpose
        return Block(()) if gone else found

    return transform(node, change)


@pytest.mark.parametrize(
    ("kind", "purpose", "said"),
    [
        (Transfer, Purpose.FIRST, "in a slot that was never filled"),
        (Begin, Purpose.EXCHANGE, "is issued before its group is begun"),
        (Wait, Purpose.EXCHANGE, "are begun again before they are waited for|leaves the"),
    ],
)
def test_faults_are_found(tmp_path: Path, kind: type, purpose: Purpose, said: str) -> None:
    assembled = result_of(ELIMINATION).assembled
    kernel = next(k for k in assembled.code.kernels if any(b.residency for b in k.plan.buffers))
    scope = scope_of(assembled, kernel)
    assert faults(kernel.body, scope) == ()
    assert re.search(said, "; ".join(faults(without(kernel.body, kind, purpose), scope)))


def test_columns_are_put_at_once(tmp_path: Path) -> None:
    made = result_of(COLUMNS)
    bodies = [kernel.body for kernel in made.assembled.code.kernels]
    copies = [node for body in bodies for node in walk(body) if isinstance(node, Copy)]
    assert copies and all(copy.direction is Direction.PUT for copy in copies)


def test_whole_rows_of_a_tile_are_put_from_where_they_are(tmp_path: Path) -> None:
    text = slave_text(COLUMNS)
    copied = {line.strip() for line in text.splitlines() if line.strip().startswith("if (!(")}
    conditions = {line.removeprefix("if (!(").removesuffix("))") for line in copied}
    assert conditions and all(condition.endswith(" == a_n1") for condition in conditions)
    assert all(f"{condition} ? &LDM_a(" in text for condition in conditions)


ROW, COLUMN, N = Name("i"), Name("j"), Name("n")
GETS = Group(0, Direction.GET)


def less(left: Name, right: Name) -> Binary:
    return Binary(BinaryOperator.LT, left, right)


def rounds(*boxes: tuple[str, Name]) -> Loop:
    """Return loops over tiles that get ``boxes``, each of which begins at a value."""
    gets = [
        node
        for buffer, low in boxes
        for node in (Place(buffer, (low,), (Constant(8),)), Transfer(buffer, 0, Whole(), GETS))
    ]
    body = Block(
        (Begin(GETS, dynamic=False), *gets, Wait(GETS, count=len(boxes)), Compute("S0", N, (ROW, COLUMN)))
    )
    origin = Origin(Role.ROUND, coincident=True)
    inner = Loop("j", Constant(0), less(COLUMN, N), 64, body, origin)
    return Loop("i", Constant(0), less(ROW, N), 64, inner, origin)


def test_gets_that_iterations_repeat_go_ahead_of_the_loop() -> None:
    outer = hoisted(rounds(("x", ROW), ("y", COLUMN)), lambda _: True)
    assert isinstance(outer, Loop) and isinstance(outer.body, Block)
    first, inner = outer.body.children
    assert isinstance(first, Guard) and first.condition == less(Constant(0), N)
    assert [n.buffer for n in walk(first) if isinstance(n, Transfer)] == ["x"]
    assert [n.buffer for n in walk(inner) if isinstance(n, Transfer)] == ["y"]
    assert [n.count for n in walk(outer) if isinstance(n, Wait)] == [1, 1]


def test_boxes_of_what_is_only_put_stay_in_the_loop() -> None:
    placed = Place("z", (COLUMN,), (Constant(8),))

    def change(node: Node) -> Node:
        if not isinstance(node, Block) or not isinstance(node.children[0], Begin):
            return node
        return Block((node.children[0], placed, *node.children[1:]))

    outer = hoisted(transform(rounds(("x", ROW)), change), lambda _: True)
    assert isinstance(outer, Loop) and isinstance(outer.body, Block)
    first, inner = outer.body.children
    assert placed not in set(walk(first)) and placed in set(walk(inner))


def test_gets_stay_where_iterations_may_write_or_depend_on_each_other() -> None:
    tree = rounds(("x", ROW), ("y", COLUMN))
    assert hoisted(tree, lambda name: name == "y") == tree
    assert isinstance(tree.body, Loop)
    in_order = replace(tree, body=replace(tree.body, origin=Origin(Role.TILE)))
    assert hoisted(in_order, lambda _: True) == in_order


def test_flags_are_asked_once() -> None:
    leaves = Binary(BinaryOperator.EQ, stays_of("a"), Constant(0))
    put = Transfer("a", 0, Whole(), Group(0, Direction.PUT))
    rows = Loop("r", Constant(0), less(Name("r"), N), 1, Guard(leaves, put), MOVES_DATA)
    begin, wait = Guard(leaves, Begin(put.group)), Guard(leaves, Wait(put.group))
    made = with_flags_outside(Block((begin, rows, wait)), ["a"])
    assert made == Block((Guard(leaves, Block((begin.then, replace(rows, body=put), wait.then))),))
