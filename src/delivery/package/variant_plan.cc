#include "delivery/package/variant_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/names.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using ActionKind = VariantAction::Kind;

constexpr std::string_view kWorkspaces = "packagevariant-";
constexpr std::string_view kReserved[] = {"name", "package-path"};

const RevisionView* find_upstream(const Upstream& upstream, const std::vector<RevisionView>& there) {
  const auto found = std::ranges::find_if(there, [&](const RevisionView& one) {
    if (one.repository != upstream.repo || one.package != upstream.package) return false;
    return upstream.workspace.empty() ? one.revision == upstream.revision && one.revision != kUnpublished
                                      : one.workspace == upstream.workspace;
  });
  return found == there.end() ? nullptr : &*found;
}

std::string not_found(const Upstream& upstream) {
  return fmt::format("could not find upstream package revision '{}/{}' in repo '{}'", upstream.package,
                     upstream.workspace.empty() ? fmt::format("{}", upstream.revision) : upstream.workspace, upstream.repo);
}

class Planner {
 public:
  Planner(const VariantSpec& variant, const std::vector<RevisionView>& there, Superseded superseded)
      : variant_(variant), there_(there), superseded_(superseded), downstream_(*variant.downstream) {}

  VariantPlan run() {
    const RevisionView* upstream = find_upstream(*variant_.upstream, there_);
    if (upstream == nullptr) return {.error = not_found(*variant_.upstream)};
    for (const RevisionView* one : wanted(*upstream)) ensure(*one, *upstream);
    if (plan_.targets.empty() && plan_.error.empty()) create(clone_of(*upstream));
    return std::move(plan_);
  }

 private:
  void act(ActionKind kind, const RevisionView& revision) { plan_.actions.push_back({.kind = kind, .name = revision.name}); }

  void give_up(const RevisionView& revision) {
    if (variant_.deletion == DeletionPolicy::Orphan) return act(ActionKind::Orphan, revision);
    if (!is_published(revision.lifecycle)) return act(ActionKind::Delete, revision);
    if (revision.lifecycle == Lifecycle::Published) act(ActionKind::ProposeDeletion, revision);
  }

  bool is_replaced(const RevisionView& one, const RevisionView& upstream) const {
    const bool is_other = one.upstream_revision && *one.upstream_revision != upstream.revision;
    return superseded_ == Superseded::Replace && one.is_ours && one.lifecycle == Lifecycle::Draft && is_other;
  }

  /// All drafts and proposals of the package that are the variant's, else its newest published revision.
  std::vector<const RevisionView*> wanted(const RevisionView& upstream) {
    const bool adopts = variant_.adoption == AdoptionPolicy::AdoptExisting;
    std::vector<const RevisionView*> drafts;
    const RevisionView* newest = nullptr;
    for (const RevisionView& one : there_) {
      if (!one.is_ours && !adopts) continue;
      if (one.repository != downstream_.repo || one.package != downstream_.package) {
        if (one.is_ours) give_up(one);
        continue;
      }
      if (one.revision == kPlaceholder) continue;
      if (is_replaced(one, upstream)) {
        act(ActionKind::Delete, one);
        continue;
      }
      if (!one.is_ours) act(ActionKind::Adopt, one);
      if (!is_published(one.lifecycle)) {
        drafts.push_back(&one);
      } else if (newest == nullptr || one.revision > newest->revision) {
        newest = &one;
      }
    }
    if (drafts.empty() && newest != nullptr) return {newest};
    return drafts;
  }

  void ensure(const RevisionView& one, const RevisionView& upstream) {
    plan_.targets.push_back(one.name);
    if (one.lifecycle == Lifecycle::DeletionProposed) act(ActionKind::TakeBack, one);
    // Without a lock nothing is known of where it came from: it is left as it is.
    const bool is_current = !one.upstream_revision || *one.upstream_revision == upstream.revision;
    if (!is_current && !is_published(one.lifecycle)) {
      plan_.error = fmt::format(
          "cannot update upstream of downstream {:?} when it is not published: approve or delete it, or set the annotation "
          "{}=replace, by which drafts of older upstream revisions are replaced",
          one.name, kSupersededDrafts);
    } else if (!is_current) {
      upgrade(newest_after(one), upstream);
    } else if (one.differs && is_published(one.lifecycle)) {
      create({.type = TaskType::Edit, .edit = EditTask{.source = NameRef{newest_after(one).name}}});
    } else if (one.differs && one.lifecycle == Lifecycle::Proposed) {
      plan_.error = out_of_date(one.name).message;
    } else if (one.differs) {
      act(ActionKind::Write, one);
    }
  }

  /// What others have published after the variant's own revision: a new one goes on from there, so that nothing of it is lost.
  const RevisionView& newest_after(const RevisionView& own) const {
    const RevisionView* newest = &own;
    for (const RevisionView& one : there_) {
      const bool is_there = one.repository == downstream_.repo && one.package == downstream_.package;
      if (is_there && one.lifecycle == Lifecycle::Published && one.revision > newest->revision) newest = &one;
    }
    return *newest;
  }

