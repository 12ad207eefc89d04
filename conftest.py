"""Tests of the plugin run pytest in pytest."""

pytest_plugins = ["pytester"]
