"""How lit runs the tests: RUN lines see the project's tools and FileCheck on PATH.

%models is test/models, which every clone has. %shared is the folder of reference models beside the repository; a test
that needs it says `REQUIRES: shared`. `REQUIRES: all` marks a long test: ./check --all runs it.
"""

import os

import lit.formats

config.name = "fleet"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.fleet_obj_root
config.environment["PATH"] = os.pathsep.join(
    [config.fleet_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%test_dir", config.test_source_root))
config.substitutions.append(("%source_dir", os.path.dirname(config.test_source_root)))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))

if os.path.isdir(os.path.join(config.shared_dir, "models")):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", config.shared_dir))
run_all = bool(lit_config.params.get("all"))
if run_all:
    config.available_features.add("all")

# A test that hangs is ended, where lit can do so (it needs psutil).
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 3600 if run_all else 600
