# make demo   align the sample pairs in an environment that has only what users install
# make test   run the tests in the development environment
# make lint   check style and types          make format   mend the style
# make screenshots   take those of the documents anew, in Chromium
# make clean  remove the environments

PYTHON ?= python3
DEV  := .venv
DEMO := .venv-demo
MINILM := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/otalign/minilm-l6

.PHONY: demo test lint format screenshots clean

demo: $(DEMO)/ready
	$(DEMO)/bin/python examples/minilm.py $(MINILM)
	$(DEMO)/bin/otalign align examples/pairs.tsv --model $(MINILM) --format terminal

test: $(DEV)/ready
	$(DEV)/bin/python -m pytest

lint: $(DEV)/ready
	$(DEV)/bin/ruff check
	$(DEV)/bin/ruff format --check
	$(DEV)/bin/pyright

format: $(DEV)/ready
	$(DEV)/bin/ruff check --fix --quiet || true
	$(DEV)/bin/ruff format

screenshots: $(DEV)/ready
	$(DEV)/bin/python -m tests.screenshots docs/figures

clean:
	rm -rf $(DEV) $(DEMO)

# Each environment is made anew when what it installs has changed.
$(DEV)/ready: EXTRAS := [dev]
$(DEMO)/ready: EXTRAS := [torch]
$(DEV)/ready $(DEMO)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".$(EXTRAS)"
	touch $@
