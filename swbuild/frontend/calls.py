"""Which functions a statement may call, and what the slave file then needs."""

from __future__ import annotations

from pycparser import c_ast

from swbuild.expressions.types import DOUBLE, FLOAT, INT, LONG, ElementType
from swbuild.frontend.ctype import ArrayType, CType, FunctionType, OtherType, Pointer, Scalar
from swbuild.frontend.problems import Problems
from swbuild.frontend.scop import Storage
from swbuild.frontend.source_text import standalone
from swbuild.frontend.symbols import Bindings, FileScope, Symbol, bind_function, walk

__all__ = ["Calls"]

_MATH = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "ldexp",
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "nearbyint",
        "pow",
        "remainder",
        "rint",
        "round",
        "scalbn",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
    ]
)
#: What C and POSIX give no error conditions that arguments can meet.
_WITHOUT_ERRNO = frozenset(
    [
        *("atan", "asinh", "cbrt", "ceil", "copysign", "erf", "fabs", "floor", "fmax", "fmin"),
        *("nearbyint", "rint", "round", "tanh", "trunc"),
    ]
)
_MATH_LONG = frozenset(["lround", "lrint", "llround", "llrint"])
_STDLIB = {"abs": INT, "labs": LONG, "llabs": ElementType("long long", 8, LONG.kind)}
#: What macros of math.h and hints of GNU C expand to: constants, tests of numbers, the first argument itself.
_BUILTINS = {
    **dict.fromkeys(("__builtin_inf", "__builtin_huge_val"), DOUBLE),
    **dict.fromkeys(("__builtin_inff", "__builtin_huge_valf"), FLOAT),
    **dict.fromkeys(
        ("__builtin_isnan", "__builtin_isinf_sign", "__builtin_isfinite", "__builtin_isnormal"), INT
    ),
    **dict.fromkeys(("__builtin_signbit", "__builtin_signbitf", "__builtin_fpclassify"), INT),
    **dict.fromkeys(
        (f"__builtin_is{test}" for test in ("greater", "greaterequal", "less", "lessequal", "lessgreater")),
        INT,
    ),
    "__builtin_isunordered": INT,
    "__builtin_expect": LONG,
}
#: What NAN is written as, with the number of the NaN as text.
_NANS = {"__builtin_nan": DOUBLE, "__builtin_nanf": FLOAT, "nan": DOUBLE, "nanf": FLOAT}
_DEFINITIONS = (c_ast.Typedef, c_ast.Struct, c_ast.Union)


