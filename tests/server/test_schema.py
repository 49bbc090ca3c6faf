"""The API conforms to its OpenAPI description, checked by schemathesis."""

import json
import re

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

OPERATIONS = [
    ("/v1/align", "POST"),
    *((path, "GET") for path in ("/v1/aligner", "/healthz", "/readyz", "/metrics")),
]


def test_every_operation_is_described(server):
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    found = [(one.ok().path, one.ok().method.upper()) for one in schema.get_all_operations()]
    assert sorted(found) == sorted(OPERATIONS)


def test_every_reference_leads_to_a_schema(server):
    description = server.get("/openapi.json").json
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description)))
    assert "ProblemDetails" in references
    assert references <= description["components"]["schemas"].keys()


@pytest.mark.hypothesis
@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_answer_is_as_described(server, path, method, mode):
    """What fits the description is answered, what does not is refused, and either looks as described."""
    operation = schemathesis.openapi.from_url(f"{server.url}/openapi.json")[path][method]
    if mode == GenerationMode.NEGATIVE and not operation.body:
        pytest.skip("nothing can be wrong with a request that says nothing")

    @given(operation.as_strategy(generation_mode=mode))
    @settings(suppress_health_check=list(HealthCheck))
    def answers(case):
        case.call_and_validate()

    answers()
