#include "delivery/package/lifecycle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace slipway::delivery::package {
namespace {

constexpr Lifecycle kAll[] = {Lifecycle::Draft, Lifecycle::Proposed, Lifecycle::Published, Lifecycle::DeletionProposed};

std::vector<std::string> told(const UpdateAsk& ask) {
  UpdateDecision decision;
  std::vector<std::string> texts;
  for (const Cause& cause : decide_update(ask, decision)) texts.push_back(cause.field + ": " + cause.message);
  return texts;
}
UpdateAsk main_ask(Lifecycle from, std::string to) { return {.from = from, .to = std::move(to)}; }
UpdateAsk approval_ask(Lifecycle from, std::string to) {
  return {.from = from, .to = std::move(to), .endpoint = Endpoint::Approval};
}

/// Every pair of lifecycles at both endpoints: the moves that are there, and no other.
TEST(PackageLifecycle, the_legal_moves_are_these) {
  std::string table;
  for (const Endpoint endpoint : {Endpoint::Main, Endpoint::Approval}) {
    for (const Lifecycle from : kAll) {
      for (const Lifecycle to : kAll) {
        UpdateDecision decision;
        const UpdateAsk ask{.from = from, .to = std::string(json::enum_name(to)), .endpoint = endpoint};
        if (!decide_update(ask, decision).empty() || decision.move == Move::Stay) continue;
        table +=
            fmt::format("{} {}>{} {}{}\n", endpoint == Endpoint::Main ? "main" : "approval", json::enum_name(from),
                        json::enum_name(to), static_cast<int>(decision.move), decision.needs_approval_right ? " right" : "");
      }
    }
  }
  EXPECT_EQ(table,
            "main Draft>Proposed 1\n"
            "main Proposed>Draft 2\n"
            "main Published>DeletionProposed 5 right\n"
            "main DeletionProposed>Published 6\n"
            "approval Proposed>Draft 3\n"
            "approval Proposed>Published 4\n"
            "approval Published>DeletionProposed 5\n"
            "approval DeletionProposed>Published 6\n");
}

TEST(PackageLifecycle, refusals_have_porchs_words) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(told(main_ask(Lifecycle::Draft, "Published")),
            Texts{"spec.lifecycle: Invalid value: \"Draft\": value can be only updated to Draft,Proposed"});
  EXPECT_EQ(told(main_ask(Lifecycle::Draft, "Final")),
            (Texts{"spec.lifecycle: Invalid value: \"Final\": value can be only updated to "
                   "Draft,Proposed,Published,DeletionProposed",
                   "spec.lifecycle: Invalid value: \"Draft\": value can be only updated to Draft,Proposed"}));
  EXPECT_EQ(
      told(main_ask(Lifecycle::Published, "Draft")),
      Texts{"spec: Invalid value: \"Published\": spec can only update package with lifecycle value one of Draft,Proposed"});
  EXPECT_EQ(told(approval_ask(Lifecycle::Draft, "Published")),
            Texts{"spec.lifecycle: Invalid value: \"Draft\": cannot approve package with Draft lifecycle value; only Proposed "
                  "packages can be approved"});
  EXPECT_EQ(told(approval_ask(Lifecycle::Published, "Draft")),
            Texts{"spec.lifecycle: Invalid value: \"Published\": package with Published lifecycle value can only be updated to "
                  "'ProposeDeletion'"});
  EXPECT_EQ(
      told(approval_ask(Lifecycle::DeletionProposed, "Draft")),
      Texts{"spec.lifecycle: Invalid value: \"DeletionProposed\": package with DeletionProposed lifecycle value can only be "
            "updated to 'Published'"});
  EXPECT_EQ(told(approval_ask(Lifecycle::Proposed, "Proposed")),
            Texts{"spec.lifecycle: Invalid value: \"Proposed\": value for approval can be only one of Draft,Published"});
  EXPECT_EQ(
      told(approval_ask(Lifecycle::Proposed, "DeletionProposed")),
      Texts{"spec.lifecycle: Invalid value: \"DeletionProposed\": cannot update lifecycle DeletionProposed; only Published "
            "packages require approval for deletion"});
}

