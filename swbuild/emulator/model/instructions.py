"""What one instruction of x86-64 code asks a Sunway core to do, as steps that know no x86 any more.

The code is that of a C source; its instructions stand for those that a Sunway compiler would have made:
arithmetic for arithmetic, a memory operand for a load or a store, a copy for a move between registers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from swbuild.emulator.model import x86_names as names
from swbuild.emulator.model.step import Address, Role, Step
from swbuild.emulator.model.x86_operands import address, is_memory, mask, number, register, registers, split
from swbuild.sw64.instructions import Kind

__all__ = ["steps"]

_OPERATION = re.compile(r"[a-z][a-z0-9]*")
_STACK = Address("", 0, "sp", "", 1)

#: What stands for an instruction that sends or receives a message: the replay knows how long that takes.
_MESSAGES = frozenset({"__swemu_reg_send", "__swemu_reg_receive"})


def steps(line: str, width: int) -> tuple[Step, ...]:
    """Return the steps of one line of AT&T assembly; none for a directive, a label or an empty line.

    ``width`` is that of the core's vectors in bytes: a wider operation is several of the core's.
    """
    words = line.split("#", 1)[0].strip().split(None, 1)
    if not words or not _OPERATION.fullmatch(words[0]):
        return ()
    name, text = words[0], words[1].strip() if len(words) > 1 else ""
    if name in names.PREFIXES:
        return steps(text, width)
    if names.does_nothing(name):
        return ()
    if control := _control(name, text):
        return () if control.where in _MESSAGES else (control,)
    found = _data(name, split(text), width)
    halves = names.halves_of(name, text, width)
    return tuple(replace(step, share=halves) for step in found) if halves > 1 else tuple(found)


def _control(name: str, text: str) -> Step | None:
    """Return the step of a jump, a call or a return, None for anything else."""
    if name.startswith("call"):
        return Step(Kind.CALL, Role.CALL, where=text.split("@")[0].lstrip("*"), sources=registers(text))
    if name.startswith("ret"):
        return Step(Kind.CALL, Role.RETURN)
    if name == "jmp":
        return Step(Kind.NONE, Role.JUMP, registers(text), where=text)
    if names.is_jump(name):
        return Step(Kind.BRANCH, Role.BRANCH, ("flags",), where=text)
    return None


def _data(name: str, operands: list[str], width: int) -> list[Step]:
    """Return the steps of an instruction that computes or moves data."""
    memory = next((k for k, part in enumerate(operands) if is_memory(part)), -1)
    if name.startswith("lea"):
        return [Step(Kind.INTEGER, Role.ADDRESS, (), register(operands[1]), address(operands[0]))]
    if name.startswith("push"):
        return [Step(Kind.STORE, Role.STORE, registers(" ".join(operands)), "", _STACK)]
    if name.startswith("pop"):
        return [Step(Kind.LOAD, Role.LOAD, (), register("".join(operands[:1])), _STACK)]
    if memory < 0:
        return _in_parts(name, _computed(name, operands, width))
    bytes_moved, count = names.moved(name, operands, width)
    load = Step(names.load_kind(name), Role.LOAD, (), "loaded", address(operands[memory]))
    load = replace(load, bytes=bytes_moved, times=count)
    into = memory == len(operands) - 1 and not names.only_reads(name)
    if names.moves(name):
        return _stores(operands, load) if into else _loads(name, operands, load)
    return _on_memory(name, operands, memory, width, load, into)


def _loads(name: str, operands: list[str], load: Step) -> list[Step]:
    """Return the steps of a move from memory: it may keep a part of its target."""
    masked = mask(operands[-1])
    target = register(operands[-1])
    if not (names.moves_half(name) or masked):
        return [replace(load, target=target)]
    others = tuple(register(part) for part in operands[1:]) + masked
    kind = Kind.SHUFFLE if names.moves_half(name) else Kind.COMPARE
    return [load, Step(kind, Role.COMPUTE, ("loaded", *others), target)]


def _stores(operands: list[str], load: Step) -> list[Step]:
    """Return the steps of a move to the place of ``load``."""
    source = operands[0]
    store = replace(load, kind=Kind.STORE, role=Role.STORE, target="", sources=(register(source),))
    if not source.startswith("$"):
        return [store]
    if number(source) == 0:
        return [replace(store, sources=())]
    constant = Step(Kind.INTEGER, Role.CONSTANT, (), "loaded", number=number(source))
    return [constant, replace(store, sources=("loaded",))]


def _on_memory(name: str, operands: list[str], memory: int, width: int, load: Step, into: bool) -> list[Step]:
    """Return the steps of arithmetic with an operand in memory, ``into`` which its result may go."""
    inner = [*operands]
    inner[memory] = "%loaded"
    step = _computed(name, inner, width)
    if not into:
        return [load, *_in_parts(name, step)]
    store = replace(load, kind=Kind.STORE, role=Role.STORE, target="", sources=("loaded",))
    if name.startswith("set"):
        return [replace(store, sources=("flags",))]
    return [load, replace(step, target="loaded"), store]


def _in_parts(name: str, step: Step) -> list[Step]:
    """Return the operations that the core needs where x86 has one instruction."""
    kinds = names.parts(name)
    if len(kinds) == 1:
        return [step]
    first, second = (step.kind if kind is None else kind for kind in kinds)
    sources = ("part", *step.sources) if first is second else ("part",)
    return [replace(step, kind=first, target="part"), replace(step, kind=second, sources=sources)]


def _computed(name: str, operands: list[str], width: int) -> Step:
    """Return the step of an instruction whose operands are registers and numbers."""
    target = register(operands[-1]) if operands else ""
    masked = mask(operands[-1]) if operands else ()
    named = tuple(register(part) for part in operands[:-1] if not part.startswith("$"))
    if names.copies(name, len(operands)) and not masked:
        return _copied(operands, named[:1], target)
    if _zeroes(name, operands):
        return Step(Kind.NONE, Role.CONSTANT, (), target, number=0)
    if names.compares(name):
        return _compared(name, operands, target)
    if name.startswith("set"):
        return Step(Kind.NONE, Role.COPY, ("flags",), target)
    if (added := names.added(name)) and (len(operands) != 2 or operands[0].startswith("$")):
        amount = number(operands[0]) if len(operands) == 2 else 1
        return Step(Kind.INTEGER, Role.ADD, (target,), target, number=added * amount, flags=True)
    return _operation(name, named[:1] if names.source_only(name) else named, masked, target, operands, width)


def _operation(
    name: str, named: tuple[str, ...], masked: tuple[str, ...], target: str, operands: list[str], width: int
) -> Step:
    """Return the step of an operation that makes a value of ``named``, and maybe of its target."""
    if names.compares_floating(name):
        return Step(Kind.COMPARE, Role.COMPUTE, (*named, target), "flags")
    kind, role = names.class_of(name)
    if role is Role.DIVISION:
        return Step(kind, role, (target, "ax", "dx"), "ax", flags=True)
    reads = target if names.reads_target(name) or masked else ""
    flags = ("flags",) if name.startswith(("cmov", "adc", "sbb")) else ()
    sources = (*named, *masked, *((reads,) if reads else ()), *flags)
    sets = kind in (Kind.INTEGER, Kind.MULTIPLY) and not name.startswith(("cmov", "not", "bswap"))
    return Step(kind, role, sources, target, flags=sets, times=names.times(name, operands, width))


def _copied(operands: list[str], named: tuple[str, ...], target: str) -> Step:
    if operands and operands[0].startswith("$"):
        return Step(Kind.INTEGER, Role.CONSTANT, (), target, number=number(operands[0]))
    return Step(Kind.NONE, Role.COPY, named or (target or "ax",), target or "ax")


def _compared(name: str, operands: list[str], target: str) -> Step:
    """Return a comparison; a value against itself, or against zero, needs no operation ahead of its jump."""
    first = operands[0]
    if (name.startswith("test") and first == operands[-1]) or (name.startswith("cmp") and first == "$0"):
        return Step(Kind.NONE, Role.COPY, (target,), "flags")
    sources = (target,) if first.startswith("$") else (register(first), target)
    return Step(Kind.INTEGER, Role.COMPUTE, sources, "flags")


def _zeroes(name: str, operands: list[str]) -> bool:
    """Return whether an instruction makes zero of a register and itself."""
    alike = len(operands) >= 2 and len(set(operands)) == 1
    return alike and ("xor" in name or re.match(r"v?psub|sub[lq]?$", name) is not None)