class Calls:
    """Decides on calls in one region; ``includes`` and ``prelude`` grow with what was accepted."""

    def __init__(self, scope: FileScope, problems: Problems) -> None:
        self._scope, self._problems = scope, problems
        self.includes: dict[str, None] = {}
        self.prelude: dict[str, str] = {}
        #: Functions of math.h that may set errno.
        self.sets_errno: dict[str, None] = {}

    def is_pure(self, name: str) -> bool:
        """Whether a function of this file only computes from its arguments."""
        return self._impurity(self._scope.functions[name], (name,)) is None

    def resolve(self, node: c_ast.FuncCall) -> tuple[str, ElementType]:
        """Return the name to call and the type of its result; raise NotModelledError for unknown effects."""
        if not isinstance(node.name, c_ast.ID):
            raise self._problems.refuse(
                "SW214", "a call through a pointer may have any effect", node, "call the function by its name"
            )
        name = node.name.name
        if name in self._scope.functions:
            return self._own(name, node)
        plain = name.removeprefix("__builtin_")
        if plain in _STDLIB:
            self.includes["stdlib.h"] = None
            return plain, _STDLIB[plain]
        math = _math_type(plain)
        if math is not None:
            self._use_math(plain)
            return plain, math
        if name in _BUILTINS:
            return name, _BUILTINS[name]
        if name in _NANS:
            return f"__builtin_{name.removeprefix('__builtin_')}", _NANS[name]
        return self._declared_const(name, node)

    def _own(self, name: str, node: c_ast.Node) -> tuple[str, ElementType]:
        function = self._scope.functions[name]
        reason = self._impurity(function, (name,))
        if reason is not None:
            raise self._problems.refuse(
                "SW214",
                f"the function '{name}' {reason}, so a call to it cannot be moved to a kernel",
                node,
                "call functions that only compute from their arguments, or write the body out in the region",
            )
        self._keep(name)
        return name, self._result(function.decl)

    def _keep(self, name: str) -> None:
        """Put the function and those that it calls into the prelude, callees first."""
        if name in self.prelude:
            return
        function = self._scope.functions[name]
        for call in _calls(function.body):
            if call in self._scope.functions:
                self._keep(call)
            elif _math_type(call) is not None:
                self._use_math(call)
            elif call in _STDLIB:
                self.includes["stdlib.h"] = None
            elif call in _NANS:
                self.includes["math.h"] = None
        self.prelude[name] = standalone(function, self._scope)

    def _use_math(self, name: str) -> None:
        self.includes["math.h"] = None
        if name.removesuffix("f") not in _WITHOUT_ERRNO and name not in _WITHOUT_ERRNO:
            self.sets_errno[name] = None

    def _impurity(self, function: c_ast.FuncDef, chain: tuple[str, ...]) -> str | None:
        """Return why a function is more than a computation on its arguments, or None."""
        params = function.decl.type.args
        names: set[str] = set()
        for parameter in params.params if params is not None else ():
            if isinstance(parameter, c_ast.EllipsisParam):
                return "takes a variable number of arguments"
            kind = self._scope.types.resolve(parameter)
            if isinstance(kind, (Pointer, ArrayType)):
                return f"takes a pointer ('{parameter.name}')"
            if not _is_plain(kind):
                return f"takes a parameter ('{parameter.name}') that is no number"
            if parameter.name is not None:  # not of (void)
                names.add(parameter.name)
        if not _is_plain(self._scope.types.resolve(function.decl.type.type)):
            return "returns something that is no number"
        reason = self._unfit_body(function.body, names)
        if reason is not None:
            return reason
        return self._uses_of_others(function.body, bind_function(function, self._scope), chain)

    def _unfit_body(self, body: c_ast.Node, names: set[str]) -> str | None:
        """Return what a body with the parameters ``names`` has that no computation needs, or None."""
        for node in walk(body):
            if isinstance(node, _DEFINITIONS) or (isinstance(node, c_ast.Enum) and node.values is not None):
                return "defines a type of its own"
            if isinstance(node, c_ast.Typename) and not isinstance(self._scope.types.resolve(node), Scalar):
                return "converts to, or measures, something that is no number"
            if isinstance(node, c_ast.Decl) and node.name is not None:
                if node.storage and node.storage != ["register"]:
                    return f"keeps state in '{node.name}'"
                kind = self._scope.types.resolve(node.type)
                if not isinstance(kind, (Scalar, ArrayType)) or (isinstance(kind, Scalar) and kind.volatile):
                    return f"declares '{node.name}', which is no plain number or array"
                names.add(node.name)
            elif isinstance(node, c_ast.FuncCall) and not isinstance(node.name, c_ast.ID):
                return "calls through a pointer"
            elif isinstance(node, c_ast.UnaryOp) and node.op in ("*", "&"):
                return "uses pointers"
            elif isinstance(node, (c_ast.Goto, c_ast.StructRef)):
                return "uses structures or goto"
        hidden = next((name for name in sorted(names) if self._scope.is_constant(name)), None)
        if hidden is not None:
            return f"has a variable '{hidden}' that hides an enumeration constant"
        return None

    def _uses_of_others(self, body: c_ast.Node, bindings: Bindings, chain: tuple[str, ...]) -> str | None:
        """Return what a body uses beyond its own variables and constants, or None."""
        called = {id(n.name) for n in walk(body) if isinstance(n, c_ast.FuncCall)}
        for node in walk(body):
            if isinstance(node, c_ast.FuncCall) and not isinstance(node.name, c_ast.ID):
                return "calls through a pointer"
            if not isinstance(node, c_ast.ID):
                continue
            if id(node) in called:
                reason = self._foreign(node.name, chain)
            else:
                reason = None if _is_own(bindings.symbol(node)) else f"uses the global '{node.name}'"
            if reason is not None:
                return reason
        return None

    def _foreign(self, name: str, chain: tuple[str, ...]) -> str | None:
        """Return why a function that is called by ``name`` may do more than compute, or None."""
        if name in chain:
            return "is recursive"
        if name in self._scope.functions:
            inner = self._impurity(self._scope.functions[name], (*chain, name))
            return None if inner is None else f"calls '{name}', which {inner}"
        known = _math_type(name) is not None or name in _STDLIB or name in _BUILTINS or name in _NANS
        return None if known else f"calls '{name}', whose effects are unknown"

    def _declared_const(self, name: str, node: c_ast.FuncCall) -> tuple[str, ElementType]:
        declaration = self._scope.prototypes.get(name)
        if declaration is None or not self._scope.is_const_function(name):
            raise self._problems.refuse(
                "SW214",
                f"the effects of '{name}' are unknown: its body is not in this file",
                node,
                "if it only computes from its arguments, declare it with __attribute__((const))",
            )
        args = declaration.type.args
        parts = [declaration.type.type, *(args.params if args is not None else ())]
        if not all(_is_plain(self._scope.types.resolve(part)) for part in parts):
            raise self._problems.refuse(
                "SW214",
                f"'{name}' takes or returns something that is no number",
                node,
                "pass numbers, and return one",
            )
        self.prelude[name] = standalone(declaration, self._scope)
        return name, self._result(declaration)

    def _result(self, declaration: c_ast.Decl) -> ElementType:
        kind = self._scope.types.resolve(declaration.type)
        assert isinstance(kind, FunctionType)
        return kind.result.element if isinstance(kind.result, Scalar) else INT


def _is_own(symbol: Symbol | None) -> bool:
    """Whether a name in a function is that of its own variable, or of an enumeration constant."""
    return symbol is not None and (symbol.value is not None or symbol.storage is not Storage.GLOBAL)


def _is_plain(kind: CType) -> bool:
    """Whether a type is that of a number, or void."""
    return isinstance(kind, Scalar) or (isinstance(kind, OtherType) and kind.name == "void")


def _calls(body: c_ast.Node) -> list[str]:
    return [n.name.name for n in walk(body) if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID)]


def _math_type(name: str) -> ElementType | None:
    if name in _MATH:
        return DOUBLE
    if name.endswith("f") and name[:-1] in _MATH:
        return FLOAT
    return LONG if name in _MATH_LONG or (name.endswith("f") and name[:-1] in _MATH_LONG) else None
