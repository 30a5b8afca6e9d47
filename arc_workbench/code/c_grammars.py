"""What declares something in C and C++, where the name lies deep inside a declarator."""

from dataclasses import replace

from arc_workbench.code.nodes import Grammar, Node, Rule, at, below

MAX_DECLARATORS = 100
TYPES = {
    "class_specifier": "class",
    "enum_specifier": "enum",
    "struct_specifier": "struct",
    "union_specifier": "union",
}


def _declarators(node: Node) -> list[Node]:
    """The declarators from the outermost to the name itself."""
    found: list[Node] = []
    inner = node.child_by_field_name("declarator")
    while inner is not None and len(found) < MAX_DECLARATORS:
        found.append(inner)
        if inner.type == "operator_cast":
            break
        following = inner.child_by_field_name("declarator")
        if following is None and inner.type.endswith("_declarator"):
            following = next(reversed(inner.named_children), None)
        inner = following
    return found


def _name(node: Node) -> Node | tuple[int, int] | None:
    found = _declarators(node)
    if not found:
        return None
    name = found[-1]
    parameters = name.child_by_field_name("declarator")  # only `operator bool()` still has some
    return (name.start_byte, parameters.start_byte) if parameters is not None else name


def _definition(node: Node) -> Node | None:
    return _initializers(node) or node.child_by_field_name("body")


_initializers = below("field_initializer_list")


def _listed_value(node: Node) -> Node | None:
    """The braces that a variable begins with."""
    value = at("declarator", "value")(node)
    return value if value is not None and value.type == "initializer_list" else None


def _is_function(node: Node) -> bool:
    """Whether a function is declared, and not a pointer to one."""
    types = [each.type for each in _declarators(node)]
    if "operator_cast" in types:
        return True
    if "function_declarator" not in types:
        return False
    after = types[types.index("function_declarator") + 1 :]
    return "parenthesized_declarator" not in after


def _declared(node: Node) -> str:
    return "prototype" if _is_function(node) else "variable"


def _member(node: Node) -> str:
    return "method" if _is_function(node) else ""


def _defined_type(node: Node) -> Node | None:
    """The class, struct, union or enum that a member declaration defines."""
    found = node.child_by_field_name("type")
    return found if found is not None and found.child_by_field_name("body") else None


def _field(node: Node) -> str:
    defined = _defined_type(node)
    return TYPES.get(defined.type, "") if defined is not None else _member(node)


def _field_name(node: Node) -> Node | tuple[int, int] | None:
    defined = _defined_type(node)
    return (defined and defined.child_by_field_name("name")) or _name(node)


def _kind_with_body(kind: str) -> Rule:
    """Only where it is defined, not where it is announced."""

    def told(node: Node) -> str:
        return kind if node.child_by_field_name("body") is not None else ""

    return Rule(told)


C = {
    "declaration": Rule(_declared, inside=_member, name=_name, body=_listed_value),
    "enum_specifier": _kind_with_body("enum"),
    "function_definition": Rule("function", inside="method", name=_name, body=_definition),
    "preproc_function_def": Rule("macro", inside="", body=at("value")),
    "struct_specifier": _kind_with_body("struct"),
    "type_definition": Rule("typedef", name=_name, body=at("type", "body")),
    "union_specifier": _kind_with_body("union"),
}
CPP = {
    **C,
    "alias_declaration": Rule("type"),
    **{type_: replace(_kind_with_body(kind), members="deeper") for type_, kind in TYPES.items()},
    "concept_definition": Rule("concept"),
    "field_declaration": Rule("", inside=_field, name=_field_name, body=at("type", "body")),
    "namespace_definition": Rule("namespace", members="level"),
}
PREPROCESSOR = {"preproc_elif", "preproc_else", "preproc_if", "preproc_ifdef"}
THROUGH = frozenset({*PREPROCESSOR, "declaration_list", "linkage_specification"})

C_GRAMMARS = {
    "c": Grammar("tree_sitter_c", C, THROUGH),
    "cpp": Grammar(
        "tree_sitter_cpp",
        CPP,
        THROUGH | {"template_declaration"},
        heads=frozenset({"template_declaration"}),
    ),
}
