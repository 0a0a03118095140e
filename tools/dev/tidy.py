"""Runs clang-tidy over the files of the compilation database whose content has not passed before.

A file that includes MLIR takes about eight seconds, so a pass is remembered: the key is a hash of the file, of every
project header it reaches, of .clang-tidy and of the compile command. The key holds no path of the machine, so all
clones of one user share what has passed. When the time given is up, the rest is left out and counted.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

TIDY = "clang-tidy-22"
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build folder with compile_commands.json")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop starting files after this time")
    parser.add_argument("--fix", action="store_true", help="apply the fixes that clang-tidy offers")
    parser.add_argument("files", nargs="*", type=Path, help="only these files")
    return parser.parse_args()


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "fleet-tidy"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Reach:
    """The project files that a source includes, directly or not; generated ones count, system ones do not."""

    def __init__(self, roots):
        self.roots = roots
        self.direct = {}

    def includes(self, path):
        if path not in self.direct:
            names = [name.decode() for name in INCLUDE.findall(path.read_bytes())]
            places = [[folder / name for folder in (path.parent, *self.roots)] for name in names]
            found = [next((place for place in candidates if place.is_file()), None) for candidates in places]
            self.direct[path] = [place.resolve() for place in found if place]
        return self.direct[path]

    def closure(self, path):
        seen, todo = set(), [path]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo.extend(self.includes(current))
        return sorted(seen)


def key_of(entry, reach, settings, root):
    digest = hashlib.sha256(settings)
    digest.update(entry["command"].replace(str(root), "").encode())
    for path in reach.closure(Path(entry["file"]).resolve()):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def entries(build, root, only):
    """The files to look at: tracked or not, but under the source tree and not generated."""
    database = json.loads((build / "compile_commands.json").read_text())
    wanted = {path.resolve() for path in only}
    chosen = {}
    for entry in database:
        path = Path(entry["file"]).resolve()
        if root in path.parents and build not in path.parents and (not wanted or path in wanted):
            chosen[path] = entry
    return [chosen[path] for path in sorted(chosen)]


def check(entry, options, deadline):
    """Returns the findings as text, empty when there are none, and None when no time was left."""
    if time.monotonic() > deadline:
        return None
    command = [TIDY, "-p", str(options.build), "--quiet", *(["--fix"] if options.fix else []), entry["file"]]
    done = subprocess.run(command, capture_output=True, text=True)
    # On success the output is at most a count of suppressed warnings.
    return "" if done.returncode == 0 else done.stdout + (done.stderr if "error:" not in done.stdout else "")


def main():
    options = arguments()
    root = Path(__file__).resolve().parents[2]
    options.build = options.build.resolve()
    cache = cache_folder()
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    settings = version + (root / ".clang-tidy").read_bytes()
    reach = Reach([root / "include", root / "runtime/include", options.build / "include"])
    keyed = [(entry, key_of(entry, reach, settings, root)) for entry in entries(options.build, root, options.files)]
    stale = [(entry, key) for entry, key in keyed if not (cache / key).exists()]
    deadline = time.monotonic() + 60 * options.minutes
    # Fixes are applied one file at a time: two processes would both edit a shared header.
    workers = 1 if options.fix else len(os.sched_getaffinity(0))
    failed = left = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = [(pool.submit(check, entry, options, deadline), key) for entry, key in stale]
        for job, key in jobs:
            findings = job.result()
            if findings is None:
                left += 1
            elif findings:
                failed += 1
                print(findings.replace(f"{root}/", ""), flush=True)
            else:
                (cache / key).touch()
    known = len(keyed) - len(stale)
    print(f"clang-tidy: {len(stale) - left} files checked, {known} known to pass, {left} left out, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
