"""What the tests share."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Where CI=true a skip is a failure."""
    report = (yield).get_result()
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped, although CI=true: {report.longrepr[2]}"


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"skipped: {report.nodeid}: {report.longrepr[2]}")


@pytest.fixture
def X():
    """Samples x features of three causes, above 0."""
    random = np.random.default_rng(1)
    causes = random.gamma(0.5, size=(120, 3))
    return causes @ random.gamma(1.0, size=(3, 12)) + 0.1 * random.random((120, 12))


@pytest.fixture
def program():
    """Runs the program rarebit."""
    path = os.environ.get("RAREBIT") or shutil.which("rarebit")
    if not path:
        pytest.skip("there is no program rarebit")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
