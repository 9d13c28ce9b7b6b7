// What shift() and restore() keep: edits of users, other entries, rules and backends; matches, mirrors, retargets, reports.
#include "delivery/rollout/traffic.h"

#include <fmt/format.h>

#include <random>

#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_rig_test.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

Sections golden(std::string_view name) {
  for (auto& [file, sections] : traffic_goldens()) {
    if (file == name) return sections;
  }
  ADD_FAILURE() << name;
  return {};
}

Cluster http_route(const std::string& rules) {
  return Cluster(
      "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: shop}, "
      "spec: {parentRefs: [{name: edge}], rules: [" +
      rules + "]}}");
}

const Value& rules_of(const Cluster& cluster) { return cluster.objects().at("HTTPRoute/web")["spec"]["rules"]; }

Split weight(std::int64_t percent) { return {.weight = percent}; }

Split headers(std::initializer_list<std::string> yaml) {
  Split split;
  for (const std::string& text : yaml) split.matches.push_back(from_yaml(text));
  return split;
}

std::string refusal(const Route& route, const Cluster& cluster, const Split& split) {
  const auto changes = shift(route, cluster.objects(), split);
  if (changes) return "";
  EXPECT_EQ(changes.error().reason, Reason::Invalid);
  return changes.error().message;
}

TEST(Traffic, a_patch_of_weights_tests_the_version_and_the_names_of_the_entries) {
  Cluster cluster = http_route("{backendRefs: [{name: web, port: 80}]}");
  const Route route = route_of("gatewayapi");
  shift_to(cluster, route, weight(10));
  const auto changes = shift(route, cluster.objects(), weight(50));
  ASSERT_EQ(changes->size(), 1U);
  EXPECT_EQ(json::print(changes->front().body),
            R"([{"op":"test","path":"/metadata/resourceVersion","value":"3"},)"
            R"({"op":"test","path":"/spec/rules/0/backendRefs/0/name","value":"web-primary"},)"
            R"({"op":"replace","path":"/spec/rules/0/backendRefs/0/weight","value":50},)"
            R"({"op":"test","path":"/spec/rules/0/backendRefs/1/name","value":"web-canary"},)"
            R"({"op":"replace","path":"/spec/rules/0/backendRefs/1/weight","value":50}])");
}

TEST(Traffic, other_backends_of_a_rule_keep_their_share) {
  Cluster cluster = http_route("{backendRefs: [{name: other, weight: 20}, {name: web, weight: 80}]}");
  const Route route = route_of("gatewayapi");
  shift_to(cluster, route, weight(10));
  EXPECT_EQ(json::print(rules_of(cluster)), R"([{"backendRefs":[{"name":"other","weight":20},)"
                                            R"({"name":"web-primary","weight":72},{"name":"web-canary","weight":8}]}])");
  EXPECT_EQ(observe(route, cluster.objects())->weight, 10);
  Cluster odd = http_route("{backendRefs: [{name: other, weight: 20}, {name: web, weight: 130}]}");
  shift_to(odd, route, weight(5));  // 6.5 of 130
  EXPECT_EQ(rules_of(odd).item(0)["backendRefs"].item(2)["weight"], Value(7));
  EXPECT_EQ(observe(route, odd.objects())->weight, 5);
  const Cluster coarse = http_route("{backendRefs: [{name: other}, {name: web}]}");
  EXPECT_NE(refusal(route, coarse, weight(10)).find("multiply the weights of that list by 100"), std::string::npos);
  EXPECT_EQ(refusal(route, coarse, weight(100)), "");
}

TEST(Traffic, a_pair_of_the_users_own_only_gets_weights) {
  const std::string pair = "{backendRefs: [{name: web-primary, weight: 100}, {name: web-canary, weight: 0}]}";
  Cluster cluster = http_route(pair);
  const Route route = route_of("gatewayapi");
  const Objects before = cluster.plain();
  shift_to(cluster, route, weight(50));
  EXPECT_EQ(json::print(rules_of(cluster).item(0)["backendRefs"]),
            R"([{"name":"web-primary","weight":50},{"name":"web-canary","weight":50}])");
  EXPECT_EQ(restored(cluster, route, false).plain(), before);
  shift_to(cluster, route, weight(100));
  EXPECT_EQ(restored(cluster, route, true).plain(),
            http_route("{backendRefs: [{name: web-primary, weight: 0}, {name: web-canary, weight: 100}]}").plain());
}

