# make demo   align the sample pairs in an environment that has only what users install
# make test   run the tests in the development environment
# make test-experiments   run the tests of experiments/
# make fuzz   look for inputs that break it, for MINUTES (default 5), with new seeds each time
# make wheel  build the wheel, and that of otalign-base if its weights are here; install them in a clean environment,
#             align with them outside the repository, and write them with their bills of materials (CycloneDX) to dist/
# make lint   check style, types, the workflow and the licences          make format   fix the style
# make lock   pin every package of every extra: versions in constraints.txt, hashes in requirements.lock
# make docs   build the documentation site into docs/_build/html
# make examples   run the examples of the documentation and write their output into the pages
# make licences   regenerate docs/licences.md
# make screenshots   take those of the documents again, in Chromium
# make clean  remove the environments

PYTHON ?= python3
MINUTES ?= 5
DEV  := .venv
DEMO := .venv-demo
DOCS := .venv-docs
BIN  := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
SMALL := src/otalign/models/small
CORPORA := msr-rte mtref edinburgh++ wiki

.PHONY: demo test test-experiments fuzz lint format wheel lock docs examples licences model \
	screenshots clean

demo: $(DEMO)/ready
	$(DEMO)/$(BIN)/otalign align examples/pairs.tsv --format terminal

test: $(DEV)/ready
	$(DEV)/$(BIN)/python -m pytest -n auto --ignore tests/experiments

test-experiments: $(DEV)/ready
	$(DEV)/$(BIN)/python -m pytest -n auto tests/experiments

fuzz: $(DEV)/ready
	$(DEV)/$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

lint: $(DEV)/ready
	$(DEV)/$(BIN)/ruff check
	$(DEV)/$(BIN)/ruff format --check
	$(DEV)/$(BIN)/pyright
	$(DEV)/$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(DEV)/$(BIN)/python -m tests.licences --check

format: $(DEV)/ready
	$(DEV)/$(BIN)/ruff check --fix --quiet || true
	$(DEV)/$(BIN)/ruff format

wheel: $(DEV)/ready
	$(DEV)/$(BIN)/python tests/wheel.py

# The versions in constraints.txt are kept; to move to others, change them there, or delete the lines, and make
# the lock.
COMPILE = $(DEV)/$(BIN)/uv pip compile pyproject.toml --quiet --all-extras --universal --no-annotate \
	--no-emit-index-url --custom-compile-command "make lock"
lock: $(DEV)/ready
	$(COMPILE) --output-file constraints.txt > $(DEV)/lock.log
	$(COMPILE) --constraint constraints.txt --generate-hashes --output-file requirements.lock > $(DEV)/lock.log

docs: $(DOCS)/ready
	$(DOCS)/$(BIN)/python -m sphinx --fresh-env --write-all --quiet --fail-on-warning --keep-going docs \
		docs/_build/html
	@echo "open docs/_build/html/index.html"

examples: $(DEV)/ready
	$(DEV)/$(BIN)/python -m tests.docs_examples --write

licences: $(DEV)/ready
	$(DEV)/$(BIN)/python -m tests.licences

# Regenerate the aligner that comes with the package: MPNET and MINILM are the encoders' folders, OTALIGN_DATA
# is that of the corpora. A GPU trains it in a few minutes. Remove work/small-int8 first: export makes new folders.
model: $(DEV)/ready
	$(DEV)/$(BIN)/otalign train $(CORPORA) --encoder $(MPNET) --augment all=0 --seed 1 -o work/teacher
	$(DEV)/$(BIN)/otalign train $(CORPORA) --encoder $(MINILM) --depth 5 --teacher work/teacher --teaching 0.8 \
		--augment all=0 --learning-rate 3e-4 --epochs 12 --seed 3 -o work/small
	$(DEV)/$(BIN)/otalign export work/small --int8 \
		$(foreach corpus,$(CORPORA),--calibration $(corpus):train) -o work/small-int8
	cp $(SMALL)/README.md $(SMALL)/LICENSE work/small-int8
	$(DEV)/$(BIN)/python benchmarks/shipped.py quality --model work/small-int8 --write
	cp work/small-int8/* $(SMALL)

screenshots: $(DEV)/ready
	$(DEV)/$(BIN)/python -m tests.screenshots docs/figures

clean:
	rm -rf $(DEV) $(DEMO) $(DOCS) docs/_build

# Each environment is made again when what it installs has changed.
$(DEV)/ready: EXTRAS := [dev]
$(DEMO)/ready: EXTRAS :=
$(DOCS)/ready: EXTRAS := [docs]
$(DEV)/ready $(DEMO)/ready $(DOCS)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".$(EXTRAS)"
	touch $@
