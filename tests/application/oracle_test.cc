// Every manifest of the corpus with a target, delivered in the oracle's own setting and compared with what the real KubeVela
// did.
//   SLIPWAY_ORACLE_ONLY=TEXT     only manifests whose name contains it; prints all that differs, and the target
//   SLIPWAY_ORACLE_REPORT=FILE   what differs in each case, expected beside found
//   SLIPWAY_DEFINITIONS=FOLDER   definitions of others, *.cue as `vela def` has them in any folders below; they are put into
//                                vela-system in place of the built-in ones, and all manifests must end as before
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/corpus_sample_test.h"
#include "base/text.h"
#include "delivery/application/definition.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_compare.h"
#include "oracle_normalise.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

constexpr std::size_t kMostDifferences = 15;  // manifests whose expected result is our own

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

End deliver(Plane& plane, const std::filesystem::path& folder, const Case& of) {
  const Documents documents = read_documents(folder, of);
  std::vector<std::string> refusals = documents.faults;
  const auto apply = [&](const Value& object) {
    if (std::string refusal = plane.apply(object, of.ns()); !refusal.empty()) {
      refusals.push_back(fmt::format("{} {}: {}", kube::kind(object), kube::name(object), refusal));
    }
  };
  for (const std::string& name : {std::string(kNamespace), of.ns()}) plane.make_namespace(name);
  for (const Value& object : documents.definitions) apply(object);
  plane.pass(std::chrono::seconds{3});
  for (const Value& object : documents.rest) apply(object);
  End end = await_end(plane, of.lines.front()["target"]);
  end.refusals = std::move(refusals);
  return end;
}

void print_whole(const Plane& plane, const End& end) {
  fmt::print("{}\n", json::print_yaml(end.target.without_path({"metadata", "managedFields"})));
  for (const std::string& line : plane.events()) fmt::print("event {}\n", line);
}

/// Why a file below a folder of definitions is none; empty: it is one.
std::string reason_to_skip(const std::filesystem::path& file) {
  const std::string name = file.filename().string(), folder = file.parent_path().filename().string();
  if (!name.ends_with(".cue")) return "no CUE";
  if (name.ends_with("_test.cue")) return "a test of a definition";
  if (folder == "package") return "a package that templates import: part of the program";
  if (folder == "view") return "a query of KubeVela's clients (VelaQL): part of the program";
  return "";
}

/// A settled plane with the definitions of a folder in vela-system. Those that cannot be read are told, and what is skipped.
Image image_with_definitions(const std::filesystem::path& folder) {
  Plane plane(nullptr);
  plane.make_namespace(std::string(kNamespace));
  plane.make_namespace("vela-system");
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    if (const std::string reason = reason_to_skip(entry.path()); !reason.empty()) {
      fmt::print("skipped: {}: {}\n", std::filesystem::relative(entry.path(), folder).string(), reason);
      continue;
    }
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto object = delivery::application::definition_from_cue(entry.path().filename().string(), text);
    EXPECT_TRUE(object) << entry.path() << ": " << (object ? "" : object.error().message);
    if (!object) continue;
    EXPECT_EQ(plane.apply(*object, "vela-system"), "") << entry.path();
    ++count;
  }
  fmt::print("{} definitions of {}\n", count, folder.string());
  EXPECT_TRUE(plane.pass(std::chrono::minutes{1}));
  return plane.image();
}

/// The counts of all cases, and the text of the report.
class Report {
 public:
  void add(const Case& of, const End& end, const Comparison& made) {
    counts_[fmt::format("oracle/{}", name_of(of.kind()))].add(made.is_same_end);
    counts_["oracle/steps"] += made.steps;
    counts_["oracle/services"] += made.services;
    counts_["oracle/objects"] += made.objects;
    text_ += fmt::format("{} {} {}: {} after {} s, {} calls; steps {}/{}, services {}/{}, objects {}/{}\n",
                         made.is_same_end ? "ok  " : "BAD ", name_of(of.kind()), of.file, phase_of(end.target),
                         std::chrono::duration_cast<std::chrono::seconds>(end.took).count(), end.calls, made.steps.passed,
                         made.steps.total, made.services.passed, made.services.total, made.objects.passed, made.objects.total);
    if (!of.difference.empty()) text_ += fmt::format("     expected is our own: {}\n", of.difference);
    for (const std::string& one : made.differences) text_ += fmt::format("     {}\n", one);
  }
  void print() const {
    for (const auto& [suite, count] : counts_) fmt::print("conformance: {} {}/{}\n", suite, count.passed, count.total);
  }
  const std::map<std::string, Count>& counts() const { return counts_; }
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, Count> counts_;
  std::string text_;
};

