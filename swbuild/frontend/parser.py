"""pycparser's parser, with the scope that C gives to the names of parameters."""

from __future__ import annotations

import copy

from pycparser import c_ast, c_parser

from swbuild.frontend.changes import writes
from swbuild.frontend.statement_expressions import MayBeTwiceError, substituted
from swbuild.frontend.unread import TYPEOF, declared_in, unread

__all__ = ["Parser", "RecoveringParser"]

_REGION = ("scop", "endscop")
_PAIRS = {"LPAREN": 1, "LBRACKET": 1, "LBRACE": 1, "RPAREN": -1, "RBRACKET": -1, "RBRACE": -1}
_TYPELESS = TYPEOF | {"__auto_type"}
#: What may go on behind the braces that end an item.
_GOES_ON = frozenset({"ELSE", "SEMI", "COMMA", "EQUALS", "PERIOD", "LBRACKET", "LPAREN", "RPAREN", "CONDOP"})


class Parser(c_parser.CParser):  # type: ignore[misc]  # pycparser has no types
    """Parses C11; a parameter hides a type of its name from where it is declared to the end of the list.

    ``double a[row][n]`` after ``int row`` has a size in its brackets, also where ``row`` is a type outside.
    """

    def _starts_statement(self) -> bool:
        """Whether a label stands before a statement; a region's pragma is none, but an item of the block."""
        following = self._peek(2) if self._peek_type() == "PPPRAGMA" else None
        return not (following is not None and _is_of_region(following)) and bool(super()._starts_statement())

    def _parse_parameter_type_list(self) -> c_ast.ParamList:
        self._push_scope()
        try:
            return super()._parse_parameter_type_list()
        finally:
            self._pop_scope()

    def _parse_parameter_declaration(self) -> c_ast.Node:
        parameter = super()._parse_parameter_declaration()
        if isinstance(parameter, c_ast.Decl) and parameter.name:
            self._add_identifier(parameter.name, parameter.coord)
        return parameter

    def _parse_primary_expression(self) -> c_ast.Node:
        opening = self._peek()
        if opening is not None and opening.type == "LPAREN" and self._peek_type(2) == "LBRACE":
            return self._parse_statement_expression(opening)
        return super()._parse_primary_expression()

    def _parse_statement_expression(self, opening: c_parser.Token) -> c_ast.Node:
        self._parse_error("a statement in an expression, GNU C's ({ ... })", self._tok_coord(opening))