TEST(Traffic, a_rule_that_names_the_source_itself_ends_with_the_version_that_stays) {
  const Route route = route_of("gatewayapi");
  Cluster cluster = http_route("{backendRefs: [{name: web-primary, port: 80}]}");
  shift_to(cluster, route, weight(100));
  EXPECT_EQ(restored(cluster, route, false).plain(), http_route("{backendRefs: [{name: web-primary, port: 80}]}").plain());
  EXPECT_EQ(restored(cluster, route, true).plain(), http_route("{backendRefs: [{name: web-canary, port: 80}]}").plain());
}

TEST(Traffic, entries_of_an_abandoned_target_are_replaced) {
  for (const auto& [file, sections] : traffic_goldens()) {
    SCOPED_TRACE(file);
    Route route = golden_route(sections);
    if (route.target_service.empty() || route.provider == "kubernetes") continue;
    Cluster cluster = golden_cluster(sections);
    const Objects before = cluster.plain();
    route.target_service = "web-two";
    shift_to(cluster, route, weight(10));
    route.source_service = "web-old";
    route.target_service = "web-next";
    shift_to(cluster, route, weight(50));
    for (const auto& [key, object] : cluster.plain()) {
      const std::string text = json::print(object);
      EXPECT_EQ(text.find("web-two"), std::string::npos) << text;
      EXPECT_EQ(text.find("web-primary"), std::string::npos) << text;
    }
    EXPECT_EQ(observe(route, cluster.objects())->weight, 50);
    EXPECT_EQ(restored(cluster, route).plain(), before);
  }
}

TEST(Traffic, weights_and_names_that_cannot_be_are_refused) {
  const Cluster cluster = http_route("{backendRefs: [{name: web}]}");
  Route route = route_of("gatewayapi");
  EXPECT_EQ(refusal(route, cluster, weight(101)), "traffic.weight: 101 is not within 0..100");
  EXPECT_EQ(refusal(route, cluster, weight(-1)), "traffic.weight: -1 is not within 0..100");
  EXPECT_EQ(refusal(route, http_route("{backendRefs: [{name: api}]}"), weight(1)),
            "traffic: HTTPRoute \"web\" has no entry for \"web\" (/name); add one, or name another object in ingressRef");
  route.target_service = "web-primary";
  EXPECT_EQ(refusal(route, cluster, weight(1)), "traffic: source and target are both \"web-primary\"; they must differ");
  route.source_service = "";
  EXPECT_EQ(refusal(route, cluster, weight(1)), "traffic.sourceService: Required value");
  route.service = "";
  EXPECT_EQ(refusal(route, cluster, weight(1)),
            "traffic.service: Required value: it or ingressRef says which object carries the weights");
}

TEST(Traffic, an_ingress_that_names_the_source_itself_ends_with_the_version_that_stays) {
  for (const char* file : {"nginx", "skipper", "ambassador"}) {
    SCOPED_TRACE(file);
    Route route = golden_route(golden(file));
    const Cluster named = golden_cluster(golden(file));
    const std::string key = file == std::string("ambassador") ? "Mapping/web" : "Ingress/web";
    const auto with = [&](const std::string& service) {
      std::string text = json::print(named.objects().at(key));
      for (const std::string quoted : {"\"name\":\"web\",\"port", "http://web.shop"}) {
        const std::size_t at = text.find(quoted);
        if (at != std::string::npos) text.replace(at + quoted.find("web"), 3, service);
      }
      return Cluster(text);
    };
    Cluster cluster = with("web-primary");
    EXPECT_TRUE(restore(route, cluster.objects(), true)->empty());
    shift_to(cluster, route, weight(100));
    EXPECT_EQ(restored(cluster, route, false).plain(), with("web-primary").plain());
    EXPECT_EQ(restored(cluster, route, true).plain(), with("web-canary").plain());
  }
}

