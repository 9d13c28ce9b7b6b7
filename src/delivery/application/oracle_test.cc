// Applications of the corpus against the objects that KubeVela made of them: every field that is rendered must be in the object
// as it was then found in the cluster, and labels and annotations must be the same but for those that dispatch puts on.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>

#include "delivery/application/render_test.h"
#include "kube/quantity.h"

namespace slipway::delivery::application {
namespace {

using testing::Library;

std::string corpus() {
  const char* given = std::getenv("SLIPWAY_CORPUS");
  for (std::string root : {std::string(given == nullptr ? "" : given), std::string("../shared/corpus")}) {
    if (!root.empty() && std::ifstream(root + "/kubevela/oracle.jsonl")) return root + "/kubevela/";
  }
  return "";
}

std::vector<Value> documents(const std::string& path) {
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (std::size_t at; (at = text.find("TEST_NAMESPACE")) != std::string::npos;) text.replace(at, 14, "$NS");
  auto all = json::parse_yaml_all(text);
  std::vector<Value> out;
  if (!all) return out;
  for (const json::YamlDocument& one : *all) out.push_back(one.value);
  return out;
}

bool is_definition(const Value& object) {
  return kube::kind(object) == "ComponentDefinition" || kube::kind(object) == "TraitDefinition";
}

/// Secrets come back with stringData as data.
const std::set<std::string, std::less<>> kNotFoundAgain = {"stringData"};

/// What the API server leaves out.
bool is_nothing(const Value& value) {
  if (value.is_null() || value == "" || value == false || value == 0) return true;
  return ((value.is_object() || value.is_array()) && value.empty());
}

bool is_same_quantity(const Value& a, const Value& b) {
  auto text_of = [](const Value& value) { return value.is_number() ? value.number_text() : value.str(); };
  auto one = kube::Quantity::parse(text_of(a));
  auto other = kube::Quantity::parse(text_of(b));
  return one && other && one->to_string() == other->to_string();
}

/// Where `made` says something that `found` does not; empty when nowhere.
std::string missing(const Value& made, const Value& found, const std::string& path) {
  if (made.is_null() && found.is_null()) return "";
  if (made.is_object() && found.is_object()) {
    for (auto [key, value] : made.members()) {
      if ((is_nothing(value) && !found.has(key)) || kNotFoundAgain.contains(key)) continue;
      std::string why = missing(value, found[key], path + "." + std::string(key));
      if (!why.empty()) return why;
    }
    return "";
  }
  if (made.is_array() && found.is_array() && made.size() == found.size()) {
    for (std::size_t i = 0; i < made.size(); ++i) {
      std::string why = missing(made.item(i), found.item(i), path + "." + std::to_string(i));
      if (!why.empty()) return why;
    }
    return "";
  }
  return made == found || is_same_quantity(made, found)
             ? ""
             : path + " is " + json::print(made) + " instead of " + json::print(found);
}

Value without_dispatch(const Value& object) {
  Value out = object.without_path({"metadata", "labels", "app.oam.dev/cluster"});
  for (const char* key : {"oam.dev/kubevela-version", "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller",
                          "app.oam.dev/shared-by"})
    out = out.without_path({"metadata", "annotations", key});
  return out;
}

std::string compare(const Value& made, const Value& found) {
  const Value there = without_dispatch(found);
  for (const char* marks : {"labels", "annotations"}) {
    const Value& a = made["metadata"][marks];
    const Value& b = there["metadata"][marks];
    if (!(a.empty() && b.empty()) && a != b)
      return std::string(marks) + " are " + json::print(a) + " instead of " + json::print(b);
  }
  return missing(made, there, std::string(kube::kind(made)) + "/" + std::string(kube::name(made)));
}

/// Policies that change what is rendered are tried elsewhere.
bool is_plain(const Value& application) {
  for (const Value& one : application["spec"]["policies"].items()) {
    if (one["type"] == "override" || one["type"] == "replication" || one["properties"].has("namespace")) return false;
  }
  return !application.is_null();
}

RenderContext context_of(const Value& application) {
  RenderContext out = testing::shop();
  out.app_name = std::string(kube::name(application));
  out.ns = kube::ns(application).empty() ? "$NS" : std::string(kube::ns(application));
  out.app_revision = out.app_name + "-v1";
  out.app_revision_number = 1;
  out.app_labels = application["metadata"]["labels"].is_null() ? json::object({}) : application["metadata"]["labels"];
  if (application["metadata"]["annotations"].is_object()) out.app_annotations = application["metadata"]["annotations"];
  out.components = application["spec"]["components"];
  return out;
}

class OracleCase {
 public:
  OracleCase(const std::string& root, const Value& row) : row_(row) {
    read(root + row["file"].str());
    for (const Value& one : row["extra"].items()) read(root + one["file"].str());
  }