class RecoveringParser(Parser):
    """Parses text that compilers take and C11 does not know, as far as regions need it.

    A statement, a declaration or a ``({ ... })`` that is not understood becomes an
    :class:`~swbuild.frontend.unread.Unread`, and the names that it may declare get a type without a model.
    At file scope it is left out.  What holds a region's pragma is understood, or an error.
    ``first`` is the first error that was passed over.
    """

    first: c_parser.ParseError | None = None

    def _parse_statement_expression(self, opening: c_parser.Token) -> c_ast.Node:
        mark, depth = self._mark(), len(self._scope_stack)
        try:
            return self._parse_substituted()
        except (c_parser.ParseError, MayBeTwiceError):
            del self._scope_stack[depth:]
            self._reset(mark)
        tokens = self._bracketed()
        what = f"{self._tok_coord(opening)}: a statement in an expression, GNU C's ({{ ... }})"
        self.first = self.first or c_parser.ParseError(what)
        return unread(tokens, what, self._tok_coord(opening))

    def _parse_substituted(self) -> c_ast.Node:
        """Return the value of ``({ T x = a; ... value; })``, its variables replaced by their first values."""
        self._expect("LPAREN")
        self._expect("LBRACE")
        self._push_scope()
        given: list[tuple[str, c_ast.Typename | None, c_ast.Node]] = []
        while self._peek().value in _TYPELESS or self._starts_declaration():
            given.append(self._parse_given())
        value = self._parse_expression()
        self._accept("SEMI")
        self._expect("RBRACE")
        self._expect("RPAREN")
        self._pop_scope()
        return substituted(given, value)

    def _parse_given(self) -> tuple[str, c_ast.Typename | None, c_ast.Node]:
        """Return name, type and first value of ``T x = a;``; no type where it is just that of the value."""
        kind, same = None, None
        self._accept("CONST")
        if self._peek().value in TYPEOF:
            self._advance()
            same = _words(self._bracketed())
        elif self._peek().value == "__auto_type":
            self._advance()
        else:
            kind = self._parse_type_name()
        name = self._expect("ID")
        self._expect("EQUALS")
        mark = self._mark()
        value = self._parse_assignment_expression()
        spelled = _words(self._tokens._buffer[mark : self._mark()])
        self._expect("SEMI")
        if same is not None and same != spelled:
            self._parse_error(f"before: {name.value}", self._tok_coord(name))
        self._add_identifier(name.value, None)
        return name.value, kind, value

    def _parse_conditional_expression(self) -> c_ast.Node:
        """Read ``a ?: b``, too, as ``a ? a : b``."""
        tested = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return tested
        short = self._peek_type() == "COLON" and not any(True for _ in writes(tested))
        then = copy.deepcopy(tested) if short else self._parse_expression()
        self._expect("COLON")
        return c_ast.TernaryOp(tested, then, self._parse_conditional_expression(), tested.coord)

    def _bracketed(self) -> list[c_parser.Token]:
        """Pass over what stands in brackets, which begins here, and return all its tokens."""
        tokens = [self._advance()]
        depth = 1
        while depth:
            tokens.append(self._advance())
            depth += _PAIRS.get(tokens[-1].type, 0)
            self._keep_regions(tokens[-1])
        return tokens

    def _keep_regions(self, token: c_parser.Token) -> None:
        if _is_of_region(token):
            self._parse_error(f"before: #pragma {token.value}", self._tok_coord(token))

    def _parse_block_item(self) -> c_ast.Node | list[c_ast.Node]:
        mark, depth = self._mark(), len(self._scope_stack)
        try:
            return super()._parse_block_item()
        except c_parser.ParseError as error:
            del self._scope_stack[depth:]
            tokens, what = self._skipped(mark, error), str(error)
        coord = self._tok_coord(tokens[0])
        opaque = [_opaque(name, coord) for name in self._declare(tokens)]
        return [unread(tokens, what, coord), *opaque]

    def _parse_external_declaration(self) -> list[c_ast.Node]:
        mark, depth = self._mark(), len(self._scope_stack)
        try:
            return list(super()._parse_external_declaration())
        except c_parser.ParseError as error:
            del self._scope_stack[depth:]
            self._declare(self._skipped(mark, error))
            return []

    def _declare(self, tokens: list[c_parser.Token]) -> list[str]:
        """Enter what an item may declare into the scope; return the names that are not those of types."""
        names = declared_in(tokens, self._starts_declaration(tokens[0]))
        is_type = tokens[0].type == "TYPEDEF"
        self._scope_stack[-1].update((name, is_type) for name in names)
        self._reset(self._mark())
        return [] if is_type else names

    def _skipped(self, mark: int, error: c_parser.ParseError) -> list[c_parser.Token]:
        """Pass over the item that begins at ``mark`` and return its tokens; raise ``error`` if that fails."""
        self._reset(mark)
        try:
            tokens = self._item()
        except c_parser.ParseError:
            raise (self.first or error) from error
        self.first = self.first or error
        return tokens

    def _item(self) -> list[c_parser.Token]:
        """Pass over one statement, declaration or definition, and return its tokens."""
        tokens: list[c_parser.Token] = []
        depth, body = 0, False
        while True:
            tokens.append(self._advance())
            token = tokens[-1]
            self._keep_regions(token)
            if not depth and token.type == "LBRACE":
                body = len(tokens) == 1 or tokens[-2].type in ("RPAREN", "ELSE", "DO")
            depth += _PAIRS.get(token.type, 0)
            if depth < 0:
                self._parse_error(f"before: {token.value}", self._tok_coord(token))
            ended = token.type == "SEMI" or (token.type == "RBRACE" and body and self._ends(tokens))
            if not depth and ended and self._peek_type() != "ELSE":
                return tokens

    def _ends(self, tokens: list[c_parser.Token]) -> bool:
        """Whether the item ends with the brace that was just closed."""
        following = self._peek_type()
        return following not in _GOES_ON and not (tokens[0].type == "DO" and following == "WHILE")


def _is_of_region(token: c_parser.Token) -> bool:
    """Whether ``token`` is what a pragma says with which a region begins or ends."""
    return token.type == "PPPRAGMASTR" and token.value.split()[:1] in ([word] for word in _REGION)


def _words(tokens: list[c_parser.Token]) -> list[str]:
    """Return what is spelled, without parentheses around all of it."""
    words = [token.value for token in tokens]
    while len(words) > 2 and words[0] == "(" and _closing(words) == len(words) - 1:
        words = words[1:-1]
    return words


def _closing(words: list[str]) -> int:
    depth = 0
    for place, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if not depth:
            return place
    return -1


def _opaque(name: str, coord: c_parser.Coord) -> c_ast.Decl:
    """Return a declaration of ``name`` with a type that has no model."""
    kind = c_ast.IdentifierType(["(not understood)"], coord)
    return c_ast.Decl(name, [], [], [], [], c_ast.TypeDecl(name, [], None, kind, coord), None, None, coord)
