"""Runs the GoogleTest programs that CMake knows and lit over test/, and sums what both counted.

The last line printed is "N passed, N failed". A program that dies before it has written its report counts as one
failure; so does a suite that counts nothing, because a suite that silently runs no test is a broken one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LIT = "/usr/lib/llvm-22/bin/lit"
PROGRAM_SECONDS = 600


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("filters", nargs="*")
    return parser.parse_args()


def programs(build):
    """The commands that CMake registered with add_test, with their names."""
    shown = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True
    )
    for test in json.loads(shown.stdout)["tests"]:
        yield test["name"], test["command"]


def run_program(name, command, report):
    """Returns (passed, failed) of one program and prints its output when something failed."""
    environment = os.environ | {"GTEST_OUTPUT": f"xml:{report}"}
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PROGRAM_SECONDS
        )
        output, failed_to_end = done.stdout, done.returncode != 0
    except subprocess.TimeoutExpired as expired:
        output, failed_to_end = (expired.stdout or b"") + b"\ntimed out\n", True
    passed = failed = 0
    if report.exists():
        suites = ElementTree.parse(report).getroot()
        failed = int(suites.get("failures")) + int(suites.get("errors"))
        passed = int(suites.get("tests")) - failed - int(suites.get("disabled"))
    if not failed and (failed_to_end or not passed):
        failed = 1
    if failed:
        print(f"FAIL: {name}\n{output.decode(errors='replace')}", flush=True)
    return passed, failed


def run_programs(options):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(options.build):
            if not options.filters or any(text in name for text in options.filters):
                counts = run_program(name, command, Path(folder) / f"{name}.xml")
                passed, failed = passed + counts[0], failed + counts[1]
    return passed, failed


def run_lit(options):
    """Returns (passed, failed) of the lit suite; lit prints the failing tests itself."""
    report = options.build / "lit.json"
    report.unlink(missing_ok=True)
    command = [LIT, "--succinct", "-v", "--no-progress-bar", f"--output={report}", "--allow-empty-runs"]
    if options.all:
        command.append("--param=all=1")
    if options.filters:
        command.append(f"--filter={'|'.join(options.filters)}")
    # lit needs psutil for its time limit, and Debian's Python has it where another on PATH may not.
    done = subprocess.run(["/usr/bin/python3", *command, options.build / "test"])
    if not report.exists():
        return 0, 1
    codes = [test["code"] for test in json.loads(report.read_text())["tests"]]
    passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
    left_out = sum(code in ("UNSUPPORTED", "EXCLUDED", "SKIPPED") for code in codes)
    failed = len(codes) - passed - left_out
    return passed, max(failed, int(done.returncode != 0))


def main():
    options = arguments()
    counts = [run_programs(options), run_lit(options)]
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    if not passed and not failed:
        failed = 1
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