  /// The release before labelled workloads with an empty revision.
  bool applies() const { return is_plain(application_) && !row_["objects"].empty() && row_["release"] != "1.10.3"; }

  /// Objects that were compared, and what differs.
  std::size_t run(std::vector<std::string>& differences) {
    auto spec = read_application(application_["spec"]);
    if (!spec) {
      differences.push_back(spec.error().message);
      return 0;
    }
    std::size_t count = 0;
    for (const ComponentSpec& one : spec->components) {
      if (&one != spec->find(one.name) || !was_delivered(one)) continue;  // of two with one name the first counts
      for (const Value& made : objects_of(one, differences)) {
        if (found(made).is_null()) continue;  // never applied, as the row's steps say
        ++count;
        std::string why = compare(made, found(made));
        if (!why.empty()) differences.push_back(why);
      }
    }
    return count;
  }

 private:
  /// Referred objects are looked up before anything is rendered.
  bool was_delivered(const ComponentSpec& component) const {
    auto is_of_it = [&](const Value& one) { return kube::label(one, "app.oam.dev/component") == component.name; };
    return component.type != "ref-objects" && std::ranges::any_of(row_["objects"].items(), is_of_it);
  }

  void read(const std::string& path) {
    for (const Value& one : documents(path)) {
      if (is_definition(one)) library_.add(one);
      if (kube::kind(one) == "Application" && kube::name(one) == row_["target"]["name"].as_string()) application_ = one;
    }
  }

  std::vector<Value> objects_of(const ComponentSpec& component, std::vector<std::string>& differences) {
    const RenderContext context = context_of(application_);
    const ComponentTemplates templates = library_.templates_of(component);
    Value live;
    auto outcome = render_component(component, templates, context, {}, {}, live);
    if (outcome && std::holds_alternative<RenderedComponent>(*outcome)) {
      live = json::object({{"output", found(std::get<RenderedComponent>(*outcome).workload)}});
      outcome = render_component(component, templates, context, {}, {}, live);
    }
    if (!outcome) {
      differences.push_back(to_string(outcome.error()));
      return {};
    }
    const auto made = testing::rendered(outcome);
    std::vector<Value> out = {made.workload};
    for (const RenderedObject& one : made.others) out.push_back(one.object);
    return out;
  }

  const Value& found(const Value& made) const {
    static const Value kNone;
    for (const Value& one : row_["objects"].items()) {
      if (kube::kind(one) == kube::kind(made) && kube::name(one) == kube::name(made)) return one;
    }
    return kNone;
  }

  const Value& row_;
  Value application_;
  Library library_;
};

TEST(RenderOracle, plain_applications_become_the_objects_that_upstream_makes) {
  const std::string root = corpus();
  if (root.empty()) GTEST_SKIP() << "no corpus";
  std::ifstream in(root + "oracle.jsonl");
  std::size_t applications = 0, objects = 0;
  for (std::string line; std::getline(in, line);) {
    auto row = json::parse(line, {.max_bytes = std::size_t{64} << 20});
    ASSERT_TRUE(row.has_value());
    OracleCase one(root, *row);
    if (!one.applies()) continue;
    ++applications;
    std::vector<std::string> differences;
    objects += one.run(differences);
    for (const std::string& why : differences) ADD_FAILURE() << (*row)["file"].as_string() << ": " << why;
  }
  std::cout << "oracle: " << applications << " applications, " << objects << " objects\n";
  EXPECT_GT(applications, 20u);
}

}  // namespace
}  // namespace slipway::delivery::application
