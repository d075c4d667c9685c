# Every target makes its own environment: a fresh machine needs python3 (3.11 or newer) and make.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check

.PHONY: demo test test-plain check lint style types layers bytecode format bench docs dist clean help

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

demo: .venv/base ## Run the main job on embedded data
	$(BIN)/linnaeus demo
	@echo "The command is $(BIN)/linnaeus. To type just linnaeus, run this first: source $(BIN)/activate"

# Compiled loops are plain Python too: run without the compiler, an index out of range raises.
PLAIN := tests/inference $(addprefix tests/taxonomy/test_,taxonomy.py reshape.py structure.py)
# Where the maths is: golden optima everywhere, enumeration and laws in these folders.
LAWS := $(addprefix tests/,inference kernels labels losses metrics splits taxonomy)
# What no test imports: it is not compiled.
UNUSED := '/(tests|pip|mypyc?|plotly/(graph_objs|validators))/'
PYTEST := $(BIN)/python -m pytest -n auto  # which tests share a process: tests/conftest.py

test: lint ## Check style, types and layers, and run the tests
	$(PYTEST)

check: lint ## The quick check: style, types, layers, golden optima, enumeration and laws
	$(PYTEST) $(LAWS)
	$(PYTEST) tests/solvers tests/decisions tests/induction tests/text -m golden

test-plain: .venv/dev ## The loops without the compiler, so that an index out of range raises
	NUMBA_DISABLE_JIT=1 $(PYTEST) -W ignore:overflow $(PLAIN)

test-slow: .venv/docs ## What takes long: slow tests, and laws on more examples
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m "slow or hypothesis"

test-%: .venv/dev ## Tests apart: test-web (a browser), test-faults (kills)
	$(PYTEST) -m $* || [ $$? -eq 5 ]  # 5: there are none of this kind

# One process: the workers of the cluster want the cores.
test-cluster: .venv/dev ## Tests on a Ray cluster on this machine; skipped where there is no Ray
	@$(MAKE) --no-print-directory .venv/ray || echo "Ray cannot be installed here, so its tests are left out."
	if [ -e .venv/ray ]; then $(BIN)/python -m pytest -m cluster; fi

lint: .venv/dev ## Check style, types and layers
	@$(MAKE) --no-print-directory --jobs=2 types style layers bytecode

types: .venv/dev
	$(BIN)/mypy

style: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

layers: .venv/dev
	$(BIN)/lint-imports

# Python compiles what it imports, in every process anew where it may not write: so beside the rest.
bytecode: .venv/dev
	$(BIN)/python -m compileall -qq -x $(UNUSED) .venv/lib src || true  # some files are no Python

format: .venv/dev ## Format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev ## Run the benchmarks (minutes)
	$(BIN)/python -m benchmarks

docs: .venv/docs ## Run the examples and build the documentation site (docs/site)
	$(BIN)/python -m docs.build

dist: .venv/dist ## Build wheel and sdist into dist/, and try the wheel in an empty environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/smoke.py dist/*.whl

clean: ## Remove the environment and all caches
	rm -rf .venv build dist docs/site .compiled .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# An environment grows: the tests need neither what builds the site nor what builds the wheel.
.venv/base: .venv/pip pyproject.toml
	$(PIP) -e ".[report]"
	touch $@

.venv/dev: .venv/pip pyproject.toml
	$(PIP) --no-compile -e . --group test --group lint
	touch $@ .venv/base

.venv/ray: .venv/dev
	$(PIP) -e ".[ray]"
	touch $@

.venv/docs .venv/dist: .venv/%: .venv/dev
	$(PIP) --group $*
	touch $@

# The first to be installed is a pip that knows groups, and finds its way through an index sooner.
.venv/pip:
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade "pip>=25.1"
	touch $@
