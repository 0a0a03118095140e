"""Checks of ./lint that need no compiler: what must not stand in a file, and how large files and functions may be.

Functions are found by their layout: after clang-format, a free function starts in column 0 and ends with a brace in
column 0. Members defined in a class are left to clang-tidy's readability-function-size. With --fix, include guards are
rewritten; nothing else here can be mended without thought.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 120
# Spelled in two parts, so that this file passes its own check. Paths that Debian itself defines are fine.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:wo" + r"rk|ho" + r"me|ro" + r"ot)/\w")
NOT_A_FUNCTION = re.compile(r"^(namespace|class|struct|union|enum|extern|template|typedef|using|#|//|}|\)|\w+:)")


def tracked():
    """Files that git knows or would add, as they are in the work tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = {name for name in listed.stdout.decode().split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def text_of(name):
    """The file's text, None for a binary file."""
    data = (ROOT / name).read_bytes()
    return None if b"\0" in data[:8192] else data.decode(errors="replace")


def is_generated(name):
    return name.startswith("docs/Dialects/") or name in ("docs/Interfaces.md", "docs/Passes.md")


def check_paths(name, lines):
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield f"{name}:{number}: absolute path of one machine"


def check_length(name, lines):
    if name.endswith((".cpp", ".h", ".td", ".py")) and len(lines) > MAX_FILE_LINES:
        yield f"{name}: {len(lines)} lines; more than {MAX_FILE_LINES} are split by concern"


def free_functions(lines):
    """Yields (first line, last line), counted from 1, of each function that starts in column 0."""
    start = None
    inside = False
    for number, line in enumerate(lines, 1):
        if inside:
            if line.startswith("}"):
                yield start, number
                inside = False
                start = None
        elif line and not line[0].isspace() and not NOT_A_FUNCTION.match(line):
            start = number
            inside = line.endswith("{") and "(" in line
            if line.endswith((";", "}")):
                start, inside = None, False
        elif start and line.endswith("{"):
            inside = True
        elif start and (line.endswith(";") or not line):
            start = None


def check_functions(name, lines):
    if name.endswith((".cpp", ".h")):
        spans = free_functions(lines)
    elif name.endswith(".py"):
        nodes = ast.walk(ast.parse("\n".join(lines)))
        functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
        spans = ((node.lineno, node.end_lineno) for node in functions)
    else:
        return
    for first, last in spans:
        if last - first + 1 > MAX_FUNCTION_LINES:
            yield f"{name}:{first}: function of {last - first + 1} lines; at most {MAX_FUNCTION_LINES}"


def guard_of(name):
    """The include guard of a header: include/fleet/Dialect/X.h has FLEET_DIALECT_X_H, lib/Y/Z.h has FLEET_LIB_Y_Z_H."""
    for prefix in ("include/", "runtime/include/"):
        if name.startswith(prefix):
            path = name[len(prefix) :]
            break
    else:
        path = "fleet/" + name
    return re.sub(r"\W", "_", path).upper()


def guard_in(lines):
    """The guard that a header has: the name of the first #ifndef, when the next line defines it."""
    for line, following in zip(lines, lines[1:], strict=False):
        if line.startswith("#ifndef "):
            name = line.split()[1]
            return name if following.split() == ["#define", name] else None
    return None


def check_guard(name, lines):
    if name.endswith(".h") and guard_in(lines) != guard_of(name):
        yield f"{name}: include guard {guard_in(lines) or 'missing'}; the path asks for {guard_of(name)}"


def fix_guard(name, lines):
    present = name.endswith(".h") and guard_in(lines)
    if present and present != guard_of(name):
        text = (ROOT / name).read_text()
        (ROOT / name).write_text(re.sub(rf"\b{present}\b", guard_of(name), text))


def check_using(name, lines):
    if not name.endswith(".h"):
        return
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("using namespace"):
            yield f"{name}:{number}: 'using namespace' in a header"


def check_shell(name, lines):
    if not lines or not re.match(r"#!.*\b(bash|sh)$", lines[0]):
        return
    done = subprocess.run(["bash", "-n", str(ROOT / name)], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.replace(f"{ROOT}/", "").strip()


CHECKS = (check_paths, check_length, check_functions, check_guard, check_using, check_shell)


def main():
    findings = []
    fix = sys.argv[1:] == ["--fix"]
    for name in tracked():
        text = text_of(name)
        if text is None or is_generated(name):
            continue
        if fix:
            fix_guard(name, text.splitlines())
            text = text_of(name)
        lines = text.splitlines()
        findings.extend(finding for check in CHECKS for finding in check(name, lines))
    print("\n".join(findings), end="\n" if findings else "", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
