# SPDX-License-Identifier: MIT
"""Conditions on nodes as text: `type == COMM_COLL_NODE and comm_size > 1_000_000`.

The grammar is a small part of Python's, read with Python's own parser and never run:

    condition:  condition "and" condition | condition "or" condition | "not" condition | "(" condition ")" | comparison
    comparison: operand (operator operand)+          chains as in 1 < x < 5
    operator:   == != < <= > >= in "not in"          "in" wants a tuple or list of values, or text in a name
    operand:    column | number | "text" | True | False | None

A column is `id`, `name`, `type`, `start_ns`, `duration_ns` or the name of an attribute. Types and collectives go by
their schema names, in quotes or without. A node without an attribute meets no comparison of it, but `x == None`.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from chakra_core._core import ChakraError, CollectiveType, NodeType, Trace

_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_NAMED: dict[str, dict[str, int]] = {
    "type": {kind.name: int(kind) for kind in NodeType},
    "comm_type": {kind.name: int(kind) for kind in CollectiveType},
}
_MOST_TEXT = 10_000


def rows_meeting(trace: Trace, condition: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mask by row: which nodes meet the condition.

    Raises:
        ChakraError: the condition is not of the grammar, or compares text with numbers.
    """
    if len(condition) > _MOST_TEXT:
        raise ChakraError(f"a condition of {len(condition):,} characters; at most {_MOST_TEXT:,} are read")
    try:
        tree = ast.parse(condition.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ChakraError(f"condition {condition!r}: {error}") from None
    try:
        return _Condition(trace, condition).mask(tree.body)
    except RecursionError:
        raise ChakraError(f"condition {condition!r} is nested too deep") from None


class _Column:
    """Values by row, and which are there. Text is compared once for each different string."""

    def __init__(self, name: str, values: Any, absent: Any, strings: list[str] | None = None) -> None:
        self.name = name
        self.values = values
        self.absent = absent
        self.strings = strings

    def compare(self, against: Callable[[Any], Any]) -> Any:
        if self.strings is None:
            met = against(self.values)
        else:
            of_string = np.fromiter((bool(against(text)) for text in self.strings), bool, len(self.strings))
            met = of_string[self.values] if len(of_string) else np.zeros(len(self.values), bool)
        return np.asarray(met, bool) & ~self.absent


class _Condition:
    def __init__(self, trace: Trace, text: str) -> None:
        self._trace = trace
        self._text = text

    def _refuse(self, node: ast.AST, problem: str) -> ChakraError:
        return ChakraError(f"condition {self._text!r}: {ast.unparse(node)}: {problem}")

    def mask(self, node: ast.expr) -> np.ndarray[Any, np.dtype[np.bool_]]:
        if isinstance(node, ast.BoolOp):
            combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            masks = [self.mask(value) for value in node.values]
            return np.asarray(combine.reduce(masks))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.mask(node.operand)
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            pairs = zip(operands, node.ops, operands[1:], strict=False)
            masks = [self._comparison(node, left, kind, right) for left, kind, right in pairs]
            return np.asarray(np.logical_and.reduce(masks))
        raise self._refuse(node, "is no comparison; write for example comm_size > 1000")

    def _comparison(self, whole: ast.expr, left: ast.expr, kind: ast.cmpop, right: ast.expr) -> Any:
        if isinstance(kind, (ast.In, ast.NotIn)):
            met = self._contained(whole, left, right)
            return ~met if isinstance(kind, ast.NotIn) else met
        compare = _OPERATORS.get(type(kind))
        if compare is None:
            raise self._refuse(whole, "this operator is not one of == != < <= > >= in, not in")
        one, other = self._operand(left), self._operand(right)
        if isinstance(one, str) and isinstance(other, _Column):
            one, other = self._values_for(other, [one])[0], other
        if isinstance(other, str) and isinstance(one, _Column):
            other = self._values_for(one, [other])[0]
        try:
            return self._compare(compare, one, other)
        except TypeError:
            raise self._refuse(whole, "text and numbers cannot be compared") from None

    def _compare(self, compare: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
        if isinstance(one, _Column) and isinstance(other, _Column):
            if one.strings is not None or other.strings is not None:
                texts = [
                    np.array(column.strings, object)[column.values] if column.strings is not None else column.values
                    for column in (one, other)
                ]
                return np.asarray(compare(*texts), bool) & ~one.absent & ~other.absent
            return np.asarray(compare(one.values, other.values), bool) & ~one.absent & ~other.absent
        if isinstance(one, _Column):
            return self._with_value(one, compare, other)
        if isinstance(other, _Column):
            return self._with_value(other, lambda value, constant: compare(constant, value), one)
        return np.full(len(self._trace), bool(compare(one, other)))

    def _with_value(self, column: _Column, compare: Callable[[Any, Any], Any], constant: Any) -> Any:
        if constant is None:
            if compare in (operator.eq, operator.ne):
                return column.absent.copy() if compare is operator.eq else ~column.absent
            raise TypeError
        is_text = column.strings is not None
        if is_text != isinstance(constant, str) and column.values.dtype != object:
            raise TypeError
        return column.compare(lambda value: compare(value, constant))

    def _contained(self, whole: ast.expr, left: ast.expr, right: ast.expr) -> Any:
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            column = self._operand(left)
            if not isinstance(column, _Column):
                raise self._refuse(whole, "before `in (...)` stands a column")
            met = np.zeros(len(self._trace), bool)
            for item in right.elts:
                met |= self._comparison(whole, left, ast.Eq(), item)
            return met
        text, column = self._operand(left), self._operand(right)
        if not isinstance(text, str) or not isinstance(column, _Column) or column.strings is None:
            raise self._refuse(whole, 'write "text" in name, or column in (value, value)')
        return column.compare(lambda value: text in value)

    def _operand(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, type(None))):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._operand(node.operand)
            if isinstance(value, (int, float)):
                return -value
        if isinstance(node, ast.Name):
            is_kind = any(node.id in names for names in _NAMED.values())
            return node.id if is_kind else self._column(node)
        raise self._refuse(node, "is neither a column nor a plain value")

    def _values_for(self, column: _Column, texts: list[str]) -> list[Any]:
        """Turn schema names into numbers for the columns that hold such."""
        names = _NAMED.get(column.name)
        if names is None or column.strings is not None:
            return list(texts)
        for text in texts:
            if text not in names:
                raise ChakraError(f"condition {self._text!r}: {column.name} has no kind {text!r}")
        return [names[text] for text in texts]

    def _column(self, node: ast.Name) -> _Column:
        trace, name = self._trace, node.id
        present = np.zeros(len(trace), bool)
        plain = {"id": "ids", "type": "types", "start_ns": "start_ns", "duration_ns": "duration_ns"}
        if name in plain:
            return _Column(name, getattr(trace, plain[name]), present)
        if name == "name":
            return _Column(name, trace.name_ids, present, trace.strings)
        if name == "pg_name":
            return _Column(name, trace.pg_ids.filled(0), np.ma.getmaskarray(trace.pg_ids), trace.strings)
        values = trace.attr(name)
        absent = np.ma.getmaskarray(values)
        if absent.all() and len(trace):
            raise self._refuse(node, "no node has an attribute of this name")
        if values.dtype == object and all(isinstance(value, str) for value in values.compressed()):
            strings, positions = np.unique(values.filled(""), return_inverse=True)
            return _Column(name, positions, absent, strings.tolist())
        return _Column(name, values.data, absent)