TEST(Traffic, a_canary_object_of_somebody_else_is_neither_written_nor_deleted) {
  for (const char* file : {"nginx", "skipper", "ambassador"}) {
    const auto sections = golden(file);
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    const std::string kind = file == std::string("ambassador") ? "Mapping" : "Ingress";
    cluster.put(from_yaml("{kind: " + kind + ", metadata: {name: web-canary, namespace: shop}}"));
    EXPECT_NE(refusal(route, cluster, weight(1)).find("\"web-canary\" is not of this rollout; delete or rename it"),
              std::string::npos);
    EXPECT_TRUE(restore(route, cluster.objects(), false)->empty());
  }
}

// --- matches and mirrors

struct Dialect {
  const char* file;
  const char* pointer;  // to the rules
  const char* expected;
};

TEST(Traffic, matches_are_written_in_the_words_of_each_provider) {
  const Split split = headers({"{headers: [{name: X-Lane, value: new}], queryParams: [{name: lane, value: new}]}"});
  const Dialect kDialects[] = {
      {"gatewayapi", "/spec/rules/1/matches",
       R"([{"path":{"type":"PathPrefix","value":"/"},"headers":[{"type":"Exact","name":"X-Lane","value":"new"}],)"
       R"("queryParams":[{"type":"Exact","name":"lane","value":"new"}]}])"},
      {"istio", "/spec/http/1/match", R"([{"headers":{"x-lane":{"exact":"new"}},"queryParams":{"lane":{"exact":"new"}}}])"},
      {"contour", "/spec/routes/1/conditions",
       R"([{"prefix":"/"},{"header":{"name":"X-Lane","exact":"new"}},{"queryParameter":{"name":"lane","exact":"new"}}])"},
      {"gloo", "/spec/routes/0/matchers",
       R"([{"prefix":"/","headers":[{"name":"X-Lane","value":"new","regex":false}],)"
       R"("queryParameters":[{"name":"lane","value":"new","regex":false}]}])"},
      {"appmesh", "/spec/routes/0",
       R"({"name":"pages-match-0","httpRoute":{"match":{"prefix":"/","headers":[{"name":"X-Lane","match":{"exact":"new"}}],)"
       R"("queryParameters":[{"name":"lane","match":{"exact":"new"}}]},"action":{"weightedTargets":[)"
       R"({"virtualNodeRef":{"name":"web-canary"},"weight":100}]}},"priority":999})"},
      {"apisix", "/spec/http/0/match/exprs",
       R"([{"subject":{"scope":"Header","name":"X-Lane"},"op":"Equal","value":"new"},)"
       R"({"subject":{"scope":"Query","name":"lane"},"op":"Equal","value":"new"}])"},
  };
  for (const auto& [file, pointer, expected] : kDialects) {
    SCOPED_TRACE(file);
    const auto sections = golden(file);
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    const std::string key = cluster.objects().begin()->first;
    const Objects before = cluster.plain();
    Split both = split;
    both.weight = 10;
    shift_to(cluster, route, both);
    EXPECT_EQ(json::print(value_at(cluster.objects().at(key), pointer)), expected);
    EXPECT_EQ(observe(route, cluster.objects())->weight, 10);
    EXPECT_EQ(restored(cluster, route).plain(), before);
    Cluster fresh = golden_cluster(sections);
    shift_to(fresh, route, weight(10));
    shift_to(cluster, route, weight(10));
    EXPECT_EQ(cluster.plain(), fresh.plain()) << "the rules of the matches are gone again";
  }
}

TEST(Traffic, text_prefixes_match_whole_segments_only) {
  const auto sections = golden("istio");
  Cluster cluster = golden_cluster(sections);
  shift_to(cluster, golden_route(sections), headers({"{path: {value: /new}, method: GET}"}));
  EXPECT_EQ(json::print(cluster.objects().at("VirtualService/web")["spec"]["http"].item(1)["match"]),
            R"([{"method":{"exact":"GET"},"uri":{"exact":"/new"}},{"method":{"exact":"GET"},"uri":{"prefix":"/new/"}}])");
}

