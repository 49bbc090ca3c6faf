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
# Else every process that the tests start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
MINUTES ?= 5
DEV  := .venv
DEMO := .venv-demo
DOCS := .venv-docs
BIN  := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
SMALL := src/otalign/models/small
BASE := packages/otalign-base/src/otalign_base
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

# The models, from the corpora to the packages. MPNET and MINILM are the folders of the encoders, OTALIGN_DATA that
# of the corpora, UNLABELLED a file of sentence pairs in random order, WORDNET the folder of WordNet 3.0. On one GPU,
# with -j4, the teachers take three minutes, and about thirty are needed in all. A finished step is not repeated; to
# repeat it, remove its folder below work/.
OTALIGN := OMP_NUM_THREADS=1 $(DEV)/$(BIN)/otalign
TEACHERS := $(foreach fold,1 2 3 4,work/teacher-$(fold))
WORDNET ?= /usr/share/wordnet

model: work/small-int8/measured.json work/base-int8/measured.json
	cp work/small-int8/* $(SMALL)
	cp work/base-int8/* $(BASE)

WORD_GROUPS := work/synonyms.tsv work/siblings.tsv
$(WORD_GROUPS) &: | $(DEV)/ready
	mkdir -p work
	$(DEV)/$(BIN)/python examples/wordnet.py $(WORDNET) $(WORD_GROUPS)

# Each teacher learns from the dev sets too, except for a fold of its own.
TRAIN := $(OTALIGN) train $(CORPORA) --synonyms work/synonyms.tsv --siblings work/siblings.tsv
$(TEACHERS:=/otalign.json): work/teacher-%/otalign.json: $(WORD_GROUPS)
	$(TRAIN) --encoder $(MPNET) --depth 8 --fold $*/4 --epochs 4 --seed $* -o $(@D)

# The model base learns from the four teachers, and small learns from base.
STUDENT = $(TRAIN) --teaching 0.8 --unlabelled $(UNLABELLED) --seed 1
BASE_STUDENT = $(STUDENT) --encoder $(MPNET) --depth 8 $(TEACHERS:%=--teacher %) --unlabelled-limit 150000 \
	--predictions work/predictions-teachers
SMALL_STUDENT = $(STUDENT) --encoder $(MINILM) --depth 5 --teacher work/base --augment swap=0.2 \
	--predictions work/predictions-base
# Four processes predict at a time: the teachers of six do not fit into 139 GiB.
PARTS := 1 2 3 4
$(PARTS:%=work/predicted-teachers-%): work/predicted-teachers-%: $(TEACHERS:=/otalign.json)
	$(BASE_STUDENT) --predict $*/4 -o $@
	touch $@
work/base/otalign.json: $(PARTS:%=work/predicted-teachers-%)
	$(BASE_STUDENT) --epochs 2 --batch-size 64 --learning-rate 1e-4 -o $(@D)
$(PARTS:%=work/predicted-base-%): work/predicted-base-%: work/base/otalign.json
	$(SMALL_STUDENT) --predict $*/4 -o $@
	touch $@
work/small/otalign.json: $(PARTS:%=work/predicted-base-%)
	$(SMALL_STUDENT) --epochs 6 --batch-size 256 --learning-rate 5e-4 --gold-share 0.1 -o $(@D)

# In int8 a model is calibrated again. Its hysteresis is the largest with which it passes the training half of the
# behaviour suite as it does without.
.SECONDARY: work/small-exported/otalign.json work/base-exported/otalign.json
work/%-exported/otalign.json: work/%/otalign.json
	$(OTALIGN) export $(<D) --int8 $(CORPORA:%=--calibration %:train) -o $(@D)
work/small-int8/otalign.json: HYSTERESIS := 0.3,0
work/base-int8/otalign.json: HYSTERESIS := 0.2,0
work/%-int8/otalign.json: work/%-exported/otalign.json
	$(OTALIGN) tune $(CORPORA) --model $(<D) --hysteresis $(HYSTERESIS) -o $(@D)
work/small-int8/measured.json: work/small-int8/otalign.json
	cp $(SMALL)/README.md $(SMALL)/LICENSE $(@D)
	$(DEV)/$(BIN)/python benchmarks/shipped.py quality --model $(@D) --write
work/base-int8/measured.json: work/base-int8/otalign.json
	cp $(BASE)/README.md $(BASE)/LICENSE $(@D)
	$(DEV)/$(BIN)/python benchmarks/shipped.py quality --model $(@D) --write

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
