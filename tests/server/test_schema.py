"""The API keeps to its own OpenAPI description, whatever schemathesis thinks of."""

import pytest

schemathesis = pytest.importorskip("schemathesis")
