"""The contract has all routes, statuses and problems, each with words, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from flask import Flask

from app import create_lab, create_shop
from app.config import Settings
from app.domain import HostsDiffer, LockBusy, LockLost, ShopError, UnknownDeadLetter
from app.domain.errors import Away
from app.lab.contract import LABS
from app.lab.contract import SIDE as LAB
from app.server.answers import PROBLEMS, kind, type_of
from app.server.contract.document import IMPLIED, ApiSide
from app.server.contract.meanings import MEANINGS
from app.server.outcomes import OUTCOMES, named
from app.shop.contract import SIDE as SHOP

# Errors that no view raises by that name: it raises subclasses, or has words of its own.
ELSEWHERE = {Away, HostsDiffer, LockBusy, LockLost, UnknownDeadLetter}


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings without store or database: the contract needs none."""
    var = str(tmp_path_factory.mktemp("var"))
    return Settings(redis_url="redis://127.0.0.1:1/0", var_dir=var)


@pytest.fixture(scope="module")
def shop(nowhere: Settings) -> Flask:
    return create_shop(nowhere)


@pytest.fixture(scope="module")
def lab(nowhere: Settings) -> Flask:
    return create_lab(nowhere)


@pytest.fixture(scope="module", params=["shop", "lab"])
def app(request: pytest.FixtureRequest) -> Flask:
    made: Flask = request.getfixturevalue(request.param)
    return made


@pytest.fixture(scope="module")
def side(app: Flask, shop: Flask) -> ApiSide:
    return SHOP if app is shop else LAB


@pytest.fixture(scope="module")
def document(app: Flask) -> dict[str, Any]:
    answer = app.test_client().get("/openapi.json", headers={"Accept-Language": "en"})
    assert answer.mimetype == "application/json"
    found: dict[str, Any] = answer.get_json()
    return found


def test_every_route_has_an_operation_and_a_group(app: Flask, side: ApiSide) -> None:
    routes = {rule.endpoint for rule in app.url_map.iter_rules()}
    plain = {name for name in routes if "operation" not in app.view_functions[name].__dict__}
    assert plain == set(), "decorate the view with an Operation"
    assert {name.partition(".")[0] for name in routes} == side.groups.keys()


def test_every_method_of_a_route_is_there(app: Flask, document: dict[str, Any]) -> None:
    there = {
        (operation["operationId"], method.upper())
        for path in document["paths"].values()
        for method, operation in path.items()
    }
    assert there == {
        (rule.endpoint, method)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - IMPLIED
    }


def errors() -> set[type[ShopError]]:
    """Return the domain's errors."""
    found: set[type[ShopError]] = set()
    left = [ShopError]
    while left:
        found |= (below := set(left.pop().__subclasses__()))
        left += below
    return {each for each in found if each.__module__.startswith("app.domain")}


def test_every_error_is_a_problem_with_a_meaning() -> None:
    assert errors() - PROBLEMS.keys() - ELSEWHERE == set(), "add it: app/server/answers.py"
    known = {kind(error) for error in PROBLEMS} | {named(outcome) for outcome in OUTCOMES}
    assert known - MEANINGS.keys() == set(), "say what it means: app/server/contract/meanings.py"
    assert MEANINGS.keys() - known == set(), "nobody answers with it"


def test_every_problem_is_answered_by_somebody(shop: Flask, lab: Flask) -> None:
    shown = set()
    for app in (shop, lab):
        document = app.extensions["contract"]()
        shown |= {name for name in document["components"]["schemas"] if "problem." in name}
    named_ = {f"problem.{name}" for name in MEANINGS.keys() | LABS.keys()}
    assert named_ - shown == set(), "no operation names it"


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    schemathesis.openapi.from_dict(document).validate()


def all_of(node: Any, name: str, path: str = "#") -> Iterator[tuple[str, Any]]:
    """Yield every value of that name, with its path."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == name:
                yield f"{path}/{key}", value
            yield from all_of(value, name, f"{path}/{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from all_of(value, name, f"{path}/{number}")


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def test_everything_has_words(document: dict[str, Any]) -> None:
    for operation in operations(document):
        assert operation["summary"], operation
        for parameter in operation.get("parameters", []):
            assert "$ref" in parameter or parameter["description"]
        for status, answer in operation["responses"].items():
            assert answer["description"], (operation["operationId"], status)
    for group in ("headers", "parameters"):
        assert all(each["description"] for each in document["components"][group].values())
    for name, schema in document["components"]["schemas"].items():
        plain = "enum" in schema  # its values explain it
        assert plain or schema.get("description"), name


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for where, reference in all_of(document, "$ref"):
        there: Any = document
        for part in reference.removeprefix("#/").split("/"):
            assert part in there, (where, reference)
            there = there[part]


def test_every_link_says_all_that_its_operation_needs(document: dict[str, Any]) -> None:
    known = {operation["operationId"]: operation for operation in operations(document)}
    links = [link for _, links in all_of(document, "links") for link in links.values()]
    assert links
    for link in links:
        parameters = known[link["operationId"]].get("parameters", [])
        names = {each["name"] for each in parameters if "$ref" not in each}
        needed = {each["name"] for each in parameters if each.get("required")}
        assert needed <= link["parameters"].keys() <= names, link


def test_examples_are_what_the_schemas_say(document: dict[str, Any]) -> None:
    def fits(schema: Any, example: Any) -> bool:
        whole = {**schema, "components": document["components"]}
        return bool(jsonschema_rs.Draft202012Validator(whole).is_valid(example))

    seen = 0
    for operation in operations(document):
        kinds = [*all_of(operation, "content"), ("parameters", {})]
        for where, content in kinds:
            for each in content.values():
                if "example" in each:
                    seen += 1
                    assert fits(each["schema"], each["example"]), (operation["operationId"], where)
        for parameter in operation.get("parameters", []):
            if "example" in parameter:
                seen += 1
                assert fits(parameter["schema"], parameter["example"]), parameter
    assert seen > 10


def test_every_type_is_known_by_an_address_of_ours(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        if name.startswith("problem."):
            kind_ = name.removeprefix("problem.")
            wanted = "about:blank" if kind_.isdigit() else type_of(kind_)
            assert schema["properties"]["type"] == {"const": wanted}


def test_the_key_comes_first(shop: Flask) -> None:
    buy = shop.extensions["contract"]()["paths"]["/buy/{item}"]["post"]
    assert buy["parameters"][0] == {"$ref": "#/components/parameters/Idempotency-Key"}


def test_it_is_in_the_visitors_language(shop: Flask) -> None:
    browser = shop.test_client()
    chinese = browser.get("/openapi.json", headers={"Accept-Language": "zh"}).get_json()
    english = browser.get("/openapi.json", headers={"Accept-Language": "en"}).get_json()
    assert chinese["paths"]["/items"]["get"]["summary"] != "The shelf"
    assert english["paths"]["/items"]["get"]["summary"] == "The shelf"


def test_the_page_has_every_operation_and_every_problem(
    app: Flask, document: dict[str, Any]
) -> None:
    page = app.test_client().get("/contract", headers={"Accept": "text/html"}).text
    for operation in operations(document):
        assert f'id="{operation["operationId"]}"' in page
    for where in document["components"]["schemas"]:
        kind_ = where.removeprefix("problem.")
        if where != kind_ and not kind_.isdigit():
            assert f'id="{kind_}"' in page, "the address of its type leads nowhere"
