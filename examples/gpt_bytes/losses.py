"""Draws the losses of a metrics file: losses.py METRICS.jsonl [--below LIMIT].

Each line is the mean over a twentieth of the steps. With --below the status says whether the last mean is under LIMIT.
"""

import argparse
import json
import sys
from pathlib import Path

ROWS = 20
WIDTH = 60


def mean(values):
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("metrics", type=Path)
    parser.add_argument("--below", type=float)
    options = parser.parse_args()
    records = [json.loads(line) for line in options.metrics.read_text().splitlines()]
    if not records:
        print(f"{options.metrics} has no steps", file=sys.stderr)
        return 1
    first, size = records[0]["loss"], max(1, len(records) // ROWS)
    print(f"step {records[0]['step']:>6}  loss {first:7.4f}")
    for start in range(0, len(records), size):
        part = records[start : start + size]
        loss = mean([record["loss"] for record in part])
        print(f"step {part[-1]['step']:>6}  loss {loss:7.4f}  {'#' * round(WIDTH * loss / first)}")
    if options.below is not None and loss >= options.below:
        print(f"the loss ended at {loss:.4f}, not below {options.below}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