TEST(PackageLifecycle, no_lifecycle_means_draft) {
  UpdateDecision decision;
  EXPECT_TRUE(decide_update(main_ask(Lifecycle::Proposed, ""), decision).empty());
  EXPECT_EQ(decision.move, Move::Withdraw);
  EXPECT_FALSE(told(main_ask(Lifecycle::Published, "")).empty());
}

TEST(PackageLifecycle, gates_bind_at_propose_and_at_approve_where_they_are_enforced) {
  const std::vector<Unmet> missing{{.type = "ipam", .status = Truth::False, .owner = "ipam"}};
  for (UpdateAsk ask : {main_ask(Lifecycle::Draft, "Proposed"), approval_ask(Lifecycle::Proposed, "Published")}) {
    ask.missing = missing;
    EXPECT_EQ(told(ask), std::vector<std::string>{"spec.readinessGates[ipam]: Forbidden: readiness conditions not met: ipam is "
                                                  "False (owner ipam)"});
    ask.mode = GateMode::Report;
    UpdateDecision decision;
    EXPECT_TRUE(decide_update(ask, decision).empty());
    EXPECT_EQ(decision.warnings, std::vector<std::string>{"spec.readinessGates[ipam]: readiness conditions not met: ipam is "
                                                          "False (owner ipam) (gates are only reported in this repository)"});
    ask.mode = GateMode::Enforce;
    ask.missing = {};
    ask.render = Render::Failed;
    EXPECT_EQ(told(ask).size(), 1U);
    ask.render = Render::Nothing;
    EXPECT_TRUE(told(ask).empty());
  }
  for (UpdateAsk ask : {main_ask(Lifecycle::Proposed, "Draft"), main_ask(Lifecycle::Published, "DeletionProposed"),
                        approval_ask(Lifecycle::Proposed, "Draft"), main_ask(Lifecycle::Draft, "Draft")}) {
    ask.missing = missing;  // what goes back needs no gates
    EXPECT_TRUE(told(ask).empty());
  }
}

struct PartCase {
  Lifecycle from;
  const char* to;
  Part part;
  const char* refused;  // the field; "" when it is taken
};

TEST(PackageLifecycle, what_may_change_when) {
  for (const PartCase& row :
       {PartCase{Lifecycle::Draft, "Draft", Part::Gates, ""}, PartCase{Lifecycle::Draft, "Proposed", Part::Gates, ""},
        PartCase{Lifecycle::Draft, "Draft", Part::Identity, "spec"},
        PartCase{Lifecycle::Proposed, "Proposed", Part::Conditions, ""},
        PartCase{Lifecycle::Proposed, "Proposed", Part::Gates, "spec.readinessGates"},
        PartCase{Lifecycle::Proposed, "Draft", Part::Gates, ""},
        PartCase{Lifecycle::Proposed, "Proposed", Part::PackageMetadata, "spec.packageMetadata"},
        PartCase{Lifecycle::Proposed, "Proposed", Part::Labels, ""},
        PartCase{Lifecycle::Published, "Published", Part::Labels, ""},
        PartCase{Lifecycle::Published, "Published", Part::Gates, "spec"},
        PartCase{Lifecycle::Published, "DeletionProposed", Part::Labels, ""},
        PartCase{Lifecycle::Published, "Published", Part::Conditions, "status.conditions"},
        PartCase{Lifecycle::Draft, "Draft", Part::LatestLabel, "metadata.labels.kpt.dev/latest-revision"}}) {
    UpdateAsk ask = main_ask(row.from, row.to);
    ask.changes = {row.part};
    UpdateDecision decision;
    const std::vector<Cause> causes = decide_update(ask, decision);
    EXPECT_EQ(causes.empty() ? "" : causes[0].field, row.refused) << json::enum_name(row.from) << ">" << row.to;
  }
  UpdateAsk ask = approval_ask(Lifecycle::Published, "DeletionProposed");
  ask.changes = {Part::Gates};
  EXPECT_EQ(told(ask).size(), 1U);
}

