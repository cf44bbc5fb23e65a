"""What each instruction of the CPEs reads and writes, and its class for the pipes.

A *form* spells the operands in order: ``r`` a register that is read, ``w`` one that is written, ``u`` one
that is read and written, ``i`` a register that is read or a number, ``n`` a number, ``m`` an address (its
base is read), ``l`` a label.  What is not in the table has no known meaning here, and is refused by name.

Sources: listings of ``sw5cc``, and public descriptions of the family's server cores for mnemonics and operand
order (qemu's ``target/sw64``, an LLVM with ``lib/Target/Sw64``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from swbuild.sw64.syntax import Instruction, memory_operand, register_number

__all__ = ["INSTRUCTIONS", "ZERO", "Kind", "Shape", "reads", "shape", "writes"]

#: The register that reads as zero and takes no value.
ZERO = 31


class Kind(Enum):
    """What an instruction occupies: the classes that latencies and pipes are given for."""

    INTEGER = "integer"
    MULTIPLY = "integer multiply"
    FLOAT = "floating add, multiply, multiply-add"
    COMPARE = "floating compare, select, sign"
    CONVERT = "conversion"
    DIVIDE = "division or square root"
    VECTOR = "vector integer and logic"
    SHUFFLE = "shuffle, insert, extract"
    TRANSFER = "move between integer and floating registers"
    LOAD = "load"
    FLOAT_LOAD = "floating or vector load"
    STORE = "store"
    BRANCH = "branch"
    CALL = "call, return"
    SEND = "register communication, send"
    RECEIVE = "register communication, receive"
    CONTROL = "control register, fence, barrier, DMA"
    NONE = "nothing"


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of an instruction's operands and its class."""

    form: str
    kind: Kind


def _table(*rows: tuple[str, Kind, str]) -> dict[str, Shape]:
    return {name: Shape(form, kind) for form, kind, names in rows for name in names.split()}


