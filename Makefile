# Everything here needs Python >= 3.11 and make, nothing else. It all happens in .venv and var/.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help run test test-others test-explorer soak conformance compare lint install install-dev clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: install ## bring up the whole shop; Ctrl-C stops it
	@exec $(BIN)/lastapple up

test: install-dev ## run every test (real servers, real browser), seeded shares of the long ones
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),-O) test-others test-explorer

# The explorer's tests compute, all others wait for servers most of the time. So they run side by
# side, and the explorer gives way; what it printed is shown when it is through.
EXPLORER := tests/unit/explorer tests/integration/explorer

test-others: install-dev
	+@unset MAKEFLAGS; $(BIN)/python -m pytest $(EXPLORER:%=--ignore=%)

test-explorer: install-dev
	@unset MAKEFLAGS; nice -n 10 $(BIN)/python -m pytest $(EXPLORER)

soak: install-dev ## the long runs in full
	@$(BIN)/python -m pytest -m "soak or again" --runs 20 --timeout 3600 -s

conformance: install-dev ## the explorer's model and its counts against real servers, at length
	@$(BIN)/python -m tests.integration.explorer.conformance

compare: install ## what each way of selling costs: a table and compare.html
	@exec $(BIN)/lastapple compare

lint: install-dev ## style, types, floors
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache

install: .venv/installed-run ## only the set-up of `run`
install-dev: .venv/installed-dev

.venv/installed-%: requirements/%.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Last Apple needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	    "Install one, or name it: make PYTHON=python3.12 …"; exit 1; }
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
	  --no-build-isolation --editable .
	@touch $@

clean: ## remove what install made (not var/, which holds stock and orders)
	rm -rf .venv lastapple.egg-info
