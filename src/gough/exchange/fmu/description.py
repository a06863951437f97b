"""The model description of an FMU: modelDescription.xml of FMI 2.0 and 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from gough.base.version import VERSION
from gough.exchange.fmu.variables import Variable, Variables

UNITS: dict[str, dict[str, int]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "kg": {"kg": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "N.s/m": {"kg": 1, "s": -1},
    "N.m.s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "kg.m2": {"kg": 1, "m": 2},
    "W": {"kg": 1, "m": 2, "s": -3},
}
TOLERANCE = 1e-9
"""Relative, of the integrator, unless an importer says otherwise."""


class Description(NamedTuple):
    """What the two versions of the XML have in common."""

    name: str
    identifier: str
    """Of the binary, and of functions in C."""
    about: str
    token: str
    variables: Variables
    sources: Sequence[str]


def _text(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"


def _units(root: ElementTree.Element, units: set[str]) -> None:
    if not units:
        return
    definitions = ElementTree.SubElement(root, "UnitDefinitions")
    for unit in (one for one in UNITS if one in units):
        element = ElementTree.SubElement(definitions, "Unit", name=unit)
        ElementTree.SubElement(
            element, "BaseUnit", {base: str(p) for base, p in UNITS[unit].items()}
        )


def _frame(root: ElementTree.Element, model: Description, with_time: bool) -> None:
    """Units, categories of messages and the default experiment."""
    used = {one.unit for one in model.variables.each[0 if with_time else 1 :] if one.unit}
    _units(root, used)
    categories = ElementTree.SubElement(root, "LogCategories")
    for name, told in (
        ("logStatusDiscard", "the robot has no answer here"),
        ("logStatusError", "what cannot be done"),
    ):
        ElementTree.SubElement(categories, "Category", name=name, description=told)
    ElementTree.SubElement(
        root, "DefaultExperiment", startTime="0", stopTime="1", tolerance=repr(TOLERANCE)
    )


def _attributes(one: Variable, exact: bool) -> dict[str, str]:
    """What a variable is."""
    kind = {"parameter": "fixed"}.get(one.causality, "continuous")
    found = {"causality": one.causality, "variability": kind}
    if one.causality == "input":
        return found
    if exact:
        found["initial"] = "exact"
    elif one.causality != "independent":
        found["initial"] = "calculated"
    return found


VARIABLE_STEPS = {"canHandleVariableCommunicationStepSize": "true"}
"""What a co-simulation says of its steps, in either version of the standard."""


def fmi2(model: Description) -> bytes:
    """modelDescription.xml of FMI 2.0: co-simulation and model exchange."""
    root = ElementTree.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=model.name,
        guid=model.token,
        description=model.about,
        generationTool=f"gough {VERSION}",
        variableNamingConvention="structured",
        numberOfEventIndicators="0",
    )
    for interface, able in (
        ("ModelExchange", {"completedIntegratorStepNotNeeded": "true"}),
        ("CoSimulation", VARIABLE_STEPS),
    ):
        element = ElementTree.SubElement(
            root,
            interface,
            {
                "modelIdentifier": model.identifier,
                "canGetAndSetFMUstate": "true",
                "canSerializeFMUstate": "true",
                **able,
            },
        )
        files = ElementTree.SubElement(element, "SourceFiles")
        for name in model.sources:
            ElementTree.SubElement(files, "File", name=name)
    _frame(root, model, with_time=False)
    listed = ElementTree.SubElement(root, "ModelVariables")
    each = model.variables.each
    for place, one in enumerate(each[1:], start=1):
        exact = one.start is not None
        element = ElementTree.SubElement(
            listed, "ScalarVariable", name=one.name, valueReference=str(place)
        )
        for name, value in _attributes(one, exact).items():
            element.set(name, value)
        if one.description:
            element.set("description", one.description)
        real = ElementTree.SubElement(element, "Real")
        if one.start is not None:
            real.set("start", repr(one.start))
        if one.unit:
            real.set("unit", one.unit)
        if one.rate_of is not None:
            real.set("derivative", str(one.rate_of))  # an index from 1 among those listed: no time
    structure = ElementTree.SubElement(root, "ModelStructure")
    outputs = [i for i, one in enumerate(each) if one.causality == "output"]
    rates = [i for i, one in enumerate(each) if one.rate_of is not None]
    found = [i for i in range(1, len(each)) if _unknown(each[i])]
    for name, places in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", found)):
        if places:
            element = ElementTree.SubElement(structure, name)
            for place in places:
                ElementTree.SubElement(element, "Unknown", index=str(place))
    return _text(root)


def _unknown(one: Variable) -> bool:
    """Whether it is computed at the start: an output, a rate, or a state without a start value."""
    return one.start is None and (one.causality == "output" or one.causality == "local")


def fmi3(model: Description) -> bytes:
    """modelDescription.xml of FMI 3.0: co-simulation and model exchange."""
    root = ElementTree.Element(
        "fmiModelDescription",
        fmiVersion="3.0",
        modelName=model.name,
        instantiationToken=model.token,
        description=model.about,
        generationTool=f"gough {VERSION}",
        variableNamingConvention="structured",
    )
    for interface, able in (
        ("ModelExchange", {"needsCompletedIntegratorStep": "false"}),
        ("CoSimulation", VARIABLE_STEPS),
    ):
        ElementTree.SubElement(
            root,
            interface,
            {
                "modelIdentifier": model.identifier,
                "canGetAndSetFMUState": "true",
                "canSerializeFMUState": "true",
                **able,
            },
        )
    _frame(root, model, with_time=True)
    listed = ElementTree.SubElement(root, "ModelVariables")
    each = model.variables.each
    for place, one in enumerate(each):
        exact = one.start is not None
        element = ElementTree.SubElement(
            listed, "Float64", name=one.name, valueReference=str(place)
        )
        for name, value in _attributes(one, exact).items():
            element.set(name, value)
        if one.description:
            element.set("description", one.description)
        if one.unit:
            element.set("unit", one.unit)
        if one.start is not None:
            element.set("start", repr(one.start))
        if one.rate_of is not None:
            element.set("derivative", str(one.rate_of))
    structure = ElementTree.SubElement(root, "ModelStructure")
    for name, wanted in (
        ("Output", lambda one: one.causality == "output"),
        ("ContinuousStateDerivative", lambda one: one.rate_of is not None),
        ("InitialUnknown", _unknown),
    ):
        for place, one in enumerate(each):
            if wanted(one):
                ElementTree.SubElement(structure, name, valueReference=str(place))
    return _text(root)


def build_description(model: Description) -> bytes:
    """sources/buildDescription.xml of FMI 3.0."""
    root = ElementTree.Element("fmiBuildDescription", fmiVersion="3.0")
    built = ElementTree.SubElement(root, "BuildConfiguration", modelIdentifier=model.identifier)
    files = ElementTree.SubElement(built, "SourceFileSet", language="C99")
    for name in model.sources:
        ElementTree.SubElement(files, "SourceFile", name=name)
    ElementTree.SubElement(built, "Library", name="m")
    return _text(root)