TEST(Traffic, canary_ingresses_match_one_header_and_one_cookie) {
  const auto sections = golden("nginx");
  const Route route = golden_route(sections);
  Cluster cluster = golden_cluster(sections);
  Split split = headers(
      {"{headers: [{name: X-Lane, type: RegularExpression, value: ^new}]}", "{headers: [{name: cookie, value: lane=always}]}"});
  split.weight = 5;
  shift_to(cluster, route, split);
  const Value& annotations = cluster.objects().at("Ingress/web-canary")["metadata"]["annotations"];
  const std::string prefix = "nginx.ingress.kubernetes.io/canary-";
  EXPECT_EQ(annotations[prefix + "by-header"], Value("X-Lane"));
  EXPECT_EQ(annotations[prefix + "by-header-pattern"], Value("^new"));
  EXPECT_EQ(annotations[prefix + "by-cookie"], Value("lane"));
  EXPECT_EQ(annotations[prefix + "weight"], Value("5"));
  Cluster fresh = golden_cluster(sections);
  shift_to(fresh, route, weight(5));
  shift_to(cluster, route, weight(5));
  EXPECT_EQ(cluster.plain(), fresh.plain());
}

TEST(Traffic, what_a_provider_cannot_say_is_refused_and_named) {
  const Split lane = headers({"{headers: [{name: x-lane, value: new}]}"});
  Split mirror = weight(10);
  mirror.mirror_percent = 10;
  struct Case {
    const char* file;
    Split split;
    const char* text;
  };
  const Case kCases[] = {
      {"linkerd", lane, "TrafficSplit \"web\" can neither match nor mirror"},
      {"kuma", lane, "can neither match nor mirror"},
      {"traefik", mirror, "can neither match nor mirror"},
      {"knative", lane, "can neither match nor mirror"},
      {"alb", lane, "can neither match nor mirror"},
      {"skipper", lane, "skipper cannot match requests"},
      {"ambassador", lane, "ambassador cannot match requests"},
      {"nginx", mirror, "nginx cannot mirror"},
      {"appmesh", mirror, "appmesh cannot mirror"},
      {"apisix", mirror, "apisix cannot mirror"},
      {"contour", headers({"{method: GET}"}), "contour cannot match the method"},
      {"apisix", headers({"{path: {type: RegularExpression, value: /a.*}}"}), "cannot match a path by a regular expression"},
      {"nginx", headers({"{path: {value: /new}}"}), "can match one header, and nothing else"},
      {"nginx", headers({"{headers: [{name: a, value: b}]}", "{headers: [{name: c, value: d}]}"}), "one header and one cookie"},
      {"nginx", headers({"{headers: [{name: cookie, value: lane=new}]}"}), "\"NAME=always\""},
      {"gatewayapi", headers({"{header: [{name: a}]}"}), "traffic.matches[0].header: is not a field of HTTPRouteMatch"},
      {"gatewayapi", headers({"{headers: [{name: a, type: Prefix, value: b}]}"}), "traffic.matches[0].headers[0].type"},
      {"gatewayapi", headers({"{headers: [{value: b}]}"}), "traffic.matches[0].headers[0].name: Required value"},
  };
  for (const auto& [file, split, text] : kCases) {
    const auto sections = golden(file);
    const std::string message = refusal(golden_route(sections), golden_cluster(sections), split);
    EXPECT_NE(message.find(text), std::string::npos) << file << ": " << message;
  }
}

TEST(Traffic, a_match_that_contradicts_the_rule_is_refused) {
  const Cluster cluster = http_route("{matches: [{path: {type: Exact, value: /a}, method: GET}], backendRefs: [{name: web}]}");
  const Route route = route_of("gatewayapi");
  EXPECT_NE(refusal(route, cluster, headers({"{path: {value: /b}}"})).find("the path contradicts"), std::string::npos);
  EXPECT_NE(refusal(route, cluster, headers({"{method: POST}"})).find("the method contradicts"), std::string::npos);
  EXPECT_EQ(refusal(route, cluster, headers({"{path: {type: Exact, value: /a}, method: GET}"})), "");
}

