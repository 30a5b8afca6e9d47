"""What declares something in the languages that have a grammar, C and C++ apart."""

from arc_workbench.code.nodes import Finder, Grammar, Node, Rule, at, below, nothing, span

CLASS = Rule("class", members="deeper")
INTERFACE = Rule("interface", members="deeper")
ENUM = Rule("enum", members="deeper")
STRUCT = Rule("struct", members="deeper")
NAMESPACE = Rule("namespace", members="level")
FUNCTION = Rule("function", inside="method")
METHOD = Rule("method")
CONSTRUCTOR = Rule("constructor")
TYPE = Rule("type", brief=True)


# ---- JavaScript and TypeScript -------------------------------------------------------------------

JS_FUNCTIONS = {"arrow_function", "function_expression", "generator_function", "function"}


def _js_value(*path: str) -> Finder:
    """The value on the right, where that is a function or a class."""
    right = at(*path)

    def find(node: Node) -> Node | None:
        value = right(node)
        return value if value is not None and value.type in {*JS_FUNCTIONS, "class"} else None

    return find


def _js_kind(value: Finder, otherwise: str) -> "Rule":
    def kind(node: Node) -> str:
        found = value(node)
        if found is None:
            return otherwise
        return "class" if found.type == "class" else "function"

    def body(node: Node) -> Node | None:
        found = value(node)
        return at("body")(found) if found is not None else None

    def inside(node: Node) -> str:
        return "method" if kind(node) == "function" else ""

    return Rule(kind, inside=inside, body=body, brief=True)


_declarator = below("variable_declarator")


def _declared_value(node: Node) -> Node | None:
    declarator = _declarator(node)
    return _js_value("value")(declarator) if declarator is not None else None


def _js_variable(word: str) -> Rule:
    base = _js_kind(_declared_value, word)

    def kind(node: Node) -> str:
        declarator = _declarator(node)
        call = at("value", "function")(declarator) if declarator is not None else None
        if call is not None and call.end_byte - call.start_byte == len("require"):
            return ""  # an import
        first = node.child(0).type
        found = base.kind_of(node, 0)
        return first if found == word and first in {"const", "let", "var"} else found

    def name(node: Node) -> Node | None:
        declarator = _declarator(node)
        return declarator.child_by_field_name("name") if declarator is not None else None

    return Rule(kind, inside="", name=name, body=base.body, brief=True)


_assigned = _js_kind(_js_value("right"), "")
_field = _js_kind(_js_value("value"), "")

JAVASCRIPT = {
    "arrow_function": Rule("function", name=nothing, unnamed="default"),
    "assignment_expression": Rule(
        _assigned.kind, inside="", name=at("left"), body=_assigned.body, brief=True
    ),
    "class": Rule("class", unnamed="default", members="deeper"),
    "class_declaration": CLASS,
    "field_definition": Rule(
        "", inside=_field.inside, name=at("property"), body=_field.body, brief=True
    ),
    "function_declaration": FUNCTION,
    "function_expression": Rule("function", unnamed="default"),
    "generator_function_declaration": FUNCTION,
    "lexical_declaration": _js_variable("variable"),
    "method_definition": METHOD,
    "variable_declaration": _js_variable("variable"),
}
TYPESCRIPT = {
    **JAVASCRIPT,
    "abstract_class_declaration": CLASS,
    "abstract_method_signature": METHOD,
    "enum_declaration": ENUM,
    "function_signature": FUNCTION,
    "interface_declaration": INTERFACE,
    "internal_module": NAMESPACE,
    "method_signature": METHOD,
    "module": NAMESPACE,
    "public_field_definition": Rule("", inside=_field.inside, body=_field.body, brief=True),
    "type_alias_declaration": TYPE,
}
JS_THROUGH = frozenset(
    {"ambient_declaration", "export_statement", "expression_statement", "statement_block"}
)
JS_HEADS = frozenset({"ambient_declaration", "export_statement"})


# ---- Go ------------------------------------------------------------------------------------------


def _go_kind(node: Node) -> str:
    declared = node.child_by_field_name("type")
    kinds = {"struct_type": "struct", "interface_type": "interface"}
    return kinds.get(declared.type, "type") if declared is not None else "type"


GO_TYPE = Rule(
    _go_kind, word="type ", body=nothing, brief=True, members="deeper", holder=at("type")
)
GO = {
    "const_spec": Rule("const", word="const ", brief=True),
    "function_declaration": FUNCTION,
    "method_declaration": METHOD,
    "method_elem": METHOD,
    "type_alias": GO_TYPE,
    "type_spec": GO_TYPE,
    "var_spec": Rule("var", word="var ", brief=True),
}


# ---- Rust ----------------------------------------------------------------------------------------


def _implemented(node: Node) -> tuple[int, int] | None:
    first, last = at("trait")(node), at("type")(node)
    return span(first or last, last) if last is not None else None


RUST = {
    "associated_type": TYPE,
    "const_item": Rule("const", brief=True),
    "enum_item": Rule("enum"),
    "function_item": FUNCTION,
    "function_signature_item": FUNCTION,
    "impl_item": Rule("impl", name=_implemented, members="deeper"),
    "macro_definition": Rule("macro", body=below("macro_rule")),
    "mod_item": Rule("module", members="level"),
    "static_item": Rule("static", brief=True),
    "struct_item": Rule("struct"),
    "trait_item": Rule("trait", members="deeper"),
    "type_item": TYPE,
    "union_item": Rule("union"),
}


