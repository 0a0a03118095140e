"""How lit runs the tests: RUN lines see the project's tools and FileCheck on PATH."""

import os

import lit.formats

config.name = "fleet"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.fleet_obj_root
config.environment["PATH"] = os.pathsep.join([config.fleet_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%test_dir", config.test_source_root))