TEST(Traffic, mirrors_come_and_go) {
  const Dialect kDialects[] = {
      {"gatewayapi", "/spec/rules/1/filters/1",
       R"({"type":"RequestMirror","requestMirror":{"backendRef":{"group":"","kind":"Service","name":"web-canary","port":80},)"
       R"("percent":20}})"},
      {"istio", "/spec/http/1/mirror", R"({"host":"web-canary.shop.svc.cluster.local","port":{"number":80}})"},
      {"istio", "/spec/http/1/mirrorPercentage", R"({"value":20})"},
      {"contour", "/spec/routes/1/services/2", R"({"name":"web-canary","port":80,"weight":20,"mirror":true})"},
      {"gloo", "/spec/routes/0/options/shadowing",
       R"({"upstream":{"name":"shop-web-canaryupstream-80","namespace":"shop"},"percentage":20})"},
  };
  for (const auto& [file, pointer, expected] : kDialects) {
    SCOPED_TRACE(file);
    const auto sections = golden(file);
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    const std::string key = cluster.objects().begin()->first;
    const Objects before = cluster.plain();
    Split split = weight(10);
    split.mirror_percent = 20;
    shift_to(cluster, route, split);
    const Value& found = value_at(cluster.objects().at(key), pointer);
    EXPECT_EQ(found, json::parse(expected).value()) << json::print(found);
    EXPECT_EQ(observe(route, cluster.objects())->weight, 10);
    EXPECT_EQ(restored(cluster, route).plain(), before);
    Cluster fresh = golden_cluster(sections);
    shift_to(fresh, route, weight(50));
    shift_to(cluster, route, weight(50));
    EXPECT_EQ(cluster.plain(), fresh.plain());
  }
}

TEST(Traffic, a_mirror_of_the_users_own_stays) {
  const auto sections = golden("istio");
  Cluster cluster = golden_cluster(sections);
  const Value object = cluster.objects().at("VirtualService/web");
  const Value mirrored = object["spec"]["http"].item(1).with("mirror", json::object({{"host", "shadow"}}));
  cluster.put(object.with_path({"spec", "http"}, object["spec"]["http"].with_item(1, mirrored)));
  const Objects before = cluster.plain();
  Split split = weight(10);
  split.mirror_percent = 20;
  EXPECT_NE(refusal(golden_route(sections), cluster, split).find("has a mirror already"), std::string::npos);
  shift_to(cluster, golden_route(sections), weight(10));
  EXPECT_EQ(restored(cluster, golden_route(sections)).plain(), before);
}

TEST(Traffic, what_a_server_adds_to_rules_of_ours_is_no_difference) {
  Cluster cluster = http_route("{backendRefs: [{name: web, port: 80}]}");
  const Route route = route_of("gatewayapi");
  Split split = headers({"{headers: [{name: a, value: b}]}"});
  split.weight = 10;
  shift_to(cluster, route, split);
  Value object = cluster.objects().at("HTTPRoute/web");
  const Value match = json::object({{"path", json::object({{"type", "PathPrefix"}, {"value", "/"}})},
                                    {"headers", object["spec"]["rules"].item(0)["matches"].item(0)["headers"]}});
  const Value rule = object["spec"]["rules"].item(0).with("matches", json::array({match}));
  cluster.put(object.with_path({"spec", "rules"}, object["spec"]["rules"].with_item(0, rule)));
  EXPECT_TRUE(shift(route, cluster.objects(), split)->empty());
}

TEST(Traffic, what_users_add_to_rules_of_ours_stays_until_they_change_the_rule_itself) {
  const Route route = route_of("gatewayapi");
  Cluster cluster = http_route("{timeouts: {request: 5s}, backendRefs: [{name: web, port: 80}]}");
  Split split = headers({"{headers: [{name: a, value: b}]}"});
  split.weight = 10;
  shift_to(cluster, route, split);
  const auto change_rule = [&](std::size_t index, auto&& edit) {
    const Value object = cluster.objects().at("HTTPRoute/web");
    const Value& rules = object["spec"]["rules"];
    cluster.put(object.with_path({"spec", "rules"}, rules.with_item(index, edit(rules.item(index)))));
  };
  change_rule(0, [](const Value& rule) { return rule.with("retry", json::object({{"attempts", 3}})); });
  split.weight = 20;
  shift_to(cluster, route, split);
  EXPECT_TRUE(rules_of(cluster).item(0).has("retry"));
  change_rule(1, [](const Value& rule) { return rule.without("timeouts"); });
  shift_to(cluster, route, split);
  EXPECT_EQ(
      json::print(rules_of(cluster).item(0)),
      R"({"backendRefs":[{"name":"web-canary","port":80}],"matches":[{"headers":[{"type":"Exact","name":"a","value":"b"}]}]})");
}

