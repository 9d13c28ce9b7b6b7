#include "delivery/rollout/traffic_rig_test.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "json/patch.h"
#include "json/text.h"

namespace slipway::delivery::rollout {

namespace {

namespace fs = std::filesystem;

fs::path golden_folder() {
  for (const char* root : {"tests", "../tests", "../../tests"}) {
    if (fs::path folder = fs::path(root) / "golden/traffic"; fs::exists(folder)) return folder;
  }
  return {};
}

Sections parse_sections(std::istream& in) {
  Sections sections;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("-- ") && line.ends_with(" --")) {
      sections.emplace_back(line.substr(3, line.size() - 6), "");
    } else if (!sections.empty()) {
      sections.back().second += line + "\n";
    }
  }
  return sections;
}

std::map<std::string, std::string> texts_of(const json::Value& map) {
  std::map<std::string, std::string> texts;
  for (const auto [key, value] : map.members()) texts.emplace(key, value.str());
  return texts;
}

}  // namespace

Cluster::Cluster(const std::string& yaml) {
  const auto documents = json::parse_yaml_all(yaml);
  EXPECT_TRUE(documents.has_value()) << (documents ? "" : documents.error().message);
  if (!documents) return;
  for (const json::YamlDocument& document : *documents) put(document.value);
}

void Cluster::put(const kube::Object& object) {
  const std::string key = std::string(kube::kind(object)) + "/" + std::string(kube::name(object));
  objects_[key] = object.with_path({"metadata", "resourceVersion"}, std::to_string(++revision_));
}

void Cluster::apply(const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const std::string key = change.object_kind.kind + "/" + change.name;
    const auto found = objects_.find(key);
    switch (change.kind) {
      case Change::Kind::Create:
        EXPECT_EQ(found, objects_.end()) << key;
        EXPECT_EQ(kube::name(change.body), change.name);
        put(change.body);
        break;
      case Change::Kind::Patch: {
        ASSERT_NE(found, objects_.end()) << key;
        EXPECT_EQ(change.body.item(0)["op"], json::Value("test"));
        EXPECT_EQ(change.body.item(0)["path"], json::Value("/metadata/resourceVersion"));
        const auto patched = json::apply_json_patch(found->second, change.body);
        ASSERT_TRUE(patched.has_value()) << patched.error().message << "\n" << json::print(change.body);
        put(*patched);
        break;
      }
      case Change::Kind::Delete:
        EXPECT_NE(found, objects_.end()) << key;
        objects_.erase(key);
        break;
    }
  }
}

Objects Cluster::plain() const {
  Objects plain;
  for (const auto& [key, object] : objects_) plain.emplace(key, object.without_path({"metadata", "resourceVersion"}));
  return plain;
}

std::string Cluster::yaml() const {
  std::string text;
  for (const auto& [key, object] : plain()) text += (text.empty() ? "" : "---\n") + json::print_yaml(object);
  return text;
}

kube::Object from_yaml(const std::string& text) {
  const auto value = json::parse_yaml(text);
  EXPECT_TRUE(value.has_value()) << (value ? "" : value.error().message);
  return value ? *value : kube::Object();
}

Route route_of(const std::string& provider) {
  return {.provider = provider,
          .ns = "shop",
          .ingress = "",
          .service = "web",
          .source_service = "web-primary",
          .target_service = "web-canary",
          .port = 80};
}

void shift_to(Cluster& cluster, const Route& route, const Split& split) {
  const auto changes = shift(route, cluster.objects(), split);
  ASSERT_TRUE(changes.has_value()) << changes.error().message;
  cluster.apply(*changes);
  const auto again = shift(route, cluster.objects(), split);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->empty()) << "writes again: " << (again->empty() ? "" : json::print(again->front().body));
}

Cluster restored(Cluster cluster, const Route& route, bool target_stays) {
  const auto changes = restore(route, cluster.objects(), target_stays);
  EXPECT_TRUE(changes.has_value()) << (changes ? "" : changes.error().message);
  if (changes) cluster.apply(*changes);
  return cluster;
}

std::vector<std::pair<std::string, Sections>> traffic_goldens() {
  std::vector<std::pair<std::string, Sections>> all;
  const fs::path folder = golden_folder();
  EXPECT_FALSE(folder.empty()) << "run from the source tree";
  if (folder.empty()) return all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    all.emplace_back(entry.path().stem(), parse_sections(in));
  }
  std::ranges::sort(all);
  return all;
}

void expect_golden(const std::string& file, const Sections& sections) {
  const fs::path path = golden_folder() / (file + ".txtar");
  std::string text;
  for (const auto& [name, content] : sections) text.append("-- ").append(name).append(" --\n").append(content);
  std::ifstream in(path);
  std::stringstream present;
  present << in.rdbuf();
  if (present.str() != text && std::getenv("SLIPWAY_UPDATE") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(present.str(), text) << path;
}

Route golden_route(const Sections& sections) {
  const json::Value text = from_yaml(sections.at(0).second);
  Route route = route_of(text["provider"].str());
  if (text.has("ingress")) route.ingress = text["ingress"].str();
  if (text.has("targetService")) route.target_service = text["targetService"].str();
  route.source_labels = texts_of(text["sourceLabels"]);
  route.target_labels = texts_of(text["targetLabels"]);
  return route;
}

Cluster golden_cluster(const Sections& sections) { return Cluster(sections.at(1).second); }

}  // namespace slipway::delivery::rollout
