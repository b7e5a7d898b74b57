# The two commands: `make demo` and `make test`. Each sets up whatever it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps

# Tools from the virtual environment first, so that an old system CMake does not matter.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CHAKRA_CORE_SHARED ?= $(abspath ../shared)

SOURCES := $(shell find cpp cmake python schema CMakeLists.txt pyproject.toml -type f \
  -not -name '*.so' -not -path '*/__pycache__/*' 2>/dev/null)

.PHONY: help demo test test-cpp test-python test-sanitizers install lint format stubs check-stubs check-sdist benchmark fuzz clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## demo             link, convert, check, feed and simulate the sample PyTorch traces
demo: $(STAMPS)/install
	$(BIN)/python examples/demo.py

## test             everything: C++ tests, pytest, doctests, examples
test: test-cpp test-python

## test-cpp         the C++ tests alone
# Release, as the wheel is built: what that compiled comes out of the compiler cache.
test-cpp: $(STAMPS)/test-tools
	cmake --preset release
	cmake --build --preset release
	ctest --preset release -j 2 --progress

## test-python      pytest, doctests and the examples alone
test-python: $(STAMPS)/test-tools $(STAMPS)/install
	$(BIN)/python -m pytest -n 2 --dist loadscope
	$(BIN)/python -m pytest -q --doctest-modules --pyargs chakra_core -p no:cacheprovider

## test-sanitizers  the C++ tests under address, undefined-behaviour and thread sanitizers
test-sanitizers: $(STAMPS)/test-tools
	for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset && cmake --build --preset $$preset && ctest --preset $$preset -j 2 || exit 1; \
	done

## install          the package into .venv
install: $(STAMPS)/install

## lint             ruff, mypy --strict, clang-format; clang-tidy on what changed since main or the last commit
lint: $(STAMPS)/lint-tools $(STAMPS)/install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	clang-format --dry-run --Werror $$(git ls-files '*.c' '*.cpp' '*.hpp' '*.h')
	scripts/tidy-changed

## format           clang-format and ruff, in place
format: $(STAMPS)/lint-tools
	clang-format -i $$(git ls-files '*.c' '*.cpp' '*.hpp' '*.h')
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## stubs            write python/chakra_core/_core.pyi anew
stubs: $(STAMPS)/lint-tools $(STAMPS)/install
	$(BIN)/python scripts/generate_stubs.py

## check-stubs      fail if the stubs are not what the module says
check-stubs: $(STAMPS)/lint-tools $(STAMPS)/install
	$(BIN)/python scripts/generate_stubs.py --check

## benchmark        ours beside the alternatives, as ratios; SMOKE=1 for a short run
benchmark: $(STAMPS)/test-tools $(STAMPS)/install
	$(BIN)/python benchmarks/run.py $(if $(SMOKE),--smoke)

## fuzz             the C++ tests, then each libFuzzer target for FUZZ_SECONDS (60), all under sanitizers
fuzz: $(STAMPS)/fuzz-tools
	cmake --preset fuzz
	cmake --build --preset fuzz
	ctest --preset fuzz -j 2 --progress
	scripts/run-fuzzers build/fuzz/tests/fuzz $(or $(FUZZ_SECONDS),60)

## check-sdist      build the source distribution and install from it
check-sdist: $(STAMPS)/venv
	scripts/check-sdist

## clean            remove what was built, keep the virtual environment
clean:
	rm -rf build dist out third_party $(STAMPS)/install

$(STAMPS)/venv:
	scripts/install-system-deps
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.11" "pybind11>=3.0" "cmake>=3.24,<4.5" ninja
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/install: $(STAMPS)/venv $(SOURCES)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation .
	touch $@

$(STAMPS)/test-tools: $(STAMPS)/venv pyproject.toml
	scripts/install-system-deps --browser
	$(BIN)/python scripts/install_extra.py test
	touch $@

$(STAMPS)/lint-tools: $(STAMPS)/venv pyproject.toml
	scripts/install-system-deps --lint
	$(BIN)/python scripts/install_extra.py lint
	touch $@

$(STAMPS)/fuzz-tools: $(STAMPS)/venv
	scripts/install-system-deps --fuzz
	touch $@
