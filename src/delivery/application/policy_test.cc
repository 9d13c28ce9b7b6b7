// Policies on how objects are kept: which objects a rule speaks of, what each policy says of them, several of one type.
#include "delivery/application/policy.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::delivery::application {
namespace {

std::vector<PolicySpec> policies(std::string_view text) {
  std::vector<PolicySpec> made;
  const Value list = yaml(text);
  for (const Value& one : list.items()) {
    made.push_back({.name = fmt::format("p{}", made.size()), .type = one["type"].str(), .properties = one["properties"]});
  }
  return made;
}

KeepPolicies keep(std::string_view text) {
  auto read = keep_policies(policies(text));
  EXPECT_TRUE(read) << (read ? "" : read.error().message) << "\n" << text;
  return read ? *read : KeepPolicies();
}

RuleSubject object(std::string kind, std::string name = "n") {
  RuleSubject subject;
  subject.kind = std::move(kind);
  subject.name = std::move(name);
  return subject;
}

TEST(RuleSelector, joins_its_members_by_and_and_their_items_by_or) {
  const RuleSubject subject = subject_of(
      yaml("{kind: Service, metadata: {name: web, labels: {app.oam.dev/component: front, workload.oam.dev/type: webservice, "
           "trait.oam.dev/type: expose, app.oam.dev/resourceType: TRAIT}}}"));
  struct Row {
    RuleSelector selector;
    bool expected;
  };
  const Row rows[] = {
      {{}, false},
      {{.component_names = {"front"}}, true},
      {{.component_names = {"back", "front"}}, true},
      {{.component_names = {"back"}}, false},
      {{.component_types = {"webservice"}}, true},
      {{.oam_types = {"TRAIT"}}, true},
      {{.oam_types = {"WORKLOAD"}}, false},
      {{.trait_types = {"expose"}}, true},
      {{.resource_types = {"Service"}}, true},
      {{.resource_names = {"web"}}, true},
      {{.resource_types = {"Service"}, .resource_names = {"other"}}, false},
      {{.component_names = {"front"}, .trait_types = {"expose"}, .resource_types = {"Service", "Secret"}}, true},
  };
  for (const Row& row : rows) EXPECT_EQ(matches(row.selector, subject), row.expected) << &row - rows;
  EXPECT_FALSE(matches({.component_names = {""}}, object("Service"))) << "what an object does not say matches nothing";
}

TEST(KeepPolicies, keeps_nothing_special_without_policies) {
  const KeepPolicies none = keep("[]");
  EXPECT_EQ(none.collect_strategy(object("ConfigMap")), CollectStrategy::OnAppUpdate);
  EXPECT_EQ(none.propagation(object("ConfigMap")), "");
  EXPECT_TRUE(none.kept_paths(object("ConfigMap"), true).empty());
  EXPECT_FALSE(none.is_shared(object("ConfigMap")) || none.may_take_over(object("ConfigMap")) ||
               none.is_read_only(object("ConfigMap")));
  EXPECT_EQ(none.update_rule(object("ConfigMap")), nullptr);
  EXPECT_FALSE(none.revision_limit || none.keeps_legacy_resource || none.continues_on_failure || none.is_debug);
}

TEST(GarbageCollect, says_when_and_how_an_object_is_deleted) {
  const KeepPolicies read = keep(
      "[{type: garbage-collect, properties: {applicationRevisionLimit: 3, keepLegacyResource: true, continueOnFailure: true, "
      "order: dependency, rules: [{selector: {resourceTypes: [Secret]}, strategy: never}, {selector: {resourceTypes: [Secret, "
      "ConfigMap]}, strategy: onAppDelete, propagation: orphan}, {selector: {resourceTypes: [Job]}, propagation: "
      "cascading}]}}]");
  EXPECT_EQ(read.revision_limit, 3);
  EXPECT_TRUE(read.keeps_legacy_resource && read.continues_on_failure && read.collects_in_dependency_order);
  EXPECT_EQ(read.collect_strategy(object("Secret")), CollectStrategy::Never) << "the first rule that matches";
  EXPECT_EQ(read.propagation(object("Secret")), "");
  EXPECT_EQ(read.collect_strategy(object("ConfigMap")), CollectStrategy::OnAppDelete);
  EXPECT_EQ(read.propagation(object("ConfigMap")), "orphan");
  EXPECT_EQ(read.collect_strategy(object("Job")), CollectStrategy::OnAppUpdate);
  EXPECT_EQ(read.propagation(object("Job")), "cascading");
  EXPECT_EQ(read.collect_strategy(object("Service")), CollectStrategy::OnAppUpdate);
}

TEST(ApplyOnce, keeps_live_values_where_and_when_its_rules_say) {
  using Paths = std::vector<std::string>;
  const KeepPolicies whole = keep("[{type: apply-once, properties: {enable: true}}]");
  EXPECT_TRUE(whole.is_apply_once);
  EXPECT_EQ(whole.kept_paths(object("Job"), true), (Paths{"*"}));
  EXPECT_EQ(whole.kept_paths(object("Job"), false), Paths{}) << "delivery still writes";

  const KeepPolicies ruled = keep(
      "[{type: apply-once, properties: {enable: true, rules: [{selector: {resourceTypes: [Deployment]}, strategy: {path: "
      "[spec.replicas], affect: onStateKeep}}, {selector: {resourceTypes: [Secret]}, strategy: {path: ['*'], affect: "
      "onUpdate}}, "
      "{selector: {resourceTypes: [Job]}, strategy: {path: [spec]}}, {selector: {resourceTypes: [Pod]}, strategy: {path: "
      "[spec], "
      "affect: always}}, {selector: {resourceTypes: [Service]}}]}}]");
  struct Row {
    const char* kind;
    Paths on_state_keep, on_delivery;
  };
  const Row rows[] = {{"Deployment", {"spec.replicas"}, {}}, {"Secret", {}, {"*"}}, {"Job", {"spec"}, {"spec"}},
                      {"Pod", {"spec"}, {"spec"}},           {"Service", {}, {}},   {"ConfigMap", {}, {}}};
  for (const Row& row : rows) {
    EXPECT_EQ(ruled.kept_paths(object(row.kind), true), row.on_state_keep) << row.kind;
    EXPECT_EQ(ruled.kept_paths(object(row.kind), false), row.on_delivery) << row.kind;
  }
  EXPECT_TRUE(keep("[{type: apply-once, properties: {enable: false}}]").kept_paths(object("Job"), true).empty());
}

TEST(RulePolicies, speak_of_the_objects_that_their_rules_select) {
  const KeepPolicies read = keep(
      "[{type: shared-resource, properties: {rules: [{selector: {resourceTypes: [Namespace]}}]}}, {type: take-over, "
      "properties: "
      "{rules: [{selector: {resourceNames: [old]}}]}}, {type: read-only, properties: {rules: [{selector: {resourceTypes: "
      "[Secret]}}]}}, {type: resource-update, properties: {rules: [{selector: {resourceTypes: [Job]}, strategy: {op: replace, "
      "recreateFields: [spec.template]}}]}}, {type: debug}]");
  EXPECT_TRUE(read.is_shared(object("Namespace")));
  EXPECT_FALSE(read.is_shared(object("Secret")));
  EXPECT_TRUE(read.may_take_over(object("Secret", "old")));
  EXPECT_FALSE(read.may_take_over(object("Secret", "new")));
  EXPECT_TRUE(read.is_read_only(object("Secret")));
  EXPECT_FALSE(read.is_read_only(object("Job")));
  ASSERT_NE(read.update_rule(object("Job")), nullptr);
  EXPECT_EQ(read.update_rule(object("Job"))->op, "replace");
  EXPECT_EQ(read.update_rule(object("Job"))->recreate_fields, (std::vector<std::string>{"spec.template"}));
  EXPECT_EQ(read.update_rule(object("Pod")), nullptr);
  EXPECT_TRUE(read.is_debug);
}

TEST(KeepPolicies, joins_several_policies_of_a_type) {
  const KeepPolicies read = keep(
      "[{type: garbage-collect, properties: {applicationRevisionLimit: 3, keepLegacyResource: false, rules: [{selector: "
      "{resourceTypes: [Secret]}, strategy: never}]}}, {type: garbage-collect, properties: {applicationRevisionLimit: 5, "
      "keepLegacyResource: true, continueOnFailure: true, rules: [{selector: {resourceTypes: [ConfigMap, Secret]}, strategy: "
      "onAppDelete}]}}, {type: garbage-collect}, {type: shared-resource, properties: {rules: [{selector: {resourceTypes: "
      "[Secret]}}]}}, {type: shared-resource, properties: {rules: [{selector: {resourceTypes: [ConfigMap]}}]}}, {type: "
      "apply-once, properties: {enable: true}}, {type: apply-once, properties: {enable: false}}]");
  EXPECT_EQ(read.revision_limit, 3) << "the first stays";
  EXPECT_TRUE(read.keeps_legacy_resource) << "true if any is";
  EXPECT_TRUE(read.continues_on_failure);
  EXPECT_EQ(read.collect_strategy(object("Secret")), CollectStrategy::Never) << "rules are joined in order";
  EXPECT_EQ(read.collect_strategy(object("ConfigMap")), CollectStrategy::OnAppDelete);
  EXPECT_TRUE(read.is_shared(object("Secret")) && read.is_shared(object("ConfigMap")));
  EXPECT_TRUE(read.is_apply_once);
}

TEST(KeepPolicies, ignores_members_it_does_not_know_and_refuses_wrong_ones) {
  EXPECT_TRUE(keep("[{type: apply-once, properties: {enable: true, later: 1}}]").is_apply_once);
  const std::pair<const char*, const char*> rows[] = {
      {"[{type: garbage-collect, properties: {rules: [{strategy: sometimes}]}}]",
       "garbage-collect policy: properties.rules[0].strategy must be onAppUpdate, onAppDelete or never"},
      {"[{type: garbage-collect, properties: []}]", "garbage-collect policy p0: properties must be an object"},
  };
  for (const auto& [text, message] : rows) {
    const auto read = keep_policies(policies(text));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().reason, Reason::Invalid);
    EXPECT_EQ(read.error().message, message);
  }
  const std::pair<const char*, const char*> fields[] = {
      {"[{type: garbage-collect, properties: {order: random}}]", "properties.order"},
      {"[{type: apply-once, properties: {enable: 'yes'}}]", "properties.enable"},
      {"[{type: apply-once, properties: {rules: [{strategy: {affect: never}}]}}]", "properties.rules[0].strategy.affect"},
      {"[{type: resource-update, properties: {rules: [{strategy: {op: delete}}]}}]", "properties.rules[0].strategy.op"},
      {"[{type: read-only, properties: {rules: [{selector: {resourceTypes: Secret}}]}}]",
       "properties.rules[0].selector.resourceTypes"},
  };
  for (const auto& [text, field] : fields) {
    const auto read = keep_policies(policies(text));
    ASSERT_FALSE(read) << text;
    ASSERT_FALSE(read.error().causes.empty()) << read.error().message;
    EXPECT_EQ(read.error().causes[0].field, field);
  }
}

}  // namespace
}  // namespace slipway::delivery::application
