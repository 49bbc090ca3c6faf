# make demo   align the sample pairs in an environment that has only what users install
# make test   run the tests in the development environment
# make wheel  build the wheel, install it in a clean environment, align with it outside the repository
# make lint   check style and types          make format   mend the style
# make screenshots   take those of the documents anew, in Chromium
# make clean  remove the environments

PYTHON ?= python3
DEV  := .venv
DEMO := .venv-demo
SMALL := src/otalign/models/small
CORPORA := msr-rte mtref edinburgh++ wiki

.PHONY: demo test lint format wheel model screenshots clean

demo: $(DEMO)/ready
	$(DEMO)/bin/otalign align examples/pairs.tsv --format terminal

test: $(DEV)/ready
	$(DEV)/bin/python -m pytest -n auto

lint: $(DEV)/ready
	$(DEV)/bin/ruff check
	$(DEV)/bin/ruff format --check
	$(DEV)/bin/pyright

format: $(DEV)/ready
	$(DEV)/bin/ruff check --fix --quiet || true
	$(DEV)/bin/ruff format

wheel: $(DEV)/ready
	$(DEV)/bin/python tests/wheel.py

# The aligner that comes with the package, made anew: MPNET and MINILM are the encoders' folders, OTALIGN_DATA
# is that of the corpora. A GPU trains it in a few minutes. The one that is there goes first: export makes new
# folders.
model: $(DEV)/ready
	$(DEV)/bin/otalign train $(CORPORA) --encoder $(MPNET) --seed 1 -o work/teacher
	$(DEV)/bin/otalign train $(CORPORA) --encoder $(MINILM) --depth 5 --teacher work/teacher --teaching 0.8 \
		--learning-rate 3e-4 --epochs 12 --seed 3 -o work/small
	$(DEV)/bin/otalign export work/small --int8 \
		$(foreach corpus,$(CORPORA),--calibration $(corpus):train) -o $(SMALL)
	$(DEV)/bin/python benchmarks/shipped.py quality --write

screenshots: $(DEV)/ready
	$(DEV)/bin/python -m tests.screenshots docs/figures

clean:
	rm -rf $(DEV) $(DEMO)

# Each environment is made anew when what it installs has changed.
$(DEV)/ready: EXTRAS := [dev]
$(DEMO)/ready: EXTRAS :=
$(DEV)/ready $(DEMO)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".$(EXTRAS)"
	touch $@