TEST(PackageLifecycle, what_is_left_out_is_not_changed) {
  const RevisionSpec old{.package_name = "a",
                         .repository = "edge",
                         .workspace = "v1",
                         .revision = 2,
                         .lifecycle = "Published",
                         .tasks = {RevisionTask{.type = TaskType::Init, .init = InitTask{}}},
                         .gates = {{.type = "x", .sources = {"package"}, .owner = "bob"}},
                         .package_metadata = PackageMetadata{.labels = {{"a", "b"}}}};
  EXPECT_TRUE(changed_parts(old, old).empty());
  EXPECT_TRUE(changed_parts(old, {.gates = {{.type = "x"}}}).empty());
  EXPECT_EQ(changed_parts(old, {}), std::set<Part>{Part::Gates});
  EXPECT_EQ(changed_parts(old, {.workspace = "v2", .gates = {{.type = "x"}}}), std::set<Part>{Part::Identity});
  EXPECT_EQ(changed_parts(old, {.gates = {{.type = "x", .owner = "eve"}}}), std::set<Part>{Part::Gates});
  EXPECT_EQ(changed_parts(old, {.gates = {{.type = "x"}}, .package_metadata = PackageMetadata{}}),
            std::set<Part>{Part::PackageMetadata});
}

TEST(PackageLifecycle, gates_are_enforced_in_deployment_repositories_unless_the_repository_says_otherwise) {
  EXPECT_EQ(gate_mode({.is_deployment = true}, ""), GateMode::Enforce);
  EXPECT_EQ(gate_mode({.is_deployment = false}, ""), GateMode::Report);
  EXPECT_EQ(gate_mode({.is_deployment = true}, "report"), GateMode::Report);
  EXPECT_EQ(gate_mode({.is_deployment = false}, "enforce"), GateMode::Enforce);
  EXPECT_EQ(gate_mode({.is_deployment = true}, "perhaps"), GateMode::Enforce);
}

TEST(PackageLifecycle, a_revision_is_created_as_draft_with_one_task) {
  EXPECT_TRUE(create_causes({.lifecycle = ""}, {}).empty());
  EXPECT_TRUE(create_causes({.lifecycle = "Draft"}, {}).empty());
  const auto causes = create_causes({.lifecycle = "Proposed", .tasks = {RevisionTask{}, RevisionTask{}}},
                                    json::object({{"kpt.dev/latest-revision", "true"}}));
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0].message, "Forbidden: label is managed by porch and cannot be set by users");
  EXPECT_EQ(causes[1].message, "Invalid value: \"Proposed\": value can be only created as Draft");
  EXPECT_EQ(causes[2].field, "spec.tasks");
  EXPECT_EQ(create_causes({.tasks = {RevisionTask{.type = TaskType::Push}}}, {}).size(), 1U);
}

RevisionTask clone_of(std::string name) {
  return {.type = TaskType::Clone, .clone = CloneTask{.upstream = {.revision = NameRef{std::move(name)}}}};
}
RevisionTask edit_of(std::string name) {
  return {.type = TaskType::Edit, .edit = EditTask{.source = NameRef{std::move(name)}}};
}
RevisionTask upgrade_of(std::string old_one, std::string new_one, std::string local) {
  return {.type = TaskType::Upgrade,
          .upgrade = UpgradeTask{
              .old_upstream = {std::move(old_one)}, .new_upstream = {std::move(new_one)}, .local = {std::move(local)}}};
}

