"""What is wrong with a file, in one line: no TOML, an unknown key with the nearest known one, a value.

Robot, simulation and study files are all TOML that a model of tables describes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError

from gough.base.words import nearest
from gough.errors import FileError

DEEP_KEY = re.compile(
    r"""(?<![\w\\-])(?:(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.[ \t]*){8}"""
)
"""Dotted keys that no file has; what reads TOML takes kilobytes for each of their parts."""
LONG_NUMBER = re.compile(r"0[xob][0-9A-Fa-f_]{400}")
"""Whole numbers that take minutes to be told; those in decimals are refused by Python."""
Model = TypeVar("Model", bound=BaseModel)


def parsed(text: str, name: str, what: str, model: type[Model]) -> Model:
    """The tables of a file from its text; `what` is what such a file is called."""
    return checked(tables(text, name, what), name, model)


def tables(text: str, name: str, what: str) -> dict[str, Any]:
    """The TOML of a file, not looked at yet."""
    if (deep := DEEP_KEY.search(text)) is not None:
        raise FileError(f"{name}: not a {what}: a key nested too deep ({deep[0][:20]}…)")
    if (long := LONG_NUMBER.search(text)) is not None:
        raise FileError(f"{name}: not a {what}: the number {long[0][:20]}… has over 400 digits")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{name}: not TOML: {error}") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise FileError(f"{name}: a number that is not finite: {error}"[:200]) from None
    except RecursionError:
        raise FileError(f"{name}: not a {what}: brackets nested too deep") from None


def checked(data: Mapping[str, Any], name: str, model: type[Model]) -> Model:
    """The tables of a file from a dictionary."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise FileError(f"{name}: {explain(error, model)}") from None


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """One line on the first thing wrong, unknown keys before all else: they explain the rest."""
    first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    place, known = _place(model, first["loc"])
    key, context = ".".join(place)[:80], first.get("ctx", {})
    told = context.get("discriminator", "").strip("'")
    match first["type"]:
        case "extra_forbidden":
            hint = f"; the nearest known key is {nearest(place[-1], known)}" if known else ""
            return f"unknown key {key}{hint}"
        case "missing":
            return f"missing key {key}"
        case "union_tag_not_found":
            return f"missing key {key}.{told}"
        case "union_tag_invalid":
            wanted = context["expected_tags"].replace(", ", " or ")
            return f"{key}.{told} needs {wanted}"
        case "model_type" | "model_attributes_type":
            return f"{key} needs a table"
    message = first["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message


def _place(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[list[str], list[str]]:
    """The keys that lead to a value, and the keys that its table may have.

    A location of pydantic's also names the kind of table it took ("legs", "UPS", "lenght"), and of a
    key that may hold a table or several which of both it holds.
    """
    place: list[str] = []
    known: list[str] = []
    tables, any_key = [model], False
    forms: set[str] = set()
    for part in location:
        if part in forms:
            forms = set()
            continue
        if part in {tag for one in tables for tag in _tags(one)} and not any_key:
            tables = [one for one in tables if part in _tags(one)]
            continue
        place.append(str(part))
        known = [field.alias or name for one in tables for name, field in one.model_fields.items()]
        if any_key or isinstance(part, int):
            any_key = False
            continue
        kinds = [
            field.annotation
            for one in tables
            for name, field in one.model_fields.items()
            if part in (name, field.alias)
        ]
        any_key = any(get_origin(one) is dict for one in kinds)
        forms = {form for one in kinds for form in _forms(one)}
        tables = [table for one in kinds for table in _tables(one)]
    return place, known


def alternatives(kind: Any, data: Mapping[str, Any]) -> list[type[BaseModel]]:
    """Models of the tables in a type that data can be: of several kinds the one that it names."""
    found = [*dict.fromkeys(_tables(kind))]
    named = [one for one in found if {*_tags(one)} & {str(value) for value in data.values()}]
    return found if len(found) == 1 else named


def _tags(model: type[BaseModel]) -> list[Any]:
    """Texts by which a table says of which kind it is: kind = "UPS"."""
    kinds = [field.annotation for field in model.model_fields.values()]
    return [tag for one in kinds if get_origin(one) is Literal for tag in get_args(one)]


def _forms(kind: Any) -> Iterator[str]:
    """Names of the forms that a value of a type may have: of a table, of several tables."""
    for one in get_args(kind):
        if isinstance(one, Tag):
            yield one.tag
        yield from _forms(one)


def _tables(kind: Any) -> Iterator[type[BaseModel]]:
    """Models of the tables in a type: itself, of a list, of a dictionary, one of several."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for one in get_args(kind):
        yield from _tables(one)
