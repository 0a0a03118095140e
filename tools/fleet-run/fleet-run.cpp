//===- fleet-run.cpp - Train a bundle on this machine ----------*- C++ -*-===//
//
// The command line of the launcher; options go to the ranks as they are.
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"
#include "Program.h"

#include <cstdio>
#include <cstring>

static const char *const kUsage =
    "usage: fleet-run BUNDLE --data FILE --steps N [options]\n"
    "  --data FILE         step-major safetensors, or a token file (.u8, .u16, "
    ".i32)\n"
    "  --token-type TYPE   uint8, uint16 or int32 for a token file of another "
    "name\n"
    "  --seed N            seed of the shuffle of a token file\n"
    "  --steps N           optimizer steps\n"
    "  --log FILE          metrics, one line of JSON a step\n"
    "  --summary FILE      memory of each rank, in FILE.RANK\n"
    "  --transport T       shm (default) or gloo\n"
    "  --timeout SECONDS   longest wait for a peer, default 300\n";

int main(int argc, char **argv) {
  static const char *const later[] = {"--save-steps", "--save-dir", "--resume",
                                      "--trace", "--elastic"};
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string &argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    for (const char *name : later)
      if (argument.compare(0, std::strlen(name), name) == 0) {
        std::fprintf(stderr, "fleet-run: error: %s is not yet supported\n",
                     name);
        return 1;
      }
  }
  if (arguments.empty() || arguments[0].compare(0, 2, "--") == 0) {
    std::fprintf(stderr, "fleet-run: error: no bundle is given\n%s", kUsage);
    return 1;
  }
  std::string bundle = arguments[0];
  arguments.erase(arguments.begin());
  try {
    return fleet_rt::launch(bundle, arguments);
  } catch (const fleet_rt::Error &error) {
    std::fprintf(stderr, "fleet-run: error: %s\n", error.what());
    return 1;
  }
}