/// Rows "suite percent" of the table.
std::map<std::string, double> read_bars(const std::filesystem::path& table) {
  std::map<std::string, double> bars;
  std::ifstream in(table);
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    if (!line.starts_with('#') && space != std::string::npos) bars[line.substr(0, space)] = std::stod(line.substr(space));
  }
  return bars;
}

TEST(OracleConformance, delivers_the_manifests_as_kubevela_does) {
  const auto folder = corpus_folder();
  if (folder.empty()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  std::vector<Case> cases = read_cases(folder);
  ASSERT_FALSE(cases.empty());
  const std::filesystem::path tests = std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests";
  EXPECT_EQ(add_differences(cases, tests / "known_failures/oracle.txt"), std::vector<std::string>{});
  EXPECT_LE(std::ranges::count_if(cases, [](const Case& one) { return !one.difference.empty(); }), kMostDifferences);

  const std::string only = variable("SLIPWAY_ORACLE_ONLY");
  Report report;
  for (const Case& one : corpus_sample(std::move(cases))) {
    if (!one.file.contains(only)) continue;
    SCOPED_TRACE(one.file);
    Plane plane(&image());
    const End end = deliver(plane, folder, one);
    report.add(one, end,
               compare(one, end, [&](const std::string& cluster, const Value& object) { return plane.find(cluster, object); }));
    if (!only.empty()) print_whole(plane, end);
  }
  if (corpus_stride() == 1) report.print();
  if (!only.empty()) fmt::print("{}", report.text());
  if (const std::string file = variable("SLIPWAY_ORACLE_REPORT"); !file.empty()) std::ofstream(file) << report.text();
  if (!only.empty() || corpus_stride() > 1) return;
  for (const auto& [suite, percent] : read_bars(tests / "bars_oracle.txt")) {
    const auto found = report.counts().find(suite);
    ASSERT_NE(found, report.counts().end()) << suite;
    EXPECT_GE(100.0 * found->second.passed, percent * found->second.total) << suite << " is below its bar";
  }
}

TEST(OracleConformance, every_file_of_the_built_in_definitions_is_a_definition_or_skipped_with_its_reason) {
  const std::filesystem::path definitions = std::filesystem::path(SLIPWAY_SOURCE_DIR) / "definitions";
  std::map<std::string, int> skipped;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(definitions)) {
    if (entry.is_regular_file()) ++skipped[reason_to_skip(entry.path())];
  }
  EXPECT_GT(skipped["a query of KubeVela's clients (VelaQL): part of the program"], 0);
  EXPECT_GT(skipped["a package that templates import: part of the program"], 0);
  EXPECT_GT(skipped[""], 100);
  const Image made = image_with_definitions(definitions);
  const Value webservice = json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                                         {"kind", "ComponentDefinition"},
                                         {"namespace", "vela-system"},
                                         {"name", "webservice"}});
  EXPECT_FALSE(Plane(&made).find(kHub, webservice).is_null());
}

