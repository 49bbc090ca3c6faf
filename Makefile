# make demo   run the main job in an environment that has only what users install
# make test   run the tests in the development environment
# make lint   check style and types          make format   mend the style
# make clean  remove the environments

PYTHON ?= python3
DEV  := .venv
DEMO := .venv-demo

.PHONY: demo test lint format clean

demo: $(DEMO)/ready
	$(DEMO)/bin/python examples/transport.py

test: $(DEV)/ready
	$(DEV)/bin/python -m pytest

lint: $(DEV)/ready
	$(DEV)/bin/ruff check
	$(DEV)/bin/ruff format --check
	$(DEV)/bin/pyright

format: $(DEV)/ready
	$(DEV)/bin/ruff check --fix --quiet || true
	$(DEV)/bin/ruff format

clean:
	rm -rf $(DEV) $(DEMO)

# Each environment is made anew when what it installs has changed.
$(DEV)/ready: EXTRAS := [dev,exact,torch]
$(DEV)/ready $(DEMO)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".$(EXTRAS)"
	touch $@
