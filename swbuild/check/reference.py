"""The serial reference of a region: the user's own translation unit, with its function cut to the region.

The compiler sees the user's preprocessed text as it is: types, objects and functions, the function's own
head, and the declarations in sight at the region in their own words.  Of the function's statements
only the region is left, byte for byte.  Around it stands what gives the user's variables the values of
the harness, and takes the results: assignments to the user's own expressions, whose types are the
compiler's business.  Nothing here repeats a type that the model believes in.
"""

from __future__ import annotations

import re  # reads declarations of the user's text
from collections.abc import Sequence

from swbuild.check.setup import Setup
from swbuild.check.slots import Slot
from swbuild.frontend.contracting import PRELUDE as MULTIPLY_ADDS
from swbuild.frontend.frame import Declaration, Declarator, Frame, Parameter
from swbuild.frontend.scop import Scop, VariableKind

__all__ = ["outer_objects", "reference_source"]

_TABLES = """\
static void *swchk_rows(int k, int pitch, int lines, unsigned long size)
{
    const unsigned long step = *(const unsigned long *)swchk_slot[pitch] * size;
    const unsigned long apart = lines == pitch ? 1 : *(const unsigned long *)swchk_slot[lines];
    const unsigned long count = step ? (swchk_bytes[k] + step - 1) / step : 0;
    char **table = swchk_new(count * sizeof *table + 4096);
    char ***planes = swchk_new(count * sizeof *planes + 4096);
    for (unsigned long row = 0; row < count; row++) {
        table[row] = (char *)swchk_slot[k] + row * step;
        planes[row / (apart ? apart : 1)] = table + row - (apart ? row % apart : 0);
    }
    return lines == pitch ? (void *)table : (void *)planes;
}
"""
_PRELUDE = """\
extern void *swchk_new(unsigned long), *swchk_spare(void);
extern void swchk_seed(void *, unsigned long), swchk_room(int, unsigned long, unsigned long);
static void **swchk_slot;
static const unsigned long *swchk_bytes;
#define swchk_points(p) __builtin_types_compatible_p(__typeof__(p), __typeof__(&(p)[0]))
#define swchk_aim(p, to) \\
    do { \\
        void *swchk_to = swchk_points(p) ? (to) : 0; \\
        if (swchk_points(p)) \\
            __builtin_memcpy((void *)&(p), &swchk_to, sizeof swchk_to); \\
    } while (0)
#define swchk_enter(p, k) \\
    do { \\
        swchk_aim(p, swchk_slot[k]); \\
        if (!swchk_points(p)) { \\
            swchk_room(k, swchk_bytes[k], __builtin_object_size((void *)&(p), 1)); \\
            __builtin_memcpy((void *)&(p), swchk_slot[k], swchk_bytes[k]); \\
        } \\
    } while (0)
#define swchk_lead(p, rows) \\
    do { \\
        void *swchk_table = (rows); \\
        swchk_aim(p, swchk_table); \\
        if (!swchk_points(p)) \\
            __builtin_memcpy((void *)&(p), swchk_table, sizeof(p)); \\
    } while (0)
#define swchk_leave(p, k) \\
    do { \\
        if (!swchk_points(p)) \\
            __builtin_memcpy(swchk_slot[k], (const void *)&(p), swchk_bytes[k]); \\
    } while (0)
#define swchk_set(x, k) __builtin_memcpy((void *)&(x), swchk_slot[k], sizeof(x))
#define swchk_tell(x, k) __builtin_memcpy(swchk_slot[k], (const void *)&(x), sizeof(x))
#define swchk_agree(x, k) \\
    do { \\
        const int swchk_same = !__builtin_memcmp(swchk_slot[k], (const void *)&(x), sizeof(x)); \\
        swchk_tell(x, k); \\
        if (!swchk_same) \\
            return; \\
    } while (0)
#define swchk_value(x, k) *(__typeof__(x) *)swchk_slot[k]
"""


