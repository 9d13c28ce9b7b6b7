// Writes the CustomResourceDefinitions of all own kinds, made from their described structs, into a folder: `gen_crds crds`.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "json/text.h"
#include "kube/object.h"
#include "plane/plane.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: gen_crds FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (const auto& definition : slipway::plane::custom_resource_definitions()) {
    const std::string path = std::string(argv[1]) + "/" + std::string(slipway::kube::name(definition)) + ".yaml";
    std::ofstream(path) << slipway::json::print_yaml(definition);
    std::printf("%s\n", path.c_str());
  }
  return 0;
}
