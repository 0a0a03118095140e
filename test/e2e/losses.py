"""Trains reference models by the interpreter and compares the losses with PyTorch's.

usage: losses.py MODELS MODEL FILE RECIPES STRATEGIES [--steps N] [--emit LEVEL] [--tolerance T]

RECIPES and STRATEGIES are lists with commas between; a strategy is written as dp2xmp2xpp2, 1 for one rank. Every
combination is compiled in f64 down to LEVEL, run on all its ranks in one process, and its losses have to agree with
`losses_f64` of the model's expected.json. A combination whose batch does not divide has to be refused.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

DATA_AXES = ("dp", "sharding")


def degrees_of(strategy):
    """{"dp": 2, "mp": 2} of "dp2xmp2"."""
    parts = [] if strategy == "1" else strategy.split("x")
    return {m[1]: int(m[2]) for m in (re.fullmatch(r"([a-z]+)(\d+)", part) for part in parts)}


def make_job(model_file, expected, recipe, degrees):
    job = {
        "schema": "fleet.job/1",
        "model": str(model_file),
        "batch": expected["batch"],
        "loss": expected["loss"],
        "precision": "f64",
        "strategy": {"hybrid_configs": {f"{axis}_degree": size for axis, size in degrees.items()}},
    }
    job.update({key: recipe[key] for key in ("optimizer", "clip", "schedule", "accumulate") if key in recipe})
    return job


def divides(job, degrees):
    shares = job.get("accumulate", 1)
    for axis in DATA_AXES:
        shares *= degrees.get(axis, 1)
    return job["batch"] % shares == 0


def largest_difference(log, reference):
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines()]
    return len(losses), max(abs(loss - want) / abs(want) for loss, want in zip(losses, reference, strict=False))


def check(options, folder, recipe_name, strategy):
    """One line about a combination, and whether it is right."""
    source = pathlib.Path(options.models).resolve() / options.model
    expected = json.loads((source / "expected.json").read_text())
    recipe = expected["recipes"][recipe_name]
    degrees = degrees_of(strategy)
    job = make_job(source / options.file, expected, recipe, degrees)
    (folder / "job.json").write_text(json.dumps(job))
    program, log = folder / "program.mlir", folder / "log.jsonl"
    compiled = subprocess.run(
        ["fleet-compile", "--job", folder / "job.json", f"--emit={options.emit}", "-o", program],
        capture_output=True,
        text=True,
    )
    if not divides(job, degrees):
        refused = compiled.returncode == 1 and "does not split over" in compiled.stderr
        return ("refused" if refused else "should be refused: " + compiled.stderr), refused
    if compiled.returncode != 0:
        return "does not compile: " + compiled.stderr.strip(), False
    data = source / "batches.safetensors"
    command = ["fleet-interp", program, "--weights", source / options.file, "--data", data]
    command += [f"--steps={options.steps}", "--log", log]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return "does not run: " + run.stderr.strip(), False
    steps, difference = largest_difference(log, recipe["losses_f64"])
    right = steps == options.steps and difference < options.tolerance
    return f"{steps} steps, largest relative difference {difference:.1e}", right


def main():
    parser = argparse.ArgumentParser()
    for name in ("models", "model", "file", "recipes", "strategies"):
        parser.add_argument(name)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--emit", default="local")
    parser.add_argument("--tolerance", type=float, default=1e-9)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for recipe in options.recipes.split(","):
            for strategy in options.strategies.split(","):
                line, right = check(options, pathlib.Path(name), recipe, strategy)
                print(f"{options.model} {recipe} {strategy}: {line}{'' if right else '  WRONG'}", flush=True)
                failed += not right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
