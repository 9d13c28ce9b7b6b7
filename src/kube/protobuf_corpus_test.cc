// Every pair of the golden objects: the wire form decodes to exactly the JSON, and the JSON encodes to exactly the wire form.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kube/corpus_test.h"
#include "kube/go_literal_test.h"
#include "kube/protobuf.h"

namespace slipway::kube {
namespace {

std::vector<std::string> golden_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".pb") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// "policy.v1.Eviction" without its envelope's help: only WatchEvent needs it.
GroupVersionKind kind_of(const std::string& name) {
  const std::size_t kind = name.rfind('.');
  const std::size_t version = name.rfind('.', kind - 1);
  const std::string group = name.substr(0, version);
  return {group == "core" ? "" : group, name.substr(version + 1, kind - version - 1), name.substr(kind + 1)};
}

TEST(ProtobufCorpus, decodes_and_encodes_every_golden_object) {
  const std::filesystem::path folder = corpus_path("kube/api-golden");
  if (folder.empty()) GTEST_SKIP() << "skipped: corpus not found";
  Suite decoded("api-golden/protobuf-decode");
  Suite encoded("api-golden/protobuf-encode");
  for (const std::string& name : golden_names(folder)) {
    const json::Value expected = corpus_value("kube/api-golden/" + name + ".json");
    if (expected.is_null()) continue;
    std::ifstream file(folder / (name + ".pb"), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    const auto object = decode_protobuf(bytes.str(), kind_of(name));
    decoded.expect(object.has_value() && *object == expected,
                   name + ": " + (object ? json::print(*object) : object.error().message));
    if (!expected.has("kind")) continue;
    const auto wire = encode_protobuf(expected);
    encoded.expect(wire.has_value() && *wire == bytes.str(), name + (wire ? "" : ": " + wire.error().message));
  }
}

}  // namespace
}  // namespace slipway::kube
