"""Hides a package of the development environment that compiles a grammar for seconds when it is imported.

Every process of Ray imports `jsonschema`, which imports it if it is there, for a format that Ray has no use
for.
"""

raise ImportError("hidden from the processes of tests")
