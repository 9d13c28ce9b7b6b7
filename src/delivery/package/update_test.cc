#include "delivery/package/update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

constexpr Time kUpdateStart = Time(std::chrono::hours{500'000});
const Files kUpdatedFiles{{"Kptfile", "kind: Kptfile\n"}, {"a.yaml", "a: 1\n"}};
const Place kAnyPlace{};

Requester by(std::string user, int second = 0) {
  return {.user = std::move(user), .now = Now(kUpdateStart + std::chrono::seconds{second})};
}

RevisionRecord draft(std::vector<std::string> gates = {"ipam"}) {
  const RevisionSpec spec{.package_name = "/net/a/", .repository = "edge", .workspace = "v1"};
  const ContentView content{kUpdatedFiles};
  RevisionRecord record =
      create_revision({.spec = spec, .content = content, .gates = std::move(gates), .is_deployment = true, .commit = "c1"},
                      kAnyPlace, by("alice"));
  record.intents.clear();  // confirmed
  return record;
}

Value shown(const RevisionRecord& record, bool is_latest = false) {
  return revision_object(record, json::parse_yaml("{namespace: default, resourceVersion: \"7\"}").value(), is_latest,
                         Now(kUpdateStart));
}
Value with_lifecycle(const RevisionRecord& record, const std::string& to) {
  return shown(record).with_path({"spec", "lifecycle"}, to);
}
/// The object with a condition as a controller of Porch would write it.
Value with_condition(const Value& object, const std::string& type, const std::string& status) {
  json::ArrayBuilder conditions;
  for (const Value& one : object["status"]["conditions"].items()) {
    if (one["type"].as_string() != type) conditions.add(one);
  }
  conditions.add(json::object({{"type", Value(type)}, {"status", Value(status)}}));
  return object.with_path({"status", "conditions"}, conditions.build());
}

Result<Updated> put(const RevisionRecord& base, const RevisionRecord& current, const Value& sent, Requester who = by("alice"),
                    Endpoint endpoint = Endpoint::Main) {
  return put_revision({.base = base,
                       .current = current,
                       .sent = sent,
                       .endpoint = endpoint,
                       .commit = "m1",
                       .branch_commit = "b1",
                       .revision = 1},
                      kAnyPlace, who);
}
std::string said(const Result<Updated>& answer) { return answer ? "ok" : answer.error().message; }

TEST(PackageUpdate, what_porchs_clients_see_and_send_back_changes_nothing) {
  const RevisionRecord record = draft();
  const Value object = shown(record);
  EXPECT_EQ(object["metadata"]["name"].as_string(), "edge.net.a.v1");
  EXPECT_EQ(object["spec"]["packageName"].as_string(), "net/a");
  EXPECT_EQ(object["status"]["ready"].as_string(), "0/1");
  EXPECT_EQ(object["status"]["conditions"].size(), 2U);  // the two that are computed
  const auto same = put(record, record, object);
  ASSERT_TRUE(same.has_value()) << same.error().message;
  EXPECT_EQ(same->record, record);
  EXPECT_EQ(same->move, Move::Stay);
}

TEST(PackageUpdate, the_seeds_way_from_draft_to_published) {
  RevisionRecord record = draft();
  EXPECT_EQ(
      said(put(record, record, with_lifecycle(record, "Proposed"))),
      "PackageRevision.porch.kpt.dev \"edge.net.a.v1\" is invalid: spec.readinessGates[ipam]: Forbidden: readiness conditions "
      "not met: ipam has no condition yet");
  record = put(record, record, with_condition(shown(record), "ipam", "True"), by("ipam", 1))->record;
  EXPECT_EQ(record.conditions.at(0).owner, "ipam");
  EXPECT_EQ(shown(record)["status"]["ready"].as_string(), "1/1");
  const auto proposed = put(record, record, with_lifecycle(record, "Proposed"), by("bob", 2));
  ASSERT_TRUE(proposed.has_value()) << proposed.error().message;
  record = proposed->record;
  EXPECT_EQ(record.lifecycle, Lifecycle::Proposed);
  EXPECT_EQ(record.authors, (std::vector<std::string>{"alice", "bob"}));
  ASSERT_EQ(record.intents.size(), 1U);
  EXPECT_EQ(record.intents[0].kind, IntentKind::Propose);
  EXPECT_EQ(record.intents[0].seen, "c1");
  record = confirmed(record);

  const auto approved = put(record, record, with_lifecycle(record, "Published"), by("carol", 3), Endpoint::Approval);
  ASSERT_TRUE(approved.has_value()) << approved.error().message;
  EXPECT_EQ(approved->record.lifecycle, Lifecycle::Proposed);  // until the remote has taken it
  EXPECT_TRUE(approved->record.is_publishing());
  EXPECT_EQ(approved->record.approval->approver, "carol");
  EXPECT_EQ(approved->record.approval->digest, record.digest);
  EXPECT_EQ(approved->record.approval->conditions, record.conditions);
  EXPECT_EQ(said(put(record, approved->record, with_lifecycle(record, "Draft"))),
            "Operation cannot be fulfilled on packagerevisions.porch.kpt.dev \"edge.net.a.v1\": it was approved and is being "
            "published");
  record = confirmed(approved->record);
  EXPECT_EQ(record.lifecycle, Lifecycle::Published);
  EXPECT_EQ(record.revision, 1);
  EXPECT_EQ(record.commit, "m1");
  const Value object = shown(record, true);
  EXPECT_EQ(object["status"]["publishedBy"].as_string(), "carol");
  EXPECT_EQ(object["metadata"]["labels"]["kpt.dev/latest-revision"].as_string(), "true");
  EXPECT_EQ(object["status"]["conditions"].size(), 1U);
}

TEST(PackageUpdate, an_old_copy_merges_and_only_the_same_lifecycle_or_type_conflicts) {
  const RevisionRecord base = draft({});
  RevisionRecord current = put(base, base, with_condition(shown(base), "vlan", "True"), by("vlan", 1))->record;
  const auto merged = put(base, current, with_condition(shown(base), "ipam", "True"), by("ipam", 2));
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->record.conditions.size(), 2U);
  EXPECT_EQ(put(base, current, with_condition(shown(base), "vlan", "False"), by("eve", 2)).error().reason, Reason::Conflict);
  // A person has proposed it: a controller's old copy does not take it back to Draft.
  current = put(current, current, with_lifecycle(current, "Proposed"))->record;
  const auto late = put(base, current, with_condition(shown(base), "ipam", "False"), by("ipam", 3));
  ASSERT_TRUE(late.has_value()) << late.error().message;
  EXPECT_EQ(late->record.lifecycle, Lifecycle::Proposed);
  RevisionRecord published = current;
  published.lifecycle = Lifecycle::Published;
  published.intents.clear();
  EXPECT_EQ(
      said(put(base, published, with_lifecycle(base, "Proposed"))),
      "Operation cannot be fulfilled on packagerevisions.porch.kpt.dev \"edge.net.a.v1\": spec.lifecycle was Draft and is "
      "Published now");
}

TEST(PackageUpdate, a_status_that_is_none_is_refused_with_its_place) {
  const RevisionRecord record = draft();
  const auto answer = put(record, record, with_condition(shown(record), "ipam", "Perhaps"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().causes.at(0).field, "status.conditions[2].status");
}

TEST(PackageUpdate, deletions_are_proposed_with_the_right_to_approve) {
  RevisionRecord record = draft({});
  record.lifecycle = Lifecycle::Published;
  record.revision = 1;
  const auto asked = put(record, record, with_lifecycle(record, "DeletionProposed"));
  ASSERT_TRUE(asked.has_value()) << asked.error().message;
  EXPECT_TRUE(asked->needs_approval_right);
  EXPECT_EQ(asked->record.intents.at(0).kind, IntentKind::ProposeDeletion);
  const auto kept = put(asked->record, asked->record, with_lifecycle(asked->record, "Published"));
  EXPECT_FALSE(kept->needs_approval_right);
  EXPECT_EQ(kept->record.intents.size(), 2U);  // in order
}

TEST(PackageUpdate, new_content_makes_others_verdicts_unknown_and_keeps_the_senders) {
  RevisionRecord record = draft({});
  for (const char* who : {"ipam", "scan"})
    record = put(record, record, with_condition(shown(record), who, "True"), by(who, 1))->record;
  Files files = kUpdatedFiles;
  files["ip.yaml"] = "10.0.0.1";
  const ContentView content{files};
  Conditions flips = record.conditions;
  flips.push_back({.type = "vlan", .status = Truth::True});
  const auto written = put_content({.base = record,
                                    .current = record,
                                    .content = content,
                                    .conditions = flips,
                                    .gates = std::vector<std::string>{"vlan"},
                                    .commit = "c2"},
                                   kAnyPlace, by("vlan", 5));
  ASSERT_TRUE(written.has_value()) << written.error().message;
  const RevisionRecord& after = written->record;
  EXPECT_EQ(find(after.conditions, "ipam")->status, Truth::Unknown);
  EXPECT_EQ(find(after.conditions, "ipam")->reason, "ContentChanged");
  EXPECT_EQ(find(after.conditions, "vlan")->status, Truth::True);
  EXPECT_EQ(find(after.conditions, "vlan")->digest, content.digest());
  EXPECT_EQ(after.gates.at(0).sources, std::vector<std::string>{"user:vlan"});
  EXPECT_EQ(after.commit, "c2");
  EXPECT_EQ(after.intents.at(0).seen, "c1");
  EXPECT_EQ(after.settled, kUpdateStart + std::chrono::seconds{5});
  EXPECT_EQ(after.authors, (std::vector<std::string>{"alice", "vlan"}));
  const auto stale =
      put_content({.base = record, .current = after, .content = ContentView{kUpdatedFiles}}, kAnyPlace, by("x", 6));
  EXPECT_EQ(stale.error().reason, Reason::Conflict);
  const auto same = put_content({.base = after, .current = after, .content = content, .commit = "c3"}, kAnyPlace, by("x", 6));
  EXPECT_EQ(same->record, after);  // equal bytes: no commit, nothing is reset
}

TEST(PackageUpdate, copies_begin_with_unknown_conditions_and_clones_with_upstreams_gates) {
  RevisionRecord source = draft({"ipam"});
  source = put(source, source, with_condition(shown(source), "ipam", "True"), by("ipam", 1))->record;
  source.lifecycle = Lifecycle::Published;
  const ContentView content{kUpdatedFiles};
  const RevisionSpec copy{
      .package_name = "net/a",
      .repository = "edge",
      .workspace = "v2",
      .tasks = {RevisionTask{.type = TaskType::Edit, .edit = EditTask{.source = NameRef{"edge.net.a.v1"}}}}};
  const RevisionRecord copied =
      create_revision({.spec = copy, .content = content, .source = &source, .commit = "c9"}, kAnyPlace, by("bob", 9));
  EXPECT_EQ(copied.conditions.at(0).status, Truth::Unknown);
  EXPECT_EQ(copied.conditions.at(0).reason, "NewRevision");
  EXPECT_EQ(copied.gates, source.gates);
  EXPECT_FALSE(is_ready(copied.gates, copied.conditions));
  const RevisionSpec clone{.package_name = "b",
                           .repository = "west",
                           .workspace = "packagevariant-1",
                           .tasks = {RevisionTask{.type = TaskType::Clone, .clone = CloneTask{}}},
                           .gates = {{.type = "ticket", .owner = "netops"}}};
  const RevisionRecord cloned_one = create_revision({.spec = clone,
                                                     .content = content,
                                                     .source = &source,
                                                     .conditions = {{.type = "Drafted", .status = Truth::True}},
                                                     .commit = "c9"},
                                                    kAnyPlace, by("variants", 9));
  ASSERT_EQ(cloned_one.gates.size(), 2U);
  EXPECT_EQ(cloned_one.gates[0].sources, std::vector<std::string>{"upstream"});
  EXPECT_EQ(cloned_one.gates[1].owner, "netops");
  EXPECT_EQ(find(cloned_one.conditions, "Drafted")->owner, "variants");
  EXPECT_EQ(cloned_one.intents.at(0).seen, "");  // its branch must not exist
}

TEST(PackageUpdate, records_survive_the_log_and_packages_are_their_sum) {
  RevisionRecord record = draft();
  record = put(record, record, with_condition(shown(record), "ipam", "True"), by("ipam", 1))->record;
  const auto read = json::decode<RevisionRecord>(json::parse(json::print(json::encode(record))).value());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, record);
  RevisionRecord published = record;
  published.lifecycle = Lifecycle::Published;
  published.revision = 4;
  RevisionRecord other = record;
  other.path = "b";
  const std::vector<RevisionRecord> all{record, published, other};
  const auto objects = package_objects(all, "default");
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[1]["metadata"]["name"].as_string(), "edge.net.a");
  EXPECT_EQ(objects[1]["status"]["latestRevision"].as_int(), 4);
  EXPECT_EQ(latest_revision(all, other.key().package), 0);
  EXPECT_EQ(resources_object(record, Value::empty_object(), kUpdatedFiles, std::nullopt)["status"]["files"].as_int(), 2);
}

}  // namespace
}  // namespace slipway::delivery::package
