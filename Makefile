# Everything a contributor types. The environment is made by scripts/bootstrap, from the pins in constraints.txt.
SHELL := /bin/bash
BIN := .venv/bin

# A mixed dozen of both domains: what `make demo` judges.
DEMO := $(addprefix candidates/, \
	scipy/gamma-rate-quantile.yaml scipy/hull-sphericity.yaml scipy/natural-spline-integral.yaml \
	scipy/grain-depth-map.yaml scipy/bessel-zero-weighted-sum.yaml scipy/blasius-wall-shear.yaml \
	scipy/pendulum-period-ratio.yaml fenicsx/item-0023.yaml fenicsx/nedelec-tetrahedron-error.yaml \
	fenicsx/furnace-wall-three-conditions.yaml fenicsx/dg-upwind-outflow.yaml \
	fenicsx/stokes-cavity-mean-free-pressure.yaml)

.PHONY: demo test test-oldest lint types bench constraints clean

demo: .venv/.ready
	$(BIN)/toolgate model fetch
	scripts/demo $(DEMO)

test: .venv/.ready
	$(BIN)/toolgate model fetch
	$(BIN)/pytest -n 2 tests

# The plugin's own tests again, on the oldest supported pytest.
test-oldest: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--upgrade --target .venv/oldest -r tests/pytest-9.1.txt
	PYTHONPATH=$(CURDIR)/.venv/oldest $(BIN)/python -m pytest -n 2 tests/plugin

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/toolgate lint candidates

types: .venv/.ready
	$(BIN)/mypy

bench: .venv/.ready
	$(BIN)/python bench/collect.py
	$(BIN)/python bench/screens.py

# Needs uv; the pins carry hashes and no index address.
constraints:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.12 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet --output-file constraints.txt

.venv/.ready: scripts/bootstrap constraints.txt pyproject.toml
	scripts/bootstrap

clean:
	rm -rf .venv .toolgate accepted build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
