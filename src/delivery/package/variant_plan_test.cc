#include "delivery/package/variant_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace slipway::delivery::package {
namespace {

const VariantSpec kVariant{.upstream = Upstream{.repo = "bp", .package = "a", .revision = 2},
                           .downstream = Downstream{"edge", "a"}};

std::vector<RevisionView> world(std::vector<RevisionView> more) {
  std::vector<RevisionView> all{{"bp.a.v1", "bp", "a", "v1", 1, Lifecycle::Published},
                                {"bp.a.v2", "bp", "a", "v2", 2, Lifecycle::Published},
                                {"bp.a.main", "bp", "a", "main", -1, Lifecycle::Published}};
  for (RevisionView& one : more) all.push_back(std::move(one));
  return all;
}

RevisionView ours(std::string workspace, std::int64_t revision, Lifecycle lifecycle, std::int64_t upstream) {
  return {.name = "edge.a." + workspace,
          .repository = "edge",
          .package = "a",
          .workspace = std::move(workspace),
          .revision = revision,
          .lifecycle = lifecycle,
          .is_ours = true,
          .upstream_revision = upstream};
}

std::string shown(const VariantPlan& plan) {
  constexpr const char* kNames[] = {"Create", "Write", "Adopt", "TakeBack", "Delete", "ProposeDeletion", "Orphan"};
  std::string out;
  for (const VariantAction& one : plan.actions) {
    out += fmt::format("{} {}", kNames[static_cast<int>(one.kind)], one.name);
    if (one.draft) {
      const RevisionTask& task = one.draft->tasks.at(0);
      out += fmt::format(" {}", json::enum_name(task.type));
      if (task.clone) out += fmt::format("({})", task.clone->upstream.revision->name);
      if (task.edit) out += fmt::format("({})", task.edit->source->name);
      if (task.upgrade) {
        out += fmt::format("({},{},{})", task.upgrade->old_upstream.name, task.upgrade->new_upstream.name,
                           task.upgrade->local.name);
      }
    }
    out += "; ";
  }
  return plan.error.empty() ? out : out + "error: " + plan.error;
}

struct Row {
  const char* what;
  std::vector<RevisionView> there;
  const char* plan;
};

TEST(PackageVariantPlan, from_what_is_there_to_what_is_done) {
  RevisionView differs = ours("packagevariant-1", 1, Lifecycle::Published, 2);
  differs.differs = true;
  RevisionView draft_differs = ours("packagevariant-2", 0, Lifecycle::Draft, 2);
  draft_differs.differs = true;
  RevisionView moved = ours("packagevariant-1", 0, Lifecycle::Draft, 2);
  moved.package = "old";
  moved.name = "edge.old.packagevariant-1";
  RevisionView moved_out = moved;
  moved_out.lifecycle = Lifecycle::Published;
  moved_out.revision = 3;
  RevisionView unlocked = ours("packagevariant-1", 1, Lifecycle::Published, 0);
  unlocked.upstream_revision.reset();
  RevisionView others = ours("v1", 1, Lifecycle::Published, 2);
  others.is_ours = false;
  RevisionView edited = ours("local", 2, Lifecycle::Published, 1);
  edited.is_ours = false;
  RevisionView upgraded = ours("by-hand", 2, Lifecycle::Published, 2);
  upgraded.is_ours = false;
  RevisionView unknown = edited;
  unknown.upstream_revision.reset();
  const Row rows[] = {
      {"somebody has published after it",
       {ours("packagevariant-1", 1, Lifecycle::Published, 1), edited},
       "Create edge.a.packagevariant-2 upgrade(bp.a.v1,bp.a.v2,edge.a.local); "},
      {"somebody has upgraded it", {ours("packagevariant-1", 1, Lifecycle::Published, 1), upgraded}, ""},
      {"somebody has published what is of no upstream",
       {ours("packagevariant-1", 1, Lifecycle::Published, 1), unknown},
       "error: cannot upgrade \"edge.a.local\", the newest published revision: its Kptfile does not say of which upstream it "
       "is"},
      {"its changes are not in, nor in what somebody has published",
       {differs, upgraded},
       "Create edge.a.packagevariant-2 edit(edge.a.by-hand); "},
      {"nothing", {}, "Create edge.a.packagevariant-1 clone(bp.a.v2); "},
      {"others are left alone", {others}, "Create edge.a.packagevariant-1 clone(bp.a.v2); "},
      {"all is well", {ours("packagevariant-1", 1, Lifecycle::Published, 2)}, ""},
      {"a draft is on its way", {ours("packagevariant-1", 0, Lifecycle::Proposed, 2)}, ""},
      {"upstream is newer",
       {ours("packagevariant-3", 1, Lifecycle::Published, 1)},
       "Create edge.a.packagevariant-4 upgrade(bp.a.v1,bp.a.v2,edge.a.packagevariant-3); "},
      {"of several the newest counts",
       {ours("packagevariant-1", 1, Lifecycle::Published, 1), ours("packagevariant-2", 2, Lifecycle::Published, 2)},
       ""},
      {"a draft is behind",
       {ours("packagevariant-1", 0, Lifecycle::Draft, 1)},
       "error: cannot update upstream of downstream \"edge.a.packagevariant-1\" when it is not published: approve or delete "
       "it, or set the annotation packages.slipway.dev/superseded-drafts=replace, by which drafts of older upstream revisions "
       "are replaced"},
      {"its changes are not in", {differs}, "Create edge.a.packagevariant-2 edit(edge.a.packagevariant-1); "},
      {"nor in a draft", {differs, draft_differs}, "Write edge.a.packagevariant-2; "},
      {"another package was meant before",
       {moved},
       "Delete edge.old.packagevariant-1; Create edge.a.packagevariant-1 clone(bp.a.v2); "},
      {"and published",
       {moved_out},
       "ProposeDeletion edge.old.packagevariant-1; Create edge.a.packagevariant-1 clone(bp.a.v2); "},
      {"its deletion was proposed",
       {ours("packagevariant-1", 1, Lifecycle::DeletionProposed, 2)},
       "TakeBack edge.a.packagevariant-1; "},
      {"its upstream is not known", {unlocked}, ""},
      {"it came of a draft that nobody has",
       {ours("packagevariant-1", 1, Lifecycle::Published, 0)},
       "error: could not find upstream package revision 'a/0' in repo 'bp'"}};
  for (const Row& row : rows) EXPECT_EQ(shown(plan_variant(kVariant, world(row.there))), row.plan) << row.what;
}

TEST(PackageVariantPlan, a_proposal_that_is_out_of_date_is_not_written_but_told) {
  RevisionView stale = ours("packagevariant-1", 0, Lifecycle::Proposed, 2);
  stale.differs = true;
  const VariantPlan plan = plan_variant(kVariant, world({stale}));
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_EQ(plan.error, out_of_date(stale.name).message);
}

TEST(PackageVariantPlan, the_upstream_is_found_by_number_or_workspace) {
  VariantSpec variant = kVariant;
  variant.upstream = Upstream{.repo = "bp", .package = "a", .workspace = "main"};
  EXPECT_EQ(shown(plan_variant(variant, world({}))), "Create edge.a.packagevariant-1 clone(bp.a.main); ");
  variant.upstream = Upstream{.repo = "bp", .package = "a", .revision = 7};
  EXPECT_EQ(shown(plan_variant(variant, world({}))), "error: could not find upstream package revision 'a/7' in repo 'bp'");
}

TEST(PackageVariantPlan, what_is_there_may_be_adopted_or_orphaned) {
  VariantSpec variant = kVariant;
  variant.adoption = AdoptionPolicy::AdoptExisting;
  RevisionView others = ours("v1", 1, Lifecycle::Published, 2);
  others.is_ours = false;
  const VariantPlan plan = plan_variant(variant, world({others}));
  EXPECT_EQ(shown(plan), "Adopt edge.a.v1; ");
  EXPECT_EQ(plan.targets, std::vector<std::string>{"edge.a.v1"});
  variant.deletion = DeletionPolicy::Orphan;
  RevisionView moved = ours("packagevariant-1", 0, Lifecycle::Draft, 2);
  moved.package = "old";
  EXPECT_EQ(shown(plan_variant(variant, world({others, moved}))), "Adopt edge.a.v1; Orphan edge.a.packagevariant-1; ");
}

TEST(PackageVariantPlan, a_variant_that_goes_leaves_published_revisions_to_people) {
  const std::vector<RevisionView> there =
      world({ours("packagevariant-1", 1, Lifecycle::Published, 1), ours("packagevariant-2", 2, Lifecycle::DeletionProposed, 1),
             ours("packagevariant-3", 0, Lifecycle::Draft, 2)});
  EXPECT_EQ(shown(plan_removal(kVariant, there)),
            "ProposeDeletion edge.a.packagevariant-1; Orphan edge.a.packagevariant-1; Orphan edge.a.packagevariant-2; Delete "
            "edge.a.packagevariant-3; ");
  VariantSpec variant = kVariant;
  variant.deletion = DeletionPolicy::Orphan;
  EXPECT_EQ(shown(plan_removal(variant, there)),
            "Orphan edge.a.packagevariant-1; Orphan edge.a.packagevariant-2; Orphan edge.a.packagevariant-3; ");
}

TEST(PackageVariantPlan, drafts_of_another_upstream_are_in_the_way_or_replaced) {
  const auto first = world({ours("packagevariant-1", 0, Lifecycle::Draft, 1)});
  EXPECT_FALSE(plan_variant(kVariant, first).error.empty());
  EXPECT_EQ(shown(plan_variant(kVariant, first, Superseded::Replace)),
            "Delete edge.a.packagevariant-1; Create edge.a.packagevariant-2 clone(bp.a.v2); ");
  const auto later =
      world({ours("packagevariant-1", 1, Lifecycle::Published, 1), ours("packagevariant-2", 0, Lifecycle::Draft, 1)});
  EXPECT_EQ(shown(plan_variant(kVariant, later, Superseded::Replace)),
            "Delete edge.a.packagevariant-2; Create edge.a.packagevariant-3 "
            "upgrade(bp.a.v1,bp.a.v2,edge.a.packagevariant-1); ");
  const auto proposed = world({ours("packagevariant-1", 0, Lifecycle::Proposed, 1)});
  EXPECT_TRUE(plan_variant(kVariant, proposed, Superseded::Replace).actions.empty());
  EXPECT_TRUE(plan_variant(kVariant, proposed).error.contains("packages.slipway.dev/superseded-drafts=replace"));
}

TEST(PackageVariantPlan, faults_have_porchs_words) {
  EXPECT_TRUE(check(kVariant).empty());
  EXPECT_EQ(check(VariantSpec{}),
            (std::vector<std::string>{"missing required field spec.upstream", "missing required field spec.downstream"}));
  VariantSpec variant = kVariant;
  variant.context = PackageContext{.data = {{"name", "x"}}, .remove_keys = {"package-path"}};
  variant.injectors = {Injector{}};
  EXPECT_EQ(check(variant),
            (std::vector<std::string>{
                "spec.packageContext.data: Invalid value: {\"name\":\"x\"}: must not contain the key \"name\"",
                "spec.packageContext.removeKeys: Invalid value: [\"package-path\"]: must not contain the key \"package-path\"",
                "spec.injectors[0].name must not be empty"}));
}

}  // namespace
}  // namespace slipway::delivery::package