def reference_source(scop: Scop, slots: Sequence[Slot], unit: str, *, contract: bool = False) -> str:
    """Return the C text of the reference; ``unit`` is the preprocessed text of the user's file.

    With ``contract`` its sums of products are multiply-adds where the generated code's are.
    """
    frame = scop.frame
    assert frame is not None
    setup, contracted = Setup(scop, slots), scop.contracted if contract else ""
    return "".join(
        [
            _PRELUDE,
            _TABLES if scop.tables else "",
            MULTIPLY_ADDS if contracted else "",
            unit[: frame.body],
            "{\n",
            *_blocks(frame, setup),
            *(f"    {line}\n" for line in setup.before()),
            f'# {scop.span.line} "{_quoted(scop.source)}"\n',
            contracted or unit[frame.begin : frame.stop],
            "\n",
            *(f"    {line}\n" for line in setup.after()),
            "}" * len(frame.blocks),
            unit[frame.end :],
            "\n",
            *_call(scop, frame, setup),
        ]
    )


def outer_objects(scop: Scop, slots: Sequence[Slot]) -> frozenset[str]:
    """Return the variables that the reference needs and that other files may define."""
    return Setup(scop, slots).roots - {variable.name for variable in scop.around}


def _blocks(frame: Frame, setup: Setup) -> list[str]:
    """Return the declarations in sight, blocks in their nesting; variables of the model have their values."""
    lines: list[str] = []
    for number, block in enumerate(frame.blocks):
        lines += ["{\n"] if number else []
        lines += [_declaration(declaration, setup) for declaration in block]
    return lines


def _declaration(declaration: Declaration, setup: Setup) -> str:
    stays = any(map(declaration.has, ("typedef", "extern", "static")))
    texts = [_declarator(declaration, item, stays, setup) for item in declaration.declarators]
    return f"{declaration.specifiers} {', '.join(texts)};\n"


def _declarator(declaration: Declaration, item: Declarator, stays: bool, setup: Setup) -> str:
    initialiser = item.initialiser
    if not stays:
        initialiser = setup.initial(item.name)
        if initialiser is None and _needs_its_own(declaration, item, setup):
            initialiser = item.initialiser
    return item.text if initialiser is None else f"{item.text} = {initialiser}"


def _needs_its_own(declaration: Declaration, item: Declarator, setup: Setup) -> bool:
    """Whether a variable means nothing without its initialiser: a constant, or an array sized by it."""
    own = declaration.has("const") or declaration.has("__auto_type")
    return own or setup.keeps(item.name) or re.search(r"\[\s*\]", item.text) is not None


def _call(scop: Scop, frame: Frame, setup: Setup) -> list[str]:
    """Return the function that calls the user's function with the harness's objects."""
    parameters = [parameter for parameter in frame.parameters if parameter.text != "..."]
    texts = [_argument(parameter, setup) for parameter in parameters]
    return [
        f"static __typeof__({scop.function}) *const swchk_function = {scop.function};\n",
        "int swchk_call(void **swchk_objects, const unsigned long *swchk_sizes)\n{\n",
        "    swchk_slot = swchk_objects;\n    swchk_bytes = swchk_sizes;\n    {\n",
        *(f"    {declared};\n" for declared, _ in texts if declared),
        f"    swchk_function({', '.join(passed for _, passed in texts)});\n    }}\n    return 0;\n}}\n\n",
        "long swchk_spawns(void)\n{\n    return -1;\n}\n",
    ]


def _argument(parameter: Parameter, setup: Setup) -> tuple[str, str]:
    """Return the declaration of a variable to pass, in the parameter's own words, and what to pass."""
    name, kind = parameter.name, setup.kind(parameter.name)
    pointer = kind in (VariableKind.POINTER, VariableKind.RECORD_POINTER)
    initial = setup.initial(name)
    if pointer and "sizeof" not in (initial or ""):
        return "", initial or "0"
    if pointer and "[" in parameter.text:
        return "", "swchk_new(1 << 20)"
    return parameter.text + ("" if initial is None else f" = {initial}"), name


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