# ---- Java, Kotlin, C# ----------------------------------------------------------------------------

JAVA = {
    "annotation_type_declaration": Rule("annotation"),
    "class_declaration": CLASS,
    "compact_constructor_declaration": CONSTRUCTOR,
    "constructor_declaration": CONSTRUCTOR,
    "enum_declaration": ENUM,
    "interface_declaration": INTERFACE,
    "method_declaration": FUNCTION,
    "record_declaration": Rule("record", members="deeper"),
}

_kotlin_body = below("class_body|enum_class_body|function_body|block")


def _kotlin_class(node: Node) -> str:
    body = _kotlin_body(node)
    if body is not None and body.type == "enum_class_body":
        return "enum"
    return "interface" if any(child.type == "interface" for child in node.children) else "class"


KOTLIN_FUNCTION = Rule("function", inside="method", body=_kotlin_body)
KOTLIN = {
    "class_declaration": Rule(_kotlin_class, body=_kotlin_body, members="deeper"),
    "function_declaration": KOTLIN_FUNCTION,
    "object_declaration": Rule("object", body=_kotlin_body, members="deeper"),
    "property_declaration": Rule(
        "property", name=below("variable_declaration", "identifier"), body=nothing, brief=True
    ),
    "secondary_constructor": Rule(
        "constructor", name=nothing, unnamed="constructor", body=_kotlin_body
    ),
    "type_alias": Rule("type", name=at("type"), brief=True),
}


def _accessors(node: Node) -> Node | None:
    return at("accessors")(node) or at("value")(node)


CSHARP = {
    "class_declaration": CLASS,
    "constructor_declaration": CONSTRUCTOR,
    "conversion_operator_declaration": Rule("operator", name=at("type")),
    "delegate_declaration": Rule("delegate"),
    "destructor_declaration": Rule("destructor"),
    "enum_declaration": Rule("enum"),
    "event_declaration": Rule("event", body=at("accessors")),
    "event_field_declaration": Rule(
        "event", name=below("variable_declaration", "variable_declarator"), brief=True
    ),
    "file_scoped_namespace_declaration": Rule("namespace", brief=True),
    "indexer_declaration": Rule("indexer", name=nothing, unnamed="this", body=_accessors),
    "interface_declaration": INTERFACE,
    "local_function_statement": FUNCTION,
    "method_declaration": METHOD,
    "namespace_declaration": NAMESPACE,
    "operator_declaration": Rule("operator", name=at("operator")),
    "property_declaration": Rule("property", body=_accessors),
    "record_declaration": Rule("record", members="deeper"),
    "struct_declaration": STRUCT,
}


# ---- Ruby and PHP --------------------------------------------------------------------------------


def _ruby_constant(node: Node) -> str:
    left = node.child_by_field_name("left")
    return "constant" if left is not None and left.type == "constant" else ""


RUBY = {
    "assignment": Rule(_ruby_constant, inside="", name=at("left"), brief=True),
    "class": Rule("class", brief=True, members="deeper"),
    "method": Rule("method", brief=True),
    "module": Rule("module", brief=True, members="level"),
    "singleton_method": Rule("method", brief=True),
}
PHP = {
    "class_declaration": CLASS,
    "const_declaration": Rule("const", inside="", name=below("const_element", "name"), brief=True),
    "enum_declaration": ENUM,
    "function_definition": FUNCTION,
    "interface_declaration": INTERFACE,
    "method_declaration": METHOD,
    "namespace_definition": Rule("namespace", members="level", brief=True),
    "trait_declaration": Rule("trait", members="deeper"),
}


GRAMMARS = {
    "csharp": Grammar(
        "tree_sitter_c_sharp", CSHARP, frozenset({"declaration_list", "global_statement"})
    ),
    "go": Grammar(
        "tree_sitter_go",
        GO,
        frozenset({"const_declaration", "type_declaration", "var_declaration", "var_spec_list"}),
    ),
    "java": Grammar("tree_sitter_java", JAVA, frozenset({"enum_body_declarations"})),
    "javascript": Grammar("tree_sitter_javascript", JAVASCRIPT, JS_THROUGH, JS_HEADS),
    "kotlin": Grammar("tree_sitter_kotlin", KOTLIN, frozenset({"class_body", "companion_object"})),
    "php": Grammar(
        "tree_sitter_php",
        PHP,
        frozenset({"compound_statement", "else_clause", "if_statement"}),
        function="language_php",
    ),
    "ruby": Grammar("tree_sitter_ruby", RUBY, frozenset({"body_statement", "singleton_class"})),
    "rust": Grammar("tree_sitter_rust", RUST, frozenset({"declaration_list", "foreign_mod_item"})),
    "tsx": Grammar(
        "tree_sitter_typescript", TYPESCRIPT, JS_THROUGH, JS_HEADS, function="language_tsx"
    ),
    "typescript": Grammar(
        "tree_sitter_typescript", TYPESCRIPT, JS_THROUGH, JS_HEADS, function="language_typescript"
    ),
}
