"""From an arguments model to the plain JSON Schema that is published."""

from functools import cache
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, GetJsonSchemaHandler, JsonValue
from pydantic_core import CoreSchema, PydanticCustomError

T = TypeVar("T")
Schema = dict[str, JsonValue]


class _NeverNull:
    """Takes the null that stands for "absent" out of the published schema."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> Schema:
        schema: Schema = handler(core)
        options = schema.get("anyOf")
        if not isinstance(options, list):
            return schema
        kept = [option for option in options if option != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        only = kept[0]
        return (
            {**only, **rest}
            if len(kept) == 1 and isinstance(only, dict)
            else {**rest, "anyOf": kept}
        )


def _refuse_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "may be left out but not null")
    return value


Omittable = Annotated[T | None, BeforeValidator(_refuse_null), _NeverNull()]
"""An argument that may be absent (then `None`) and is never null: `path: Omittable[str] = None`."""


@cache
def published(args: type[BaseModel]) -> Schema:
    """The schema of `args` without titles, references, null defaults and the model's docstring.

    `required` is always there; `additionalProperties` only where the model forbids more.
    """
    schema: Schema = args.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    schema.pop("description", None)
    assert isinstance(definitions, dict)
    plain = _plain(schema, definitions)
    assert isinstance(plain, dict)
    return {"required": [], **plain, "properties": plain.get("properties", {})}


def _plain(node: JsonValue, definitions: Schema) -> JsonValue:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    target = node.get("$ref")
    if isinstance(target, str):
        node = {
            **_definition(definitions, target),
            **{k: v for k, v in node.items() if k != "$ref"},
        }
    return {
        key: _properties(value, definitions) if key == "properties" else _plain(value, definitions)
        for key, value in node.items()
        if key != "title" and not (key == "default" and value is None)
    }


def _properties(properties: JsonValue, definitions: Schema) -> JsonValue:
    """Names of properties are not keywords: one may be called `title`."""
    assert isinstance(properties, dict)
    return {name: _plain(schema, definitions) for name, schema in properties.items()}


def _definition(definitions: Schema, target: str) -> Schema:
    found = definitions[target.rsplit("/", 1)[-1]]
    assert isinstance(found, dict)
    return {key: value for key, value in found.items() if key != "description"}
