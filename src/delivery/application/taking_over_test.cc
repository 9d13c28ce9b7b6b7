#include "delivery/application/taking_over.h"

#include <gtest/gtest.h>

#include "delivery/application/standstill.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

Value parsed(const char* text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

TEST(TakingOver, specs_are_the_same_without_members_that_say_nothing) {
  const Value spec = parsed(R"({"components": [{"name": "a", "type": "worker", "properties": {"cmd": []}}]})");
  EXPECT_TRUE(is_same_spec(spec, parsed(R"({"components": [{"name": "a", "type": "worker", "properties": {"cmd": []},
                                            "traits": [], "dependsOn": null}], "policies": [], "workflow": {}})")));
  EXPECT_TRUE(is_same_spec(parsed(R"({"policies": [{"type": "topology"}]})"),
                           parsed(R"({"policies": [{"name": "topology-auto-gen-0", "type": "topology"}]})")));
  // Properties count as they are written, and so does the order of lists.
  EXPECT_FALSE(is_same_spec(spec, parsed(R"({"components": [{"name": "a", "type": "worker", "properties": {}}]})")));
  EXPECT_FALSE(is_same_spec(parsed(R"({"components": [{"name": "a"}, {"name": "b"}]})"),
                            parsed(R"({"components": [{"name": "b"}, {"name": "a"}]})")));
}

ManagedResource resource(const char* kind, const char* name, const char* trait) {
  ManagedResource made;
  made.cluster = kHub;
  made.component = "web";
  made.trait = trait;
  made.api_version = "v1";
  made.kind = kind;
  made.name = name;
  made.raw = json::object({{"metadata", json::object({{"labels", json::object({{kLabelTrait, trait}})}})}});
  return made;
}

TEST(TakingOver, objects_without_a_name_keep_the_only_one_that_is_theirs) {
  const ManagedResource one = resource("ConfigMap", "web-note-1", "note");
  const ManagedResource other = resource("ConfigMap", "web-note-2", "note");
  const ManagedResource of_other_trait = resource("ConfigMap", "web-memo-1", "memo");
  const ManagedResource job = resource("Job", "web-run-1", "note");
  const ManagedResource wanted = resource("ConfigMap", "web-note-9", "note");
  EXPECT_EQ(recorded_name(wanted, {&one, &of_other_trait}), "web-note-1");
  EXPECT_EQ(recorded_name(wanted, {&one, &other}), "");
  EXPECT_EQ(recorded_name(wanted, {&of_other_trait}), "");
  EXPECT_EQ(recorded_name(resource("Job", "web-run-9", "note"), {&job}), "");
}

TEST(TakingOver, fields_that_kubevela_set_are_applied_by_us) {
  const Value live = parsed(R"({"metadata": {"managedFields": [
    {"manager": "kubevela", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    {"manager": "kubevela", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
    {"manager": "us", "operation": "Apply", "fieldsV1": {"f:spec": {"f:paused": {}}}},
    {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:data": {}}}]}})");
  const auto fields = upgraded_fields(live, "us");
  ASSERT_TRUE(fields);
  EXPECT_EQ(json::print(*fields), json::print(parsed(R"([
    {"manager": "kubevela", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
    {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:data": {}}},
    {"manager": "us", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:paused": {}}}}])")));
  EXPECT_FALSE(upgraded_fields(live.with_path({"metadata", "managedFields"}, Value::empty_array()), "us"));
}

TEST(TakingOver, a_required_controller_or_the_pause_label_stops_all_work) {
  EXPECT_EQ(standstill(parsed(R"({"metadata": {}})")), "");
  EXPECT_NE(standstill(parsed(R"({"metadata": {"labels": {"controller.core.oam.dev/pause": "true"}}})")), "");
  const Value asks = parsed(R"({"metadata": {"annotations": {"app.oam.dev/controller-version-require": "Disabled"}}})");
  EXPECT_NE(asks_for_other(asks).find("Disabled"), std::string::npos);
}

}  // namespace
}  // namespace slipway::delivery::application
