"""The frame of a unit: the C function around its statements, and what those say in short."""

from __future__ import annotations

from swbuild.sw64.body import SAVED, Body, line_marker
from swbuild.sw64.emit import STACK, Emitter, label_name
from swbuild.sw64.flow import Unit
from swbuild.sw64.syntax import Instruction
from swbuild.sw64.unset import leaves

__all__ = ["unit_text"]

_MACROS = ("SW64_SAVE", "SW64_LOAD", "SW64_STACK", "SW64_KEPT", "SW64_COMPUTED")

_FRAME = (
    "struct sw64_frame frame __attribute__((cleanup(sw64_leave), unused)) = "
    "SW64_CHECKED ? sw64_enter(cpu, __builtin_frame_address(0)) : (struct sw64_frame){0};"
)


def unit_text(emitter: Emitter, unit: Unit) -> list[str]:
    """Return the C lines of a unit; what cannot be written is noted in the program's problems."""
    body = Body(emitter, unit)
    name = emitter.name(unit)
    return [
        *_macros(body),
        line_marker(*emitter.places[unit.items[0].line]),
        f"static void {name}(struct sw64_cpu *cpu, int entry)",
        "{",
        f"    {_FRAME}",
        *[f"    sw64_reg R({n}) = sw64_get(cpu, {n});" for n in body.registers()],
        *body.variables(),
        "    switch (entry) {",
        *[f"    case {k}: goto {label_name(entry)};" for k, entry in enumerate(unit.entries)],
        "    }",
        *body.lines,
        *_tail(unit, body),
        "}",
        *(f"#undef {name}" for name in _MACROS),
    ]


def _macros(body: Body) -> list[str]:
    """Return what the statements of a unit say in short: to store, load and test its registers."""
    used = body.registers()
    save = " ".join(f"sw64_put(cpu, {n}, R({n}));" for n in used)
    load = " ".join(f"R({n}) = sw64_get(cpu, {n});" for n in used)
    stack = f"if (R({STACK}).u - low > room) __swemu_sw64_stack(name, R({STACK}).u, low, room, __LINE__);"
    changed = " | ".join(f"(R({n}).u != kept{n}) << {n - SAVED[0]}" for n in SAVED if n in used) or "0"
    kept = f"if (SW64_CHECKED && whole && ({changed})) __swemu_sw64_kept(name, {changed});"
    cases = " ".join(f"case {number}: goto {label};" for label, number in body.targets())
    what = "jumps to what is no place of it"
    lost = f'__swemu_sw64_lost(name, "{what}", target, __LINE__);'
    return [
        f"#define SW64_COMPUTED(name) switch (target - SW64_PLACE(0)) {{ {cases} }} {lost}",
        f"#define SW64_SAVE {save} if (SW64_CHECKED) sw64_know(cpu, known);",
        f"#define SW64_LOAD {load} if (SW64_CHECKED) known = sw64_known(cpu);",
        f"#define SW64_STACK(name) {stack}",
        f"#define SW64_KEPT(name) {kept} {leaves()}",
    ]


def _tail(unit: Unit, body: Body) -> list[str]:
    """Return what the end of the code comes to, at the last instruction of the function there."""
    last = next((item for item in reversed(unit.items) if isinstance(item, Instruction)), unit.items[-1])
    return [
        line_marker(*body.emitter.places[last.line]),
        f'    __swemu_sw64_lost("{body.function}", "runs over the end of the code", 0, __LINE__);',
    ]
