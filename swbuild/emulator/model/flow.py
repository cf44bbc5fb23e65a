"""The flow between basic blocks: what follows what, what always does, and which registers are read behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swbuild.emulator.model.blocks import Block, Reader, functions
from swbuild.emulator.model.step import Role, Step

__all__ = ["connected", "loop_begin", "read_blocks", "trivial"]

#: What slave code calls when a test of the emulator's own fails.
_FAILED = "__swemu_unaligned"


def read_blocks(text: str, width: int) -> list[Block]:
    """Return the blocks of an assembly file in order, each with its successors and live registers.

    Blocks of which one always follows the other are one.
    """
    result: list[Block] = []
    for function in functions(list(Reader(text, width).read())):
        _connect(function)
        joined = _straightened(function)
        _find_live(joined)
        result += joined
    return result


def connected(reader: Reader) -> list[list[Block]]:
    """Return the blocks of each function as they stand in the text, with successors and live registers."""
    found = list(functions(list(reader.read())))
    for function in found:
        _connect(function)
        _find_live(function)
    return found


def trivial(block: Block) -> bool:
    """Return whether a block only brings values into registers, and maybe jumps."""
    return all(_moves(step) for step in block.steps)


def loop_begin(function: Sequence[Block], number: int) -> int | None:
    """Return the first of several blocks that fall through to block ``number``, which jumps back to it."""
    end = function[number].end
    if end is None or end.role is not Role.BRANCH:
        return None
    for begin in range(number - 1, -1, -1):
        if function[begin].end is not None:
            return None
        if end.where in function[begin].labels:
            return begin
    return None


def _moves(step: Step) -> bool:
    if step.role in (Role.COPY, Role.CONSTANT, Role.JUMP) or step.spilled:
        return True
    return step.role is Role.LOAD and step.address is not None and step.address.symbol.startswith(".LC")


def _connect(function: Sequence[Block]) -> None:
    places = {label: number for number, block in enumerate(function) for label in block.labels}
    for number, block in enumerate(function):
        end = block.end
        behind = [number + 1] if number + 1 < len(function) else []
        if end is None or end.role is Role.CALL:
            block.following = tuple(behind)
        elif end.role is Role.RETURN:
            block.following = ()
        else:
            known = [places[end.where]] if end.where in places else []
            if end.where.startswith("*"):
                known = sorted(places.values())
            block.following = tuple(known + (behind if end.role is Role.BRANCH else []))


def _straightened(function: Sequence[Block]) -> list[Block]:
    """Return the function without what failed tests do; blocks that always follow each other are one."""
    failed = {number for number, block in enumerate(function) if block.end and block.end.where == _FAILED}
    blocks = [_tested(block, failed) for block in function]
    ahead: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        if number not in failed:
            for following in block.following:
                ahead.setdefault(following, []).append(number)
    heads = _heads(blocks, ahead)
    order = sorted(set(heads.values()) - failed)
    places = {head: place for place, head in enumerate(order)}
    result = [replace(blocks[head]) for head in order]
    for number, head in heads.items():
        block = blocks[number]
        if number != head and head not in failed:
            own = result[places[head]]
            end = own.end
            steps = own.steps[:-1] if end and end.role is Role.JUMP else own.steps
            result[places[head]] = replace(own, steps=[*steps, *block.steps], following=block.following)
    for block in result:
        kept = [heads[number] for number in block.following if heads[number] in places]
        block.following = tuple(places[head] for head in kept)
    return result


def _tested(block: Block, failed: set[int]) -> Block:
    """Return the block without its jump if that is a test of the emulator's own."""
    if block.end is None or block.end.role is not Role.BRANCH or not failed.intersection(block.following):
        return block
    following = tuple(number for number in block.following if number not in failed)
    return replace(block, steps=block.steps[:-1], following=following)


def _heads(blocks: Sequence[Block], ahead: dict[int, list[int]]) -> dict[int, int]:
    """Return for every block the first of those that it always follows, in the order of the text."""
    heads: dict[int, int] = {}
    for number in range(len(blocks)):
        before = ahead.get(number, [])
        last = before[0] if len(before) == 1 and number else -1
        joins = 0 <= last < number and len(blocks[last].following) == 1 and _goes_on(blocks[last])
        heads[number] = heads[last] if joins else number
    return heads


def _goes_on(block: Block) -> bool:
    return block.end is None or block.end.role is Role.JUMP


_ARGUMENTS = frozenset({"di", "si", "dx", "cx", "r8", "r9", "v0", "v1"})
_CLOBBERED = _ARGUMENTS | {"ax", "r10", "r11", "flags", *(f"v{k}" for k in range(32))}
_RESULTS = frozenset({"ax", "v0", "bx", "bp", "r12", "r13", "r14", "r15"})
_HANDED_ON = {Role.CALL: _ARGUMENTS, Role.RETURN: _RESULTS}


def _find_live(function: Sequence[Block]) -> None:
    """Fill in ``live``: registers are followed backwards until nothing changes."""
    facts = [_uses(block) for block in function]
    before: list[frozenset[str]] = [frozenset()] * len(function)
    changed = True
    while changed:
        changed = False
        for number in range(len(function) - 1, -1, -1):
            block = function[number]
            behind = frozenset[str]().union(*(before[k] for k in block.following))
            used, written = facts[number]
            new = used | (behind - written)
            block.live = behind | _HANDED_ON.get(block.end.role if block.end else Role.COPY, frozenset())
            changed |= new != before[number]
            before[number] = new


def _uses(block: Block) -> tuple[frozenset[str], frozenset[str]]:
    """Return the registers that a block reads before it writes them, and those that it writes."""
    used: set[str] = set()
    written: set[str] = set()
    for step in block.steps:
        read = {*step.sources, *(step.address.registers if step.address else ())}
        made = {step.target} if step.target else set()
        if step.flags:
            made.add("flags")
        if step.role is Role.CALL:
            read, made = read | _ARGUMENTS, made | _CLOBBERED
        elif step.role is Role.RETURN:
            read |= _RESULTS
        used |= read - written
        written |= made
    return frozenset(used), frozenset(written)
