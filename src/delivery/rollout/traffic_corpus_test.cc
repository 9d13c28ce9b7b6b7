// The corpus: facts of 27 provider rows, Flagger's router tests, and Kruise's Istio objects before and after each step.
#include <fmt/format.h>

#include "base/corpus_test.h"
#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_forms.h"
#include "delivery/rollout/traffic_rig_test.h"
#include "json/path.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

Value corpus(const std::string& file) {
  const auto text = corpus_file("rollouts/" + file);
  if (!text) return {};
  const auto value = json::parse(*text, {.max_bytes = std::size_t{64} << 20});
  EXPECT_TRUE(value.has_value()) << file;
  return value.value_or(Value());
}

const Value& group_of(const Value& file, std::string_view id) {
  static const Value none;
  for (const Value& group : file["groups"].items()) {
    if (group["id"].as_string() == id) return group["cases"];
  }
  return none;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// --- traffic-providers.json

struct Deviation {
  std::string_view id;
  std::string_view provider;     // empty: the id itself
  std::string_view object_name;  // empty: as the row says
  std::string_view reason;
};

constexpr Deviation kDeviations[] = {
    {"gatewayapi:v1", "gatewayapi", "", ""},
    {"argo:alb", "alb", "", "the load balancer reads forwardConfig.targetGroups where the row says forward.targetGroups"},
    {"argo:ambassador", "ambassador", "", ""},
    {"argo:nginx", "nginx", "web-canary", "the copy is named after its Ingress alone: a route knows no rollout"},
    {"argo:istio-subset", "istio-subset", "", "v1beta1 of the same kind; rules without a name are edited too"},
    {"argo:traefik", "traefik", "", ""},
    {"argo:apisix", "apisix", "", "rules without a name are edited too"},
    {"apisix", "apisix", "web", "weights stand in the route itself, as Argo Rollouts writes them; no copy outranks it"},
    {"kruise:nginx", "nginx", "", ""},
    {"kruise:aliyun-alb", "aliyun-alb", "", ""},
    {"kruise:mse", "mse", "", ""},
    {"kruise:higress", "higress", "", ""},
    {"smi:v1alpha1", "linkerd", "", ""},
    {"smi:v1alpha2", "osm", "", ""},
    {"appmesh:v1beta2", "appmesh", "", ""},
};

Deviation deviation_of(std::string_view id) {
  for (const Deviation& one : kDeviations) {
    if (one.id == id) return one;
  }
  return {id, id, "", ""};
}

/// A row's text with the names of the goldens in place of its variables.
std::string with_names(const Value& row, std::string_view raw) {
  std::string text(raw);
  const std::pair<std::string_view, std::string_view> kNames[] = {
      {"${apex}", "web"},
      {"${namespace}", "shop"},
      {"${port}", "80"},
      {"${target}", "web"},
      {"${primaryRevision}", "web-primary"},
      {"${canaryService}", "web-canary"},
      {"${stableService}", "web-primary"},
      {"${rootOrStableService}", "web"},
      {"${canarySubset}", "web-canary"},
      {"${stableSubset}", "web-primary"},
      {"${ingressRef}", "web"},
      {"${ingress}", "web"},
      {"${mapping}", "web"},
      {"${virtualService}", "web"},
      {"${weightedTraefikServiceName}", "web"},
      {"${route}", "web"},
      {"${prefix}", row["defaults"]["prefix"].as_string()},
      {"[?(@.name=='web')].route", "[*].route"},  // a rule's name, of Argo's Istio
      {"[?(@.name=='${rule}')].backends", "[*].backends"},
      {").forward.", ").forwardConfig."},
      {"rules[0]", "rules[*]"},  // Flagger's objects have one rule; those of users have others before it
      {"routes[0]", "routes[*]"},
  };
  for (const auto& [from, to] : kNames) replace_all(text, from, to);
  return text;
}

/// The numbers that a path of a row finds; "json(PATH)REST" reads REST in the JSON text at PATH.
std::vector<Value> found(const Value& object, std::string path) {
  if (path.starts_with("json(")) {
    const std::size_t end = path.find("'])") + 2;
    const auto text = found(object, path.substr(5, end - 5));
    if (text.empty()) return {};
    return found(json::parse(text.front().as_string()).value_or(Value()), "$" + path.substr(end + 1));
  }
  // Keys with dots: the pointer form is exact, where JSONPath of kubectl is not.
  if (const std::size_t at = path.find("annotations['"); at != std::string::npos) {
    return {object["metadata"]["annotations"][path.substr(at + 13, path.rfind('\'') - at - 13)]};
  }
  if (path.starts_with("$['")) return {object[path.substr(3, path.rfind('\'') - 3)]};
  if (const std::size_t at = path.find("@.destination['kuma.io/service']=="); at != std::string::npos) {
    const std::string name = path.substr(at + 35, path.rfind("')") - at - 35);
    for (const Value& entry : object["spec"]["conf"]["split"].items()) {
      if (entry["destination"]["kuma.io/service"].as_string() == name) return {entry["weight"]};
    }
    return {};
  }
  if (path.contains("@.latestRevision==true")) {
    for (const Value& entry : object["spec"]["traffic"].items()) {
      if (entry["latestRevision"].as_bool()) return {entry["percent"]};
    }
    return {};
  }
  const auto compiled = json::Path::compile("{" + path + "}");
  EXPECT_TRUE(compiled.has_value()) << path << (compiled ? "" : compiled.error().message);
  if (!compiled) return {};
  const auto results = compiled->evaluate(object, json::Path::Missing::Empty);
  EXPECT_TRUE(results.has_value()) << path << (results ? "" : results.error().message);
  return results && !results->empty() ? results->front() : std::vector<Value>{};
}

/// Whether every number that the path finds is `wanted`; an entry that is left out counts as 0.
::testing::AssertionResult carries(const Value& object, const std::string& path, std::int64_t wanted) {
  const auto values = found(object, path);
  if (values.empty() && wanted != 0) return ::testing::AssertionFailure() << path << " finds nothing";
  for (const Value& value : values) {
    const std::string text = value.is_string() ? value.str() : json::print(value);
    if (text != std::to_string(wanted)) return ::testing::AssertionFailure() << path << " is " << text << ", not " << wanted;
  }
  return ::testing::AssertionSuccess();
}

void check_row(const Value& row, const Route& route, Cluster cluster) {
  const Deviation deviation = deviation_of(row["id"].as_string());
  const std::string name =
      deviation.object_name.empty() ? with_names(row, row["objectName"].as_string()) : std::string(deviation.object_name);
  const std::string key = row["kind"].str() + "/" + name;
  for (const std::int64_t weight : {10, 50, 100, 0}) {
    if (row["weightPaths"].empty() && weight % 100 != 0) continue;  // `kubernetes`
    shift_to(cluster, route, {.weight = weight});
    ASSERT_TRUE(cluster.objects().contains(key)) << key;
    const Value& object = cluster.objects().at(key);
    const bool has_version =
        deviation.reason.starts_with("v1beta1") || row["apiVersion"].as_string().starts_with(object["apiVersion"].as_string());
    EXPECT_TRUE(has_version) << object["apiVersion"].as_string();
    for (const auto& [who, wanted] : {std::pair{"canary", weight}, std::pair{"primary", 100 - weight}}) {
      if (!row["weightPaths"].has(who)) continue;
      // Where the target is left out at 0, whatever weight the source has is all.
      if (weight == 0 && who == std::string("primary") && object["kind"] != Value("Ingress")) continue;
      EXPECT_TRUE(carries(object, with_names(row, row["weightPaths"][who].as_string()), wanted));
    }
    for (const auto [path, text] : row["extra"].members()) EXPECT_EQ(found(object, std::string(path)).front(), text);
    if (row.has("sumPath")) EXPECT_EQ(found(object, with_names(row, row["sumPath"].as_string())).front(), Value());
  }
}

TEST(TrafficCorpus, rows_of_traffic_providers_hold) {
  const Value file = corpus("traffic-providers.json");
  if (file.is_null()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  std::map<std::string, Sections> goldens;
  for (auto& [name, sections] : traffic_goldens()) {
    replace_all(sections[1].second, "web.shop.svc.cluster.local", "web");  // rows know short names of hosts alone
    goldens[golden_route(sections).provider] = sections;
  }
  int passed = 0;
  int total = 0;
  for (const Value& group : file["groups"].items()) {
    for (const Value& row : group["cases"].items()) {
      SCOPED_TRACE(row["id"].str());
      ++total;
      const std::string provider(deviation_of(row["id"].as_string()).provider);
      ASSERT_TRUE(goldens.contains(provider)) << provider;
      const auto failures = ::testing::UnitTest::GetInstance()->current_test_info()->result();
      const int before = failures->total_part_count();
      check_row(row, golden_route(goldens[provider]), golden_cluster(goldens[provider]));
      if (failures->total_part_count() == before) ++passed;
    }
  }
  fmt::print("rollouts/traffic-providers/rows {}/{}\n", passed, total);
  EXPECT_GE(total, 27);
}

// --- flagger.json

TEST(TrafficCorpus, flagger_routers) {
  const Value file = corpus("flagger.json");
  if (file.is_null()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  int passed = 0;
  int total = 0;
  const auto count = [&](bool is_as_expected, const Value& test) {
    EXPECT_TRUE(is_as_expected) << json::print(test);
    passed += is_as_expected ? 1 : 0;
    ++total;
  };
  std::map<std::string, Sections> goldens;
  for (auto& [name, sections] : traffic_goldens()) goldens[name] = sections;
  for (const char* provider : {"traefik", "skipper"}) {
    const Route route = golden_route(goldens[provider]);
    Cluster cluster = golden_cluster(goldens[provider]);
    const bool is_traefik = std::string_view(provider) == "traefik";
    for (const Value& test :
         group_of(file, is_traefik ? "TestTraefikRouter_SetRoutes" : "TestSkipperRouter_GetSetRoutes").items()) {
      shift_to(cluster, route, {.weight = test["canary"].as_int()});
      const auto observed = observe(route, cluster.objects());
      const std::size_t services =
          value_at(cluster.objects().at(is_traefik ? "TraefikService/web" : "Ingress/web-canary"), "/spec/weighted/services")
              .size();
      count(observed->weight == test["canary"].as_int() && 100 - *observed->weight == test["primary"].as_int() &&
                services == static_cast<std::size_t>(test["servicesLen"].as_int()),
            test);
    }
  }
  for (const Value& test : group_of(file, "Test_insertPredicate").items()) {
    count(copies::insert_predicate(test["raw"].as_string(), test["insert"].as_string()) == test["want"].as_string(), test);
  }
  fmt::print("rollouts/flagger/routers {}/{}\n", passed, total);
  EXPECT_GE(total, 15);
}

// --- kruise-traffic-objects.json

Split kruise_split(const Value& step) {
  Split split;
  for (const Value& match : step["matches"].items()) split.matches.push_back(match);
  split.request_headers = step["requestHeaderModifier"];
  if (step.has("traffic")) split.weight = std::stoi(step["traffic"].str());
  if (step.has("weight")) split.weight = step["weight"].as_int();
  return split;
}

/// Kruise's canary Service where there is one (a rollout); else a subset "canary" beside the one that is there.
Route kruise_route(const Value& test) {
  Route route = route_of("istio");
  route.ns = "default";
  route.ingress = kube::kind(test["original"]) == "VirtualService" ? std::string(kube::name(test["original"])) : "vs-demo";
  route.service = route.source_service = "svc-demo";
  route.target_service = "svc-demo-canary";
  if (test.has("trafficRouting")) {
    route.provider = "istio-subset";
    route.source_service = kube::kind(test["original"]) == "DestinationRule" ? "version-base" : "base";
    route.target_service = "canary";
    route.source_labels = {{"version", "base"}};
    route.target_labels = {{"istio.service.tag", "gray"}};
  }
  return route;
}

TEST(TrafficCorpus, kruise_objects) {
  const Value file = corpus("kruise-traffic-objects.json");
  if (file.is_null()) GTEST_SKIP() << "skipped: no corpus at $SLIPWAY_CORPUS";
  int passed = 0;
  int total = 0;
  for (const Value& one : group_of(file, "istio-objects").items()) {
    const Value& test = one["case"];
    SCOPED_TRACE(one["file"].str());
    const Route route = kruise_route(test);
    Cluster cluster(
        R"({kind: VirtualService, metadata: {name: vs-demo}, spec: {http: [{route: [{destination: {host: svc-demo}}]}]}}
---
{kind: DestinationRule, metadata: {name: ds-demo}, spec: {host: svc-demo}}
)");
    cluster.put(test["original"]);
    const std::string key = test["original"]["kind"].str() + "/" + test["original"]["metadata"]["name"].str();
    const Value steps = test.has("rollout") ? test["rollout"]["spec"]["strategy"]["canary"]["steps"]
                                            : json::array({test["trafficRouting"]["spec"]["strategy"]});
    bool holds = steps.size() == test["expected"].size();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      shift_to(cluster, route, kruise_split(steps.item(i)));
      EXPECT_EQ(cluster.objects().at(key)["spec"], test["expected"].item(i)["spec"]) << i;
      holds = holds && cluster.objects().at(key)["spec"] == test["expected"].item(i)["spec"];
    }
    EXPECT_EQ(restored(cluster, route).plain().at(key), test["original"]);
    passed += holds ? 1 : 0;
    ++total;
  }
  fmt::print("rollouts/kruise-traffic-objects/istio-objects {}/{}\n", passed, total);
  EXPECT_EQ(passed, total);
}

}  // namespace
}  // namespace slipway::delivery::rollout
