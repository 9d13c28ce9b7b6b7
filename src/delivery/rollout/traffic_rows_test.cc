// Every row of the table on objects of a user: tests/golden/traffic has a file per provider with whole objects at each weight.
#include "delivery/rollout/traffic_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/rollout/traffic_rig_test.h"
#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema.h"

namespace slipway::delivery::rollout {
namespace {

constexpr std::int64_t kWeights[] = {0, 10, 50, 100};

TEST(TrafficRows, whole_objects_at_each_weight_are_as_the_files_say) {
  for (const auto& [file, sections] : traffic_goldens()) {
    SCOPED_TRACE(file);
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    Sections expected = {sections.at(0), sections.at(1)};
    for (const std::int64_t weight : kWeights) {
      const auto changes = shift(route, cluster.objects(), {.weight = weight});
      const std::string title = fmt::format("weight {}", weight);
      if (!changes) {
        expected.emplace_back(title, fmt::format("{}: {}\n", to_string(changes.error().reason), changes.error().message));
        continue;
      }
      cluster.apply(*changes);
      expected.emplace_back(title, cluster.yaml());
    }
    expected.emplace_back("restored, target stays", restored(cluster, route, true).yaml());
    expect_golden(file, expected);
  }
}

TEST(TrafficRows, built_in_kinds_that_are_written_pass_their_schema) {
  const auto types = kube::builtin_types();
  int seen = 0;
  for (const auto& [file, sections] : traffic_goldens()) {
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    shift_to(cluster, route, {.weight = 100});
    for (const auto& [key, object] : cluster.objects()) {
      const auto kind = kube::GroupVersionKind::of(object);
      const auto type = std::ranges::find(types, *kind, &kube::ResourceType::kind);
      if (type == types.end() || !type->schema) continue;
      for (const Cause& cause : type->schema->validate(object)) ADD_FAILURE() << file << ": " << cause.field << cause.message;
      ++seen;
    }
  }
  EXPECT_GE(seen, 14);  // five pairs of Ingresses, one alone, three Services
}

TEST(TrafficRows, every_row_has_a_file) {
  std::set<std::string> covered;
  for (const auto& [file, sections] : traffic_goldens()) covered.insert(golden_route(sections).provider);
  for (const TrafficRow& row : traffic_rows())
    EXPECT_TRUE(covered.contains(std::string(row.providers.front()))) << row.providers.front();
}

TEST(TrafficRows, weights_are_read_back_and_a_second_shift_writes_nothing) {
  for (const auto& [file, sections] : traffic_goldens()) {
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    EXPECT_EQ(observe(route, cluster.objects())->weight, std::nullopt) << file;
    for (const std::int64_t weight : kWeights) {
      SCOPED_TRACE(fmt::format("{} {}", file, weight));
      if (route.provider == "kubernetes" && weight % 100 != 0) continue;
      shift_to(cluster, route, {.weight = weight});
      EXPECT_EQ(observe(route, cluster.objects())->weight, weight);
    }
  }
}

TEST(TrafficRows, restore_gives_back_whole_objects_from_every_weight_and_once_more_writes_nothing) {
  for (const auto& [file, sections] : traffic_goldens()) {
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    const Objects before = cluster.plain();
    EXPECT_EQ(restored(cluster, route).plain(), before) << file;
    for (const std::int64_t weight : {0, 1, 10, 99, 50, 100, 0}) {
      if (route.provider == "kubernetes" && weight % 100 != 0) continue;
      SCOPED_TRACE(fmt::format("{} {}", file, weight));
      shift_to(cluster, route, {.weight = weight});
      const Cluster back = restored(cluster, route);
      EXPECT_EQ(back.plain(), before);
      EXPECT_TRUE(restore(route, back.objects(), false)->empty());
      // All these name the service, so it makes no difference which version stays.
      EXPECT_EQ(restored(cluster, route, true).plain(), before);
    }
  }
}

TEST(TrafficRows, a_shift_or_a_restore_that_stopped_half_way_is_taken_up_again) {
  for (const auto& [file, sections] : traffic_goldens()) {
    SCOPED_TRACE(file);
    const Route route = golden_route(sections);
    const Cluster fresh = golden_cluster(sections);
    Cluster shifted = fresh;
    shift_to(shifted, route, {.weight = 100});
    const auto first = *shift(route, fresh.objects(), {.weight = 100});
    for (std::size_t done = 0; done < first.size(); ++done) {
      Cluster half = fresh;
      half.apply({first.begin(), first.begin() + static_cast<std::ptrdiff_t>(done)});
      EXPECT_EQ(restored(half, route).plain(), fresh.plain()) << done;
      shift_to(half, route, {.weight = 100});
      EXPECT_EQ(half.plain(), shifted.plain()) << done;
    }
    for (const bool target_stays : {false, true}) {
      const auto last = *restore(route, shifted.objects(), target_stays);
      for (std::size_t done = 0; done < last.size(); ++done) {
        Cluster half = shifted;
        half.apply({last.begin(), last.begin() + static_cast<std::ptrdiff_t>(done)});
        EXPECT_EQ(restored(half, route, target_stays).plain(), fresh.plain()) << done;
      }
    }
  }
}

TEST(TrafficRows, needs_name_every_object_that_shift_reads_or_writes) {
  for (const auto& [file, sections] : traffic_goldens()) {
    SCOPED_TRACE(file);
    const Route route = golden_route(sections);
    Cluster cluster = golden_cluster(sections);
    std::map<std::string, bool> needed;
    for (const Need& need : *needs(route)) needed[need.kind.kind + "/" + need.name] = need.must_exist;
    for (const auto& [key, object] : cluster.objects()) EXPECT_TRUE(needed.contains(key)) << key;
    shift_to(cluster, route, {.weight = 100});
    for (const auto& [key, object] : cluster.objects()) EXPECT_TRUE(needed.contains(key)) << key;
    for (const auto& [key, must_exist] : needed) {
      if (!must_exist || key.starts_with("VirtualNode/")) continue;  // of App Mesh: only asked for, never read
      Objects fewer = golden_cluster(sections).objects();
      fewer.erase(key);
      const auto refused = shift(route, fewer, {.weight = 100});
      const bool is_chosen = route.provider != "kubernetes" || key != "Service/web-primary";
      EXPECT_EQ(refused.has_value(), !is_chosen) << key;
      if (!refused) EXPECT_EQ(refused.error().reason, Reason::NotFound) << key;
    }
  }
}

TEST(TrafficRows, an_unknown_provider_is_told_which_there_are) {
  const auto refused = needs(route_of("ingress"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason, Reason::Invalid);
  EXPECT_NE(refused.error().message.find("alb, aliyun-alb, ambassador, apisix, appmesh"), std::string::npos)
      << refused.error().message;
}

TEST(TrafficRows, names_that_users_of_flagger_write_are_there) {
  const auto known = traffic_providers();
  for (const char* name : {"istio",           "linkerd",         "osm",        "smi",           "smi:v1alpha1",
                           "smi:v1alpha2",    "smi:v1alpha3",    "gatewayapi", "gatewayapi:v1", "gatewayapi:v1beta1",
                           "nginx",           "contour",         "gloo",       "traefik",       "appmesh",
                           "appmesh:v1beta1", "appmesh:v1beta2", "kuma",       "apisix",        "skipper",
                           "knative",         "kubernetes"}) {
    EXPECT_TRUE(traffic_row(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace slipway::delivery::rollout
