#!/usr/bin/env python3
"""Checks that one name of a namespace has one definition.

usage: check_definitions.py SOURCE_ROOT

C++ permits several definitions of a type, inline function or template only if they are the same. Otherwise the program is wrong
without a diagnostic. Two headers that define the same constant can't be included together. If a name has several definitions, this
program prints file:line of each and exits 1. Definitions in an anonymous namespace and static ones do not count.
"""

import collections
import re
import sys

import cxx_text

FOLDERS = ("include", "src", "kernels", "bindings", "tools", "bench", "tests/support")
HEADERS = (".h", ".hpp", ".cuh")
TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|['\w.])*|::|->|<=>|[=!<>+\-*/%&|^]=|\S")
TYPES = ("struct", "class", "union", "enum")
CLOSING = {"(": ")", "{": "}", "[": "]", "<": ">"}
# Words before parentheses that do not enclose a function's parameters.
NOT_FUNCTIONS = {"alignas", "decltype", "noexcept", "requires", "explicit", "__attribute__", "__launch_bounds__", "declspec", "sizeof"}


class Declaration(list):
    """The tokens of a declaration up to its end or its body, with parentheses, brackets and template heads taken out."""

    def __init__(self, tokens):
        self.parameters = None  # of a function
        self.name = None
        self.is_template = False
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token == "template" and tokens[at + 1 : at + 2] == ["<"]:
                self.is_template = True
                at = skip(tokens, at + 1)
            elif token in ("(", "["):
                end = skip(tokens, at)
                previous = self[-1] if self else ""
                if token == "(" and self.parameters is None and "=" not in self and is_word(previous) and previous not in NOT_FUNCTIONS:
                    self.parameters = tokens[at + 1 : end - 1]
                    self.name = previous
                    self.append("()")
                at = end
            else:
                self.append(token)
                at += 1

    def is_of_other_scope(self):
        """Whether the function is a member or an operator."""
        at = self.index("()") if "()" in self else 0
        return at >= 2 and (self[at - 2] in ("::", "~") or "operator" in self[:at])


def is_word(token):
    return bool(re.match(r"[A-Za-z_]", token))


def skip(tokens, at):
    """The place after the bracket that closes the one at `at`. Angle brackets count only outside all others."""
    opening = tokens[at]
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        if token == opening:
            depth += 1
        elif token == CLOSING[opening]:
            depth -= 1
            if depth == 0:
                return at + 1
        elif token in ("(", "{", "[") and opening == "<":
            at = skip(tokens, at)
            continue
        at += 1
    return at


def types_of(parameters):
    """The parameters of a function without their names and default values."""
    types, current, depth, skipping = [], [], 0, False
    for token in [*parameters, ","]:
        if token == "," and depth == 0:
            if len(current) > 1 and is_word(current[-1]) and current[-2] not in ("::", "const", "unsigned", "typename"):
                current.pop()
            types.append(" ".join(current))
            current, skipping = [], False
            continue
        depth += (token in "(<[{") - (token in ")>]}")
        skipping = skipping or (token == "=" and depth == 0)
        if not skipping:
            current.append(token)
    return ", ".join(types)


def definition(declaration, is_header):
    """The defined name, if one definition is permitted: a type, a variable, or a function with the types of its parameters."""
    words = [token for token in declaration if token not in ("inline", "constexpr", "static", "typedef", "extern")]
    if "static" in declaration or "friend" in declaration or "using" in declaration:
        return None
    if words and words[0] in TYPES:
        name = words[1:words.index(":")] if ":" in words else words[1:]
        name = [word for word in name if word not in (*TYPES, "final", "alignas", "()")]
        return name[0] if len(name) == 1 else None  # not a member's, not a specialization
    if declaration.parameters is not None:
        is_inline = is_header or declaration.is_template or "inline" in declaration or "constexpr" in declaration
        if not is_inline or declaration.is_of_other_scope() or "=" in declaration:
            return None
        return f"{declaration.name}({types_of(declaration.parameters)})"
    if "inline" in declaration or (is_header and ("constexpr" in declaration or "const" in declaration)):
        name = declaration[declaration.index("=") - 1] if "=" in declaration else declaration[-1]
        return name if is_word(name) and "extern" not in declaration else None
    return None


def definitions(text, is_header):
    """The scope, the name and the line of each definition of a file."""
    lines, tokens = [], []
    for number, line in enumerate(text.splitlines(), 1):
        found = TOKEN.findall(line)
        tokens += found
        lines += [number] * len(found)
    scopes, first, at = [], 0, 0  # first: of the declaration
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            head = [word for word in tokens[first:at] if word != "inline"]
            if head[:1] == ["namespace"]:
                scopes.append("".join(head[1:]))
                first = at = at + 1
                continue
            if head[:1] == ["extern"] and len(head) <= 3:
                scopes.append(None)
                first = at = at + 1
                continue
            declaration = Declaration(tokens[first:at])
            end = skip(tokens, at)
            is_function = declaration.parameters is not None and "=" not in declaration
            if is_function and ":" in declaration and is_word(tokens[at - 1]):  # a member's initializer
                tokens[at:end] = ["0"] * (end - at)
                continue
            name = definition(declaration, is_header)
            if name and "" not in scopes:
                yield "::".join(filter(None, scopes)), name, lines[first]
            at = end
            if is_function:
                first = at
                continue
            while at < len(tokens) and tokens[at] != ";":
                at = skip(tokens, at) if tokens[at] in ("(", "{", "[") else at + 1
            first = at = at + 1
        elif token == "}":
            if scopes:
                scopes.pop()
            first = at = at + 1
        elif token == ";":
            declaration = Declaration(tokens[first:at])
            if "=" in declaration and (name := definition(declaration, is_header)) and "" not in scopes:
                yield "::".join(filter(None, scopes)), name, lines[first]
            first = at = at + 1
        elif token in ("(", "["):
            at = skip(tokens, at)
        else:
            at += 1


def violations(root):
    found = collections.defaultdict(dict)
    for place, text in cxx_text.sources(root, FOLDERS):
        for scope, name, line in definitions(text, place.endswith(HEADERS)):
            found[scope, name].setdefault(place, line)
    for (scope, name), places in sorted(found.items()):
        if len(places) > 1:
            listed = ", ".join(f"{place}:{line}" for place, line in sorted(places.items()))
            yield f"{listed}: each defines {scope + '::' if scope else ''}{name}"


if __name__ == "__main__":
    sys.exit(cxx_text.check(violations, __doc__))