TEST(Traffic, a_backend_that_a_user_has_sent_elsewhere_stays_there) {
  const auto sections = golden("nginx");
  const Route route = golden_route(sections);
  Cluster cluster = golden_cluster(sections);
  shift_to(cluster, route, weight(10));
  const auto moved = [](const Cluster& from, std::string_view service) {
    std::string text = json::print(from.objects().at("Ingress/web"));
    const std::string name = fmt::format("\"name\":\"{}\",\"port\"", service);
    text.replace(text.find(name), name.size(), "\"name\":\"shop\",\"port\"");
    return from_yaml(text);
  };
  cluster.put(moved(cluster, "web-primary"));
  EXPECT_NE(refusal(route, cluster, weight(20)).find("sends nothing to the service \"web\""), std::string::npos);
  Cluster expected;
  expected.put(moved(golden_cluster(sections), "web"));
  EXPECT_EQ(restored(cluster, route).plain(), expected.plain());
}

// --- reports

Observed observed(const std::string& provider, const std::string& object) {
  Cluster cluster(object);
  const auto result = observe(route_of(provider), cluster.objects());
  EXPECT_TRUE(result.has_value());
  return result.value_or(Observed{});
}

std::string gateway_object(const std::string& parents) {
  return "{kind: HTTPRoute, metadata: {name: web, generation: 3}, spec: {parentRefs: [{name: a}, {name: b}]}, status: "
         "{parents: [" +
         parents + "]}}";
}

std::string parent(const std::string& name, const std::string& accepted, const std::string& resolved, int generation) {
  return fmt::format(
      "{{parentRef: {{name: {}}}, conditions: [{{type: Accepted, status: {}, reason: R, observedGeneration: {}}}, "
      "{{type: ResolvedRefs, status: {}, reason: BackendNotFound, observedGeneration: {}}}]}}",
      name, accepted, generation, resolved, generation);
}

TEST(Traffic, a_route_is_accepted_when_every_parent_says_so_of_the_newest_generation) {
  const std::string good = parent("a", "\"True\"", "\"True\"", 3);
  EXPECT_TRUE(observed("gatewayapi", gateway_object(good + ", " + parent("b", "\"True\"", "\"True\"", 3))).is_accepted);
  const std::pair<std::string, std::string> kCases[] = {
      {"", "0 of 2 parents have reported"},
      {good, "1 of 2 parents have reported"},
      {good + ", " + parent("b", "\"True\"", "\"False\"", 3), "parent b: ResolvedRefs is False: BackendNotFound "},
      {good + ", " + parent("b", "\"False\"", "\"True\"", 3), "parent b: Accepted is False: R "},
      {good + ", " + parent("b", "\"True\"", "\"True\"", 2), "parent b: Accepted is of generation 2, not 3"},
      {good + ", {parentRef: {name: b}}", "parent b: Accepted is not reported yet"},
  };
  for (const auto& [parents, text] : kCases) {
    const Observed seen = observed("gatewayapi", gateway_object(parents));
    EXPECT_TRUE(seen.has_report);
    EXPECT_FALSE(seen.is_accepted);
    EXPECT_EQ(seen.text, text);
  }
}