#: Every known instruction.
INSTRUCTIONS = _table(
    ("riw", Kind.INTEGER, "addw subw s4addw s8addw s4subw s8subw addl subl s4addl s8addl s4subl s8subl"),
    ("riw", Kind.INTEGER, "and or bis xor andnot bic ornot eqv sll srl sra"),
    ("riw", Kind.INTEGER, "cmpeq cmplt cmple cmpult cmpule cmpgeb zap zapnot"),
    (
        "riw",
        Kind.INTEGER,
        " ".join(a + b + c for a in ("ext", "ins", "mask") for b in "lh" for c in "bhwl"),
    ),
    ("riw", Kind.MULTIPLY, "mulw mull umulh umulqa"),
    ("iw", Kind.INTEGER, "mov sextb sexth sextw ctpop ctlz cttz negl negw not"),
    ("riiw", Kind.INTEGER, "seleq selne sellt selle selgt selge sellbc sellbs"),
    ("wm", Kind.INTEGER, "ldi ldih"),
    ("wm", Kind.LOAD, "ldbu ldhu ldw ldl ldl_u ldw_nc ldl_nc"),
    ("wm", Kind.FLOAT_LOAD, "flds fldd vlds vldd ldse ldde vldw_u"),
    ("rm", Kind.STORE, "stb sth stw stl stl_u stw_nc stl_nc fsts fstd vsts vstd"),
    ("wm", Kind.SEND, "ldder lddec ldser ldsec vldr vldc"),
    ("rrw", Kind.FLOAT, "fadds faddd fsubs fsubd fmuls fmuld"),
    ("rrrw", Kind.FLOAT, "fmas fmad fmss fmsd fnmas fnmad fnmss fnmsd"),
    ("rrw", Kind.DIVIDE, "fdivs fdivd"),
    ("rw", Kind.DIVIDE, "fsqrts fsqrtd"),
    ("rrw", Kind.COMPARE, "fcmpeq fcmple fcmplt fcmpun fcpys fcpysn fcpyse"),
    ("rw", Kind.COMPARE, "fabs fneg fmov"),
    ("rrrw", Kind.COMPARE, "fseleq fselne fsellt fselle fselgt fselge"),
    ("rw", Kind.CONVERT, "fcvtsd fcvtds fcvtls fcvtld fcvtdl fcvtdl_z fcvtdl_g fcvtdl_p fcvtdl_n"),
    ("rw", Kind.CONVERT, "fcvtlw fcvtwl fcvtws"),
    ("rnw", Kind.CONVERT, "fcvtdlr"),
    ("rw", Kind.TRANSFER, "itofs itofd ftois ftoid ifmovs ifmovd fimovs fimovd"),
    ("rrw", Kind.FLOAT, "vadds vaddd vsubs vsubd vmuls vmuld"),
    ("rrrw", Kind.FLOAT, "vmas vmad vmss vmsd vnmas vnmad vnmss vnmsd vlenma vlenmas"),
    ("rrw", Kind.DIVIDE, "vdivs vdivd"),
    ("rw", Kind.DIVIDE, "vsqrts vsqrtd"),
    ("rrw", Kind.COMPARE, "vfcmpeq vfcmple vfcmplt vfcmpun vcpys vcpysn vcpyse"),
    ("rw", Kind.COMPARE, "vfmov"),
    ("rw", Kind.SHUFFLE, "vcpyf vcpyw"),
    ("rrrw", Kind.COMPARE, "vseleq vsellt vselle vfseleq vfsellt vfselle"),
    ("riw", Kind.VECTOR, "vaddw vsubw vaddl vsubl vsllw vsrlw vsraw vcmpgew vcmpeqw"),
    ("riw", Kind.VECTOR, "vcmplew vcmpltw vcmpulew vcmpultw"),
    ("rrw", Kind.VECTOR, "vandw vxorw vbisw vbicw vornotw veqvw"),
    ("riw", Kind.SHUFFLE, "sllow srlow vextw vextf"),
    ("rrnw", Kind.SHUFFLE, "vinsw vinsf"),
    ("rriw", Kind.SHUFFLE, "vshff vshfw vconw vconl vcons vcond"),
    ("il", Kind.BRANCH, "beq bne blt ble bgt bge blbc blbs"),
    ("rl", Kind.BRANCH, "fbeq fbne fblt fble fbgt fbge"),
    ("wl", Kind.BRANCH, "br"),
    ("wl", Kind.CALL, "bsr"),
    ("wml", Kind.CALL, "call jmp"),
    ("wmn", Kind.CALL, "ret"),
    ("ri", Kind.SEND, "putr putc"),
    ("w", Kind.RECEIVE, "getr getc"),
    ("wn", Kind.CONTROL, "rcsr"),
    ("rn", Kind.CONTROL, "wcsr"),
    ("i", Kind.CONTROL, "sync synr synp halt"),
    ("w", Kind.CONTROL, "rtc"),
    ("rrr", Kind.CONTROL, "dma"),
    ("wm", Kind.CONTROL, "faaw faal"),
    ("rm", Kind.CONTROL, "updt_addw updt_subw updt_addl updt_subl"),
    ("", Kind.CONTROL, "memb imemb wmemb"),
    ("", Kind.NONE, "nop unop fnop"),
)


def shape(instruction: Instruction) -> Shape | None:
    """Return the shape of an instruction; None when its name or its number of operands is not known."""
    found = INSTRUCTIONS.get(instruction.mnemonic)
    return found if found and len(found.form) == len(instruction.operands) else None


def reads(instruction: Instruction) -> tuple[int, ...]:
    """Return the numbers of the registers that the instruction reads, without the zero register."""
    return _registers(instruction, "riu", True)


def writes(instruction: Instruction) -> tuple[int, ...]:
    """Return the numbers of the registers that the instruction writes, without the zero register."""
    return _registers(instruction, "wu", False)


def _registers(instruction: Instruction, letters: str, addresses: bool) -> tuple[int, ...]:
    found: list[int] = []
    known = shape(instruction)
    if known is None:
        return ()
    for letter, operand in zip(known.form, instruction.operands, strict=True):
        number = register_number(operand) if letter in letters else None
        address = memory_operand(operand) if letter == "m" and addresses else None
        number = address.base if address else number
        if number is not None and number != ZERO:
            found.append(number)
    return tuple(found)