  void upgrade(const RevisionView& one, const RevisionView& upstream) {
    if (!one.upstream_revision) {
      plan_.error = fmt::format(
          "cannot upgrade {:?}, the newest published revision: its Kptfile does not say of which upstream "
          "it is",
          one.name);
      return;
    }
    if (*one.upstream_revision == upstream.revision) return;  // somebody has upgraded it
    const Upstream old{
        .repo = variant_.upstream->repo, .package = variant_.upstream->package, .revision = *one.upstream_revision};
    const RevisionView* from = old.revision == kUnpublished ? nullptr : find_upstream(old, there_);
    if (from == nullptr) {
      plan_.error = not_found(old);
      return;
    }
    create({.type = TaskType::Upgrade,
            .upgrade = UpgradeTask{.old_upstream = {from->name}, .new_upstream = {upstream.name}, .local = {one.name}}});
  }

  static RevisionTask clone_of(const RevisionView& upstream) {
    return {.type = TaskType::Clone, .clone = CloneTask{.upstream = {.revision = NameRef{upstream.name}}}};
  }

  void create(RevisionTask task) {
    std::vector<std::string> workspaces;
    for (const RevisionView& one : there_) {
      if (one.repository == downstream_.repo && one.package == downstream_.package) workspaces.push_back(one.workspace);
    }
    RevisionSpec draft{.package_name = downstream_.package,
                       .repository = downstream_.repo,
                       .workspace = next_workspace(kWorkspaces, workspaces),
                       .lifecycle = std::string(json::enum_name(Lifecycle::Draft)),
                       .tasks = {std::move(task)}};
    const std::string name = RevisionKey{{downstream_.repo, downstream_.package}, draft.workspace}.object_name();
    plan_.actions.push_back({.kind = ActionKind::Create, .name = name, .draft = std::move(draft)});
  }

  const VariantSpec& variant_;
  const std::vector<RevisionView>& there_;
  Superseded superseded_;
  const Downstream& downstream_;
  VariantPlan plan_{};
};

}  // namespace

std::vector<std::string> check(const VariantSpec& variant) {
  std::vector<std::string> faults;
  if (!variant.upstream) {
    faults.emplace_back("missing required field spec.upstream");
  } else {
    if (variant.upstream->repo.empty()) faults.emplace_back("missing required field spec.upstream.repo");
    if (variant.upstream->package.empty()) faults.emplace_back("missing required field spec.upstream.package");
    if (variant.upstream->revision == 0 && variant.upstream->workspace.empty()) {
      faults.emplace_back("missing required field spec.upstream.revision");
    }
  }
  if (!variant.downstream) {
    faults.emplace_back("missing required field spec.downstream");
  } else {
    if (variant.downstream->repo.empty()) faults.emplace_back("missing required field spec.downstream.repo");
    if (variant.downstream->package.empty()) faults.emplace_back("missing required field spec.downstream.package");
  }
  const PackageContext context = variant.context.value_or(PackageContext{});
  for (const std::string_view key : kReserved) {
    if (context.data.contains(std::string(key))) {
      faults.push_back(fmt::format("spec.packageContext.data: Invalid value: {}: must not contain the key {:?}",
                                   json::print(json::encode(context)["data"]), key));
    }
    if (std::ranges::find(context.remove_keys, key) != context.remove_keys.end()) {
      faults.push_back(fmt::format("spec.packageContext.removeKeys: Invalid value: {}: must not contain the key {:?}",
                                   json::print(json::encode(context)["removeKeys"]), key));
    }
  }
  for (std::size_t i = 0; i < variant.injectors.size(); ++i) {
    if (variant.injectors[i].name.empty()) faults.push_back(fmt::format("spec.injectors[{}].name must not be empty", i));
  }
  return faults;
}

VariantPlan plan_variant(const VariantSpec& variant, const std::vector<RevisionView>& there, Superseded superseded) {
  return Planner(variant, there, superseded).run();
}

VariantPlan plan_removal(const VariantSpec& variant, const std::vector<RevisionView>& there) {
  VariantPlan plan;
  for (const RevisionView& one : there) {
    if (!one.is_ours) continue;
    const bool is_orphaned = variant.deletion == DeletionPolicy::Orphan || is_published(one.lifecycle);
    if (one.lifecycle == Lifecycle::Published && variant.deletion != DeletionPolicy::Orphan) {
      plan.actions.push_back({.kind = ActionKind::ProposeDeletion, .name = one.name});
    }
    // A proposed deletion is a person's to carry out: garbage collection must not.
    plan.actions.push_back({.kind = is_orphaned ? ActionKind::Orphan : ActionKind::Delete, .name = one.name});
  }
  return plan;
}

Condition drafted(std::string_view variant) {
  return {.type = "Drafted",
          .status = Truth::True,
          .reason = "Drafted",
          .message = fmt::format("the content is as variant {} makes it", variant)};
}

Condition out_of_date(std::string_view proposal) {
  return {
      .type = "Drafted",
      .status = Truth::False,
      .reason = "ProposalOutOfDate",
      .message = fmt::format("proposal {0} is out of date: what its variant makes has changed since it was proposed; reject "
                             "it (slipway pkg reject {0}), then its draft is made anew",
                             proposal)};
}

}  // namespace slipway::delivery::package