TEST(Traffic, conditions_count_for_the_newest_generation_only) {
  struct Case {
    const char* provider;
    const char* kind;
    const char* condition;
  };
  for (const auto& [provider, kind, condition] :
       {Case{"contour", "HTTPProxy", "Valid"}, Case{"appmesh", "VirtualRouter", "VirtualRouterActive"},
        Case{"knative", "Service", "RoutesReady"}, Case{"apisix", "ApisixRoute", "ResourcesAvailable"},
        Case{"istio", "VirtualService", "Reconciled"}}) {
    SCOPED_TRACE(provider);
    const auto object = [&](const std::string& status) {
      return fmt::format("{{kind: {}, metadata: {{name: web, generation: 2}}, status: {}}}", kind, status);
    };
    const std::string holds = fmt::format("conditions: [{{type: {}, status: \"True\"}}]", condition);
    EXPECT_TRUE(observed(provider, object("{observedGeneration: 2, " + holds + "}")).is_accepted);
    EXPECT_FALSE(observed(provider, object("{observedGeneration: 1, " + holds + "}")).is_accepted);
    const Observed failed =
        observed(provider, object(fmt::format("{{conditions: [{{type: {}, status: \"False\", reason: Broken}}]}}", condition)));
    EXPECT_TRUE(failed.has_report);
    EXPECT_FALSE(failed.is_accepted);
    // Istio and APISIX report only where that is switched on.
    const bool is_always = provider != std::string("istio") && provider != std::string("apisix");
    EXPECT_EQ(observed(provider, object("{}")).has_report, is_always);
  }
  EXPECT_FALSE(observed("nginx", "{kind: Ingress, metadata: {name: web}}").has_report);
}

// --- users in between

/// Edits that a user makes to an object, whether the rollout has written it or not.
Value edited(const Value& object, int what) {
  const auto in_lists = [&](auto&& edit) {
    for (const char* member : {"rules", "http", "routes"}) {
      const Value& list = object["spec"][member];
      if (list.is_array()) return object.with_path({"spec", member}, edit(list));
    }
    return object;
  };
  switch (what) {
    case 0:
      return object.with_path({"metadata", "labels", "owner"}, "user");
    case 1:
      return object.with_path({"spec", "userField"}, json::object({{"a", 1}}));
    case 2:  // a rule of their own first
      return in_lists([&](const Value& list) { return list.inserted(0, json::object({{"name", "mine"}})); });
    case 3:  // and last
      return in_lists([&](const Value& list) { return list.appended(json::object({{"name", "last"}})); });
    case 4:
      return in_lists(
          [&](const Value& list) { return list.with_item(list.size() - 1, list.item(list.size() - 1).with("timeout", "7s")); });
    default:
      return object.with_path({"metadata", "annotations", "user"}, "yes");
  }
}

TEST(Traffic, users_edits_in_between_stay_through_every_shift_and_restore) {
  std::mt19937 random(7);
  const std::string skipped[] = {"kubernetes", "osm", "kuma"};  // their object is a Service of three, or made by the rollout
  for (const auto& [file, sections] : traffic_goldens()) {
    if (std::ranges::find(skipped, file) != std::end(skipped)) continue;
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(fmt::format("{} {}", file, round));
      Route route = golden_route(sections);
      Cluster live = golden_cluster(sections);
      Cluster without = live;  // the same edits, and no rollout
      Route route_written = route;
      const std::string kind = (*needs(route)).front().kind.kind;
      const std::string key = kind + "/" + (*needs(route)).front().name;
      for (int step = 0; step < 8; ++step) {
        switch (random() % 4) {
          case 0: {
            const int what = static_cast<int>(random() % 6);
            live.put(edited(live.objects().at(key), what));
            without.put(edited(without.objects().at(key), what));
            break;
          }
          case 1:
            if (!route.target_service.empty()) route.target_service = random() % 2 == 0 ? "web-canary" : "web-next";
            [[fallthrough]];
          default: {
            Split split = weight(static_cast<std::int64_t>(random() % 101));
            const bool can_match = file == "gatewayapi" || file == "istio" || file == "contour" || file == "gloo";
            if (can_match && random() % 3 == 0) split.matches = {from_yaml("{headers: [{name: a, value: b}]}")};
            if (can_match && random() % 3 == 0) split.mirror_percent = 30;
            shift_to(live, route, split);
            route_written = route;
          }
        }
        ASSERT_EQ(restored(live, route_written).plain(), without.plain());
      }
    }
  }
}

}  // namespace
}  // namespace slipway::delivery::rollout
