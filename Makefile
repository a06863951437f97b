# Two commands from nothing: `make demo` shows what gough does, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# what Python has compiled is kept, also where the environment says otherwise: tests start processes
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-all style layering types tests second-tier docs bench fuzz lock clean

help:
	@echo "make demo   four papers reproduced, speed here, what to try next; pages in demo/"
	@echo "make test   style, types, layering, tests of all parts, in minutes"
	@echo "make test-all  the same, then papers, documentation, browser, compilers, long random runs"
	@echo "make docs   the documentation, warnings as errors; docs/_build/html/index.html"
	@echo "make bench  speed beside Pinocchio, MuJoCo, CasADi and JAX, under eight minutes; docs/benchmarks.md"
	@echo "make fuzz   mutated files, odd arguments, wild states; FUZZ_MINUTES, FUZZ_SEED; docs/trust.md"
	@echo "make lock   pin the newest versions of everything in requirements.lock"
	@echo "make clean  remove the virtual environment, the demo and the built documentation"

$(BIN)/python:
	@echo "— making a virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: $(BIN)/python pyproject.toml requirements.lock
	@echo "— installing gough (first time: about a minute)"
	$(BIN)/python -m pip install --constraint requirements.lock --editable .
	@touch $@

$(VENV)/test.stamp: $(BIN)/python pyproject.toml requirements.lock
	@echo "— installing gough and the test tools (first time: a minute or two)"
	$(BIN)/python -m pip install --constraint requirements.lock --editable ".[test]"
	# its metadata refuses NumPy 2, on which it runs (docs/flexible.md); without it its tests are skipped
	-$(BIN)/python -m pip install --no-deps pyNastran==1.4.1 cpylog==1.6.0 colorama==0.4.6
	@touch $(VENV)/core.stamp $@

demo: $(VENV)/core.stamp
	@$(BIN)/python -m gough demo --output demo

# the first tier: what everyone who changes a line waits for
test: $(VENV)/test.stamp
	@$(MAKE) --no-print-directory style layering
	@$(MAKE) --no-print-directory --jobs=2 tests types

# both tiers
test-all: test
	@$(MAKE) --no-print-directory second-tier

style: $(VENV)/test.stamp
	@echo "— style"
	$(BIN)/ruff check
	$(BIN)/ruff format --check

layering: $(VENV)/test.stamp
	@echo "— layering"
	$(BIN)/lint-imports

types: $(VENV)/test.stamp
	@echo "— types"
	$(BIN)/mypy

# one thread of linear algebra a process: two processes with two each would wait for each other;
# the tests of one file in one process, which makes their kernels and what they share once
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder --durations=10

tests: $(VENV)/test.stamp
	@echo "— tests"
	$(PYTEST) -m "not second_tier"

second-tier: $(VENV)/test.stamp
	@echo "— second tier: papers, documentation, browser, compilers, long random runs"
	$(PYTEST) -m second_tier

$(VENV)/docs.stamp: $(VENV)/core.stamp
	@echo "— installing Sphinx (first time: half a minute)"
	$(BIN)/python -m pip install --constraint requirements.lock --editable ".[docs]"
	@touch $@

docs: $(VENV)/docs.stamp
	@echo "— building the documentation (first time: a minute, the papers are reproduced)"
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

$(VENV)/bench.stamp: $(VENV)/core.stamp
	@echo "— installing the peers (first time: a minute)"
	$(BIN)/python -m pip install --constraint requirements.lock --editable ".[bench]"
	@touch $@

bench: $(VENV)/bench.stamp
	@$(BIN)/python -m benchmarks.cpp
	@$(BIN)/python -m benchmarks

fuzz: $(VENV)/test.stamp
	@OPENBLAS_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m fuzz

lock: $(BIN)/python
	$(BIN)/python -m pip install uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --all-extras --no-header --quiet \
		--upgrade pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) .kernels demo docs/_build docs/generated
