# One command each, for people, hooks and CI alike. Every target sets itself up from a bare machine with Python 3.11.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# python3.11 if it works, else the first Python that is new enough and can make environments
usable = -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p $(usable) && { echo $$p; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input

DEMO = demo-result
PYTEST_ARGS =
PROCESSES = 2

# recordings of real robots, measured by others and never part of this repository; the tests that need them skip without
STEELYARD_REAL_DATA ?= $(abspath $(wildcard ../shared/data))
export STEELYARD_REAL_DATA

# one thread each: the same input gives the same bytes out, and test processes do not fight over cores
THREADS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.PHONY: help demo test lint format bench docs real-table lock clean

help:  ## what make can do here
	@grep -hE '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/:.*  ## /\t/' | expand -t 14

demo: $(VENV)/.sim  ## weigh a simulated arm; the result goes to demo-result, or to DEMO=directory
	$(BIN)/steelyard demo --output "$(DEMO)" --force

test: $(VENV)/.dev  ## all tests (PYTEST_ARGS="-k name" picks some)
	$(THREADS) $(BIN)/python -m pytest -n $(PROCESSES) $(PYTEST_ARGS)

lint: $(VENV)/.dev  ## format, style, types, layers, sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py tests/test_size.py tests/test_repository.py

format: $(VENV)/.dev  ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## time and memory, as ratios to plain Pinocchio and least squares
	$(THREADS) $(BIN)/python benchmarks/speed.py
	$(THREADS) $(BIN)/python benchmarks/solvers.py

docs: $(VENV)/.dev  ## check the pages: links, file names, commands, the coverage table
	$(BIN)/python -m pytest tests/test_docs.py

real-table: $(VENV)/.dev  ## accuracy on recordings of real robots (needs STEELYARD_REAL_DATA)
	@test -n "$$STEELYARD_REAL_DATA" || \
		{ echo "real-table: set STEELYARD_REAL_DATA to the folder with the recordings" >&2; exit 1; }
	$(THREADS) $(BIN)/python benchmarks/real_table.py

lock: pyproject.toml  ## write constraints.txt from the newest versions that install together
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip -qq --disable-pip-version-check install -e '.[dev]'
	{ echo "# Versions tested together; written by 'make lock'."; \
	  build/lock/bin/python -m pip --disable-pip-version-check list --format=freeze --exclude-editable \
	  | grep -vE '^(pip|setuptools|wheel)=='; } > constraints.txt
	rm -rf build/lock

clean:  ## remove the environment, caches and results
	rm -rf $(VENV) demo-result build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Steelyard needs Python 3.11 or newer with its venv module;" \
		"none of python3.11, python3 ... python3.14 has both (on Debian: apt-get install python3-venv)." >&2; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON): about a minute, once" >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.sim: pyproject.toml constraints.txt | $(BIN)/python
	@$(PIP) install -e '.[sim]' -c constraints.txt
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@$(PIP) install -e '.[dev]' -c constraints.txt
	@touch $@ $(VENV)/.sim
