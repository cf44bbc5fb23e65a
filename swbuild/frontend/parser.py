"""pycparser's parser, with the scope that C gives to the names of parameters."""

from __future__ import annotations

from pycparser import c_ast, c_parser

__all__ = ["Parser"]


class Parser(c_parser.CParser):  # type: ignore[misc]  # pycparser has no types
    """Parses C11; a parameter hides a type of its name from where it is declared to the end of the list.

    ``double a[row][n]`` after ``int row`` has a size in its brackets, also where ``row`` is a type outside.
    """

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
            self._parse_error("a statement in an expression, GNU C's ({ ... })", self._tok_coord(opening))
        return super()._parse_primary_expression()