TEST(PackageLifecycle, a_task_fits_what_is_there_or_is_refused_with_porchs_words) {
  const std::vector<Existing> there{{"bp.a.v1", "a", "bp", "v1", Lifecycle::Published, 1},
                                    {"bp.a.v2", "a", "bp", "v2", Lifecycle::DeletionProposed, 2},
                                    {"bp.a.main", "a", "bp", "main", Lifecycle::Published, -1},
                                    {"bp.a.v3", "a", "bp", "v3", Lifecycle::Draft, 0},
                                    {"edge.a.v1", "a", "edge", "v1", Lifecycle::Published, 1}};
  const auto answer = [&](std::string package, std::string repository, std::string workspace, const RevisionTask& task) {
    const auto checked = check_task({.package_name = std::move(package),
                                     .repository = std::move(repository),
                                     .workspace = std::move(workspace),
                                     .tasks = {task}},
                                    there);
    return checked ? std::string("ok") : checked.error().message;
  };
  EXPECT_EQ(answer("new", "edge", "v1", {.type = TaskType::Init}), "ok");
  EXPECT_EQ(
      answer("a", "edge", "v2", {.type = TaskType::Init}),
      "`init` cannot create a new revision for package \"a\" that already exists in repo \"edge\"; make subsequent revisions "
      "using `copy`");
  EXPECT_EQ(answer("b", "edge", "v1", clone_of("bp.a.v3")), "ok");  // a draft may be an upstream
  EXPECT_EQ(answer("b", "edge", "v1", clone_of("bp.a.main")),
            "upstream revision may not be the placeholder package revision bp/bp.a.main");
  EXPECT_EQ(answer("b", "edge", "v1", clone_of("bp.x.v1")),
            "spec.tasks[0].clone.upstreamRef.upstreamRef: package revision \"bp.x.v1\" not found");
  EXPECT_EQ(answer("a", "edge", "v2", edit_of("edge.a.v1")), "ok");
  EXPECT_EQ(answer("a", "edge", "v1", edit_of("edge.a.v1")),
            "package revision workspaceNames must be unique; package revision with name a in repo edge with workspaceName v1 "
            "already exists");
  EXPECT_EQ(answer("a", "edge", "v2", edit_of("bp.a.v1")), "source revision must be from same package edge/a (got: bp/a)");
  EXPECT_EQ(answer("a", "bp", "v4", edit_of("bp.a.v3")), "source revision must be published");
  EXPECT_EQ(answer("a", "bp", "v4", {.type = TaskType::Edit}), "spec.tasks[0].edit.sourceRef: is required");
  EXPECT_EQ(answer("a", "edge", "v2", upgrade_of("bp.a.v1", "bp.a.v2", "edge.a.v1")), "ok");
  EXPECT_EQ(answer("a", "edge", "v2", upgrade_of("bp.a.v1", "bp.a.v3", "edge.a.v1")), "source revision must be published");
  EXPECT_EQ(answer("a", "edge", "v2", upgrade_of("bp.a.v1", "bp.a.main", "edge.a.v1")),
            "spec.tasks[0].upgrade.newUpstreamRef: may not be the placeholder package revision bp/bp.a.main");
}

TEST(PackageLifecycle, only_drafts_have_content_that_changes) {
  EXPECT_TRUE(check_content(Lifecycle::Draft).has_value());
  EXPECT_EQ(check_content(Lifecycle::Proposed).error().message,
            "cannot update a package revision with lifecycle value \"Proposed\"; package must be Draft");
}

TEST(PackageLifecycle, a_published_revision_or_an_upstream_is_not_deleted) {
  EXPECT_TRUE(check_delete("x", Lifecycle::DeletionProposed, {}).has_value());
  EXPECT_EQ(check_delete("x", Lifecycle::Published, {}).error().reason, Reason::Forbidden);
  const auto used = check_delete("bp.a.v1", Lifecycle::DeletionProposed, {"edge.a.v1", "west.a.v1"});
  EXPECT_EQ(used.error().message, "packagerevisions.porch.kpt.dev \"bp.a.v1\" is the upstream of edge.a.v1, west.a.v1");
}

}  // namespace
}  // namespace slipway::delivery::package
