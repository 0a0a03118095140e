"""Feeds run_tests.py programs that end in every way a GoogleTest program can: run_programs.py TOOLS_DEV FOLDER."""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import run_tests  # noqa: E402

REPORT = '<testsuites tests="{tests}" failures="{failures}" disabled="0" errors="0"/>'
WRITE = 'import os, sys; open(os.environ["GTEST_OUTPUT"][4:], "w").write(sys.argv[1]); print(sys.argv[2]); {end}'
HANG = "import time; time.sleep(60)"


def python(program, *words):
    return [sys.executable, "-c", program, *words]


def reporting(tests, failures, status):
    words = REPORT.format(tests=tests, failures=failures), f"{['no', 'one'][failures]} case failed"
    return python(WRITE.format(end=f"sys.exit({status})"), *words)


PROGRAMS = {
    "good": reporting(3, 0, 0),
    "bad": reporting(3, 1, 1),
    "crash": python("import os; os.abort()"),
    "late-crash": reporting(3, 0, 1),
    "empty": reporting(0, 0, 0),
    "hang": python(HANG),
}

folder = Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
run_tests.PROGRAM_SECONDS = 2

for name, command in PROGRAMS.items():
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    counts = run_tests.run_program(name, command, report)
    print(name, counts)