TEST(OracleConformance, definitions_of_others_end_the_same) {
  const auto folder = corpus_folder();
  if (folder.empty()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  std::filesystem::path definitions = variable("SLIPWAY_DEFINITIONS");
  if (definitions.empty()) definitions = folder / "definitions";
  if (!std::filesystem::is_directory(definitions)) {
    GTEST_SKIP() << "skipped: no definitions of others at $SLIPWAY_DEFINITIONS";
  }
  const Image with_definitions = image_with_definitions(definitions);
  std::vector<Case> cases = read_cases(folder);
  add_differences(cases, std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/known_failures/oracle.txt");
  for (const Case& one : corpus_sample(std::move(cases))) {
    if (!one.file.contains(variable("SLIPWAY_ORACLE_ONLY"))) continue;
    Plane plane(&with_definitions);
    const End end = deliver(plane, folder, one);
    const Comparison made =
        compare(one, end, [&](const std::string& cluster, const Value& object) { return plane.find(cluster, object); });
    const bool is_same = made.is_same_end && made.steps.passed == made.steps.total && made.objects.passed == made.objects.total;
    EXPECT_TRUE(is_same) << one.file << "\n" << fmt::format("{}", fmt::join(made.differences, "\n"));
  }
}

/// What the oracle tells of objects, written here and read back, must be what it was: then defaults, admission, the controllers
/// of the cluster and the normalisation agree with it, and whatever else differs is the delivery's doing.
TEST(OracleConformance, objects_of_the_oracle_survive_the_api_server) {
  const auto folder = corpus_folder();
  if (folder.empty()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  Plane plane(&image());
  Count count;
  std::string differences;
  std::vector<Value> written;
  for (const Case& one : read_cases(folder)) {
    for (const Value& object : expected_objects(one.lines.front())) {
      if (object["apiVersion"].as_string().starts_with("core.oam.dev/")) continue;
      const std::string ns = fmt::format("n{}", written.size());  // objects of different cases have the same name
      plane.make_namespace(ns);
      written.push_back(object.with_path({"metadata", "namespace"}, ns));
      const std::string refusal = plane.apply(written.back(), ns);
      EXPECT_EQ(refusal, "") << one.file;
    }
  }
  plane.pass(std::chrono::seconds{30});
  for (const Value& object : written) {
    const std::vector<std::string> here = object_differences(object, plane.find(kHub, object));
    count.add(here.empty());
    for (const std::string& line : here)
      differences += fmt::format("{} {}: {}\n", kube::kind(object), kube::name(object), line);
  }
  fmt::print("conformance: oracle/survive {}/{}\n", count.passed, count.total);
  EXPECT_EQ(differences, "");
}

TEST(OracleNormalisation, drops_what_differs_from_run_to_run_and_nothing_else) {
  const auto read = [](std::string_view text) {
    auto value = json::parse_yaml(text);
    EXPECT_TRUE(value);
    return value ? *value : Value();
  };
  const Value service = read(
      "{apiVersion: v1, kind: Service, metadata: {name: a, uid: u, resourceVersion: '1', labels: {app.oam.dev/name: a, "
      "oam.dev/render-hash: h}, annotations: {oam.dev/kubevela-version: v1}, ownerReferences: [{kind: Job, name: j, uid: u}]}, "
      "spec: {clusterIP: 10.0.0.1, type: NodePort, ports: [{port: 80, nodePort: 30001}]}, status: {loadBalancer: {}}}");
  EXPECT_EQ(
      normalised(service),
      read("{apiVersion: v1, kind: Service, metadata: {name: a, labels: {app.oam.dev/name: a}, ownerReferences: [{kind: Job, "
           "name: j}]}, spec: {type: NodePort, ports: [{port: 80}]}}"));
  const Value deployment = read(
      "{kind: Deployment, metadata: {name: a, annotations: {own: x, app.oam.dev/last-applied-time: t}}, spec: {replicas: 2, "
      "template: {metadata: {creationTimestamp: null, labels: {a: b}}}}}");
  EXPECT_EQ(
      normalised(deployment),
      read("{kind: Deployment, metadata: {name: a, annotations: {own: x}}, spec: {replicas: 2, template: {metadata: {labels: "
           "{a: b}}}}}"));
  EXPECT_EQ(object_differences(deployment, deployment.with_path({"spec", "replicas"}, 3)),
            (std::vector<std::string>{"spec.replicas: expected 2, found 3"}));
  EXPECT_EQ(object_differences(deployment, Value()), (std::vector<std::string>{"not there"}));
}

}  // namespace
}  // namespace slipway::oracle_test
