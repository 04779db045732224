# Everything here needs Python 3.11 to 3.13 and make, nothing else. It all happens in .venv and var/.
PYTHON ?= python3
BIN := .venv/bin
# Tests start some hundred Pythons; each would compile our code anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help run classroom test test-browser test-others test-locks test-explorer
.PHONY: test-timed-others test-timed-locks test-timed-runs test-alone check check-unit check-servers
.PHONY: soak chaos chaos-mutants conformance libraries-matrix compare lint translations screenshots lecture install install-dev clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: install ## bring up the whole shop; Ctrl-C stops it
	@exec $(BIN)/lastapple up

classroom: install ## the same, with the shop open to the local network: phones can join
	@SHOP_HOST=$${SHOP_HOST:-0.0.0.0} exec $(BIN)/lastapple up

test: install-dev ## run every test (real servers, real browser), seeded shares of the long ones
	@echo "Four lanes of tests, side by side: each is shown when it is through, the first after some" \
	  "ten minutes on two cores; then what is held to a time. A quarter to half an hour in all …"
	@$(TOGETHER) -j4 test-alone

check: install-dev ## after each change: style, types, unit tests, a slice through real servers
	@$(TOGETHER) -j3 lint check-unit check-servers

# Four lanes of about the same work for the processor: files move between them. (The unit tests of the
# explorer, a quarter of all, are spread: they wait for nothing.) What is held to a time waits for them
# all, in three lanes; what is held to a ratio, or loads both cores, waits for these, too.
LANES := test-browser test-others test-locks test-explorer
PACKAGES := $(wildcard packages/*/tests)
TOGETHER := $(MAKE) --no-print-directory $(if $(filter output-sync,$(.FEATURES)),-O)
BROWSER := tests/e2e $(patsubst %,tests/integration/test_%.py,lab_http read_http explorer_pages \
  explorer_in_chinese explorer_process contract_shop) tests/integration/trust \
  $(patsubst %,tests/unit/explorer/test_%.py,holds mutants)
PYTEST := @unset MAKEFLAGS; $(BIN)/python -m pytest
LOCKS := packages/fairlock/tests $(addprefix tests/integration/,locks modes bench chaos stampede \
  comparison test_one_key.py test_hand_over.py test_lab_languages.py \
  $(addprefix processes/test_,up.py compare.py lost.py frozen.py)) \
  $(patsubst %,tests/unit/explorer/test_%.py,limit repair shop_places)
EXPLORER := $(filter-out $(LOCKS),$(PACKAGES)) $(addprefix tests/integration/,explorer cluster)
TIMED_LOCKS := $(addprefix tests/integration/,locks modes)
TIMED_RUNS := $(PACKAGES) tests/integration/processes/test_class.py
UNTIMED := -m "not timed and not alone and not long"

test-browser: install-dev
	$(PYTEST) $(UNTIMED) $(BROWSER)

test-others: install-dev
	$(PYTEST) $(UNTIMED) $(patsubst %,--ignore=%,$(BROWSER) $(EXPLORER) $(LOCKS))

test-locks: install-dev
	$(PYTEST) $(UNTIMED) $(LOCKS)

test-explorer: install-dev
	$(PYTEST) $(UNTIMED) $(EXPLORER)

test-timed-others: $(LANES)
	$(PYTEST) -m timed $(patsubst %,--ignore=%,tests/e2e $(TIMED_LOCKS) $(TIMED_RUNS))

test-timed-locks: $(LANES)
	$(PYTEST) -m timed $(TIMED_LOCKS)

test-timed-runs: $(LANES)
	$(PYTEST) -m timed $(TIMED_RUNS)

test-alone: test-timed-others test-timed-locks test-timed-runs
	$(PYTEST) -m alone tests/e2e
	$(PYTEST) -m alone --ignore=tests/e2e

check-unit: install-dev
	$(PYTEST) $(UNTIMED) tests/unit --ignore=tests/unit/explorer

# A tenth of `make test`: each mode's promises and a purchase from the page to its row, on the embedded
# store only; and of the explorer that each mode fails as it should, and that a file is searched.
SLICE := $(addprefix tests/integration/,modes/test_contract.py test_shop_http.py test_fulfil.py)
check-servers: install-dev
	$(PYTEST) $(UNTIMED) -k "valkey or findings or program" $(SLICE) \
	  tests/unit/explorer/test_findings.py packages/badluck/tests/test_program.py

soak: install-dev ## the long runs in full
	@$(BIN)/python -m pytest -m "soak or again or long" --runs 20 --timeout 3600 -s
	@$(BIN)/lastapple chaos --minutes 30 --seed 18 --holds
	@$(BIN)/lastapple chaos --minutes 30 --seed 18 --holds --database postgresql
	@$(BIN)/python -m tests.e2e.lab_page_cost

chaos: install ## break a whole shop for ten minutes while buyers buy, and judge it: var/chaos.html
	@mkdir -p var && exec $(BIN)/lastapple chaos --minutes 10 --holds --html var/chaos.html

chaos-mutants: install-dev ## plant bugs in a copy of the shop; chaos must find each of them
	@$(BIN)/python -m tests.integration.chaos.mutants

conformance: install-dev ## the explorer's model and its counts against real servers, at length
	@$(BIN)/python -m tests.integration.explorer.conformance

libraries-matrix: var/matrix/installed ## well-known libraries on redis-py, in every order: docs/libraries-matrix.md
	@PYTHONPATH=packages/badluck var/matrix/bin/python -m matrix

# Libraries of all ages, which nothing else is to be installed beside.
var/matrix/installed: packages/badluck/matrix/requirements.txt
	@mkdir -p var && $(PYTHON) -m venv var/matrix
	@var/matrix/bin/pip install -q --require-hashes -r $<
	@var/matrix/bin/pip install -q --no-deps --editable ./packages/badluck --editable ./packages/fairlock \
	  --editable ./packages/servers
	@touch $@

compare: install ## what each way of selling costs: a table, compare.html, the lab's figures
	@mkdir -p var && exec $(BIN)/lastapple compare --json var/compare.json

lint: install-dev ## style, types, floors
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache

translations: install-dev ## gather the words of pages and errors into the catalogues
	@$(BIN)/python -m tests.translations

screenshots: install-dev ## play the scenes that the README shows, and keep the pictures
	@$(BIN)/python -m tests.screenshots

lecture: install-dev ## play the lecture of ten minutes with a clock: projector, phones, real waits
	@$(BIN)/python -m tests.lecture

install: .venv/installed-run ## only the set-up of `run`
install-dev: .venv/installed-dev ## the set-up of `test`, `check` and `lint`

.venv/installed-%: requirements/%.txt pyproject.toml $(wildcard packages/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
	  echo "Last Apple needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Install one, or name it: make PYTHON=python3.13 …"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "This Python has no venv module. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@mkdir -p .venv 2>/dev/null && test -w .venv || { \
	  echo "Cannot write to $$(pwd)/.venv: clone into a folder of your own."; exit 1; }
	@echo "Installing the pinned packages of requirements/$*.txt into .venv …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes \
	  -r requirements/$*.txt || { \
	  echo "The packages could not be installed. Is the network (or the package index) reachable?"; \
	  exit 1; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --no-build-isolation $(patsubst %/pyproject.toml,--editable ./%,$(wildcard packages/*/pyproject.toml)) \
	  --editable .
	@touch $@

clean: ## remove what install made (not var/, which holds stock and orders)
	rm -rf .venv lastapple.egg-info packages/*/src/*.egg-info
