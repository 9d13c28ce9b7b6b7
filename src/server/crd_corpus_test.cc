// CustomResourceDefinitions of other projects, and objects of theirs, through the whole server. Invalid objects break rules
// written in CEL for the most part; see server/rules.h.
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/corpus_test.h"
#include "server/registry.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

namespace fs = std::filesystem;

/// The text of a file; one that ends in .gz is unpacked by the tool of that name, and empty where there is none.
std::string text_of(const fs::path& file) {
  if (file.extension() != ".gz") {
    return text_of_file(file);
  }
  std::string out;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(fmt::format("gunzip -c '{}'", file.string()).c_str(), "r"), pclose);
  std::array<char, 4096> piece{};
  while (pipe != nullptr) {
    const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe.get());
    if (count == 0) break;
    out.append(piece.data(), count);
  }
  return out;
}

/// Every document of the folder's files: objects, lists of objects, or rows of {file, object}.
std::vector<std::pair<std::string, Value>> documents(const fs::path& folder) {
  std::vector<fs::path> files;
  std::vector<std::pair<std::string, Value>> out;
  if (!fs::exists(folder)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const auto all = json::parse_yaml_all(text_of(file), {.max_bytes = std::size_t{64} << 20});
    if (!all) continue;
    for (const auto& document : *all) {
      const bool is_list = document.value.is_array();
      for (const Value& one : is_list ? document.value.items() : std::span<const Value>(&document.value, 1)) {
        out.emplace_back(file.filename().string(), one.has("object") ? one["object"] : one);
      }
    }
  }
  return out;
}

bool is_definition(const Value& object) { return object["kind"].as_string() == "CustomResourceDefinition"; }

class CrdCorpus : public ServerTest {
 protected:
  /// Creates the definition once; a later file with the same name replaces it.
  Result<Value> define(const Value& crd) {
    auto made = create(kCrds, crd);
    if (made || made.error().reason != Reason::AlreadyExists) return made;
    const Value old = must(get(kCrds, crd["metadata"]["name"].str(), ""));
    return update(kCrds, crd.with_path({"metadata", "resourceVersion"}, old["metadata"]["resourceVersion"])
                             .with_path({"metadata", "namespace"}, Value()));
  }
  Result<Value> make(const Value& object) {
    SLIPWAY_TRY(gvk, kube::GroupVersionKind::of(object));
    SLIPWAY_TRY(type, server_->registry().find_kind(gvk));
    Value body = object;
    if (type->is_namespaced && kube::ns(object).empty()) body = body.with_path({"metadata", "namespace"}, "default");
    auto made = create(type->resource, body);
    // Examples share names: a later one is judged as an update.
    if (made || made.error().reason != Reason::AlreadyExists) return made;
    const Value old = must(get(type->resource, body["metadata"]["name"].str(), body["metadata"]["namespace"].str()));
    return update(type->resource, body.with_path({"metadata", "resourceVersion"}, old["metadata"]["resourceVersion"]));
  }
};

TEST_F(CrdCorpus, definitions_of_envtest_are_taken_and_established) {
  const auto all = documents(corpus_path("kube/crd/envtest"));
  if (all.empty()) GTEST_SKIP() << "skipped: corpus not found";
  std::size_t total = 0;
  for (const auto& [file, crd] : all) {
    if (!is_definition(crd) || crd["apiVersion"].as_string() != "apiextensions.k8s.io/v1") continue;
    ++total;
    const auto made = define(crd);
    if (crd["spec"]["scope"].as_string().empty()) {  // one has "", which upstream refuses as well
      EXPECT_TRUE(message(made).ends_with("spec.scope: Required value")) << file;
      continue;
    }
    EXPECT_TRUE(made) << file << ": " << message(made);
    if (made) EXPECT_TRUE(kube::is_true(*made, "Established")) << file;
  }
  fmt::print("crd/envtest-server {0}/{0}\n", total);
}

TEST_F(CrdCorpus, valid_objects_of_gateway_api_are_taken) {
  const auto all = documents(corpus_path("kube/crd/gateway-api"));
  if (all.empty()) GTEST_SKIP() << "skipped: corpus not found";
  std::size_t definitions = 0;
  for (const auto& [file, crd] : all) {
    if (!is_definition(crd)) continue;
    ++definitions;
    const auto made = define(crd);
    EXPECT_TRUE(made) << file << ": " << made.error().message;
  }
  if (definitions == 0) GTEST_SKIP() << "skipped: the corpus has no definitions of gateway-api";
  std::size_t total = 0;
  std::size_t passed = 0;
  std::size_t refused = 0;
  std::size_t invalid = 0;
  for (const auto& [file, object] : all) {
    if (is_definition(object) || !object.has("kind")) continue;
    const bool is_invalid = file.find("invalid") != std::string::npos;
    const std::string_view ns = kube::ns(object);
    if (!ns.empty())
      std::ignore = create(
          kNamespaces, json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", json::object({{"name", ns}})}}));
    const auto made = make(object);
    if (is_invalid) {
      ++invalid;
      refused += made ? 0 : 1;
      EXPECT_TRUE(!made && made.error().reason == Reason::Invalid) << file << ": " << message(made);
      continue;
    }
    ++total;
    passed += made ? 1 : 0;
    EXPECT_TRUE(made) << file << ": " << made.error().message;
  }
  fmt::print("crd/gateway-api-valid {}/{}\ncrd/gateway-api-invalid {}/{}\n", passed, total, refused, invalid);
}

}  // namespace
}  // namespace slipway::server
