#include "delivery/package/intent.h"

#include <fmt/format.h>

namespace slipway::delivery::package {
namespace {

using GitStepKind = GitStep::Kind;

class Steps {
 public:
  Steps(const Intent& intent, const StoreView& view) : intent_(intent), view_(view) {}

  GitStep next() const {
    switch (intent_.kind) {
      case IntentKind::Save:
        return save();
      case IntentKind::Propose:
        return move(ref(Lifecycle::Draft), ref(Lifecycle::Proposed));
      case IntentKind::Withdraw:
        return move(ref(Lifecycle::Proposed), ref(Lifecycle::Draft));
      case IntentKind::Approve:
        return approve();
      case IntentKind::ProposeDeletion:
        return propose_deletion();
      case IntentKind::Keep:
        return intent_.revision == kPlaceholder ? remove_mark() : remove(ref(Lifecycle::DeletionProposed));
      case IntentKind::Delete:
        if (intent_.revision == kPlaceholder) return remove_from_branch();
        return intent_.from == Lifecycle::DeletionProposed ? remove_published() : remove(ref(intent_.from));
    }
    return {};
  }

 private:
  std::string ref(Lifecycle lifecycle) const {
    return ref_of({{intent_.repository, intent_.path}, intent_.workspace}, intent_.revision, lifecycle, intent_.folder);
  }
  std::string branch() const { return "refs/heads/" + intent_.branch; }
  /// Empty: there is none.
  std::string at(const std::string& name) const {
    const auto found = view_.refs.find(name);
    return found == view_.refs.end() ? "" : found->second;
  }

  static GitStep update(std::string name, std::string expected, std::string target) {
    return {.kind = GitStepKind::Update, .ref = std::move(name), .expected = std::move(expected), .target = std::move(target)};
  }
  GitStep drift(const std::string& name) const {
    const std::string is = at(name);
    return {.kind = GitStepKind::Drift,
            .ref = name,
            .text = fmt::format("{} was {} when it was decided and is {} now", name,
                                intent_.seen.empty() ? "not there" : intent_.seen, is.empty() ? "gone" : is)};
  }

  GitStep save() const {
    const std::string name = ref(Lifecycle::Draft);
    const std::string is = at(name);
    if (is == intent_.commit) return {};
    return is == intent_.seen ? update(name, intent_.seen, intent_.commit) : drift(name);
  }

  /// The new reference comes before the old one goes, so that the revision is never without one.
  GitStep move(const std::string& from, const std::string& to) const {
    if (at(to).empty()) return at(from) == intent_.seen ? update(to, "", intent_.seen) : drift(from);
    if (at(to) != intent_.seen) return drift(to);
    return remove(from);
  }

  /// What was pushed upon it meanwhile stays.
  GitStep remove(const std::string& name) const {
    const std::string is = at(name);
    if (is.empty()) return {};
    return is == intent_.seen ? update(name, intent_.seen, "") : drift(name);
  }

  GitStep approve() const {
    const std::string tag = ref(Lifecycle::Published);
    if (at(tag).empty()) {
      if (view_.package == OnBranch::Other) return changed_on_branch();
      const std::string proposal = ref(Lifecycle::Proposed);
      return at(proposal) == intent_.seen ? update(tag, "", intent_.commit) : drift(proposal);
    }
    if (at(tag) != intent_.commit) return {.kind = GitStepKind::NextNumber, .revision = intent_.revision + 1};
    if (!view_.has_commit) {
      const std::string tip = at(branch());
      if (tip == intent_.base) return update(branch(), intent_.base, intent_.commit);
      // Its own tag, which no branch follows yet.
      if (view_.package == OnBranch::Other) return update(tag, intent_.commit, "");
      return {.kind = GitStepKind::Merge, .ref = branch(), .expected = tip};
    }
    // It is published, whatever was pushed upon the proposal meanwhile; that stays, and the message names it.
    GitStep step = remove(ref(Lifecycle::Proposed));
    if (step.kind == GitStepKind::Drift) step.kind = GitStepKind::Confirm;
    return step;
  }

  GitStep changed_on_branch() const {
    return {.kind = GitStepKind::Drift,
            .ref = branch(),
            .text = fmt::format("{} was changed on {} after its approval was decided", intent_.path, branch())};
  }

  GitStep propose_deletion() const {
    const std::string name = ref(Lifecycle::DeletionProposed);
    if (!at(name).empty()) return {};
    if (intent_.revision == kPlaceholder) return update(name, "", intent_.seen);
    const std::string tag = ref(Lifecycle::Published);
    return at(tag) == intent_.seen ? update(name, "", intent_.seen) : drift(tag);
  }

  /// The tag first: while the branch is there the deletion is still known to be under way.
  GitStep remove_published() const {
    const GitStep tag = remove(ref(Lifecycle::Published));
    return tag.kind == GitStepKind::Confirm ? remove(ref(Lifecycle::DeletionProposed)) : tag;
  }

  GitStep remove_from_branch() const {
    const bool is_done = intent_.commit.empty() || view_.has_commit || view_.package == OnBranch::Gone;
    if (is_done) return remove_mark();
    const std::string tip = at(branch());
    if (tip == intent_.base) return update(branch(), intent_.base, intent_.commit);
    if (view_.package == OnBranch::Other) {
      return {.kind = GitStepKind::Drift,
              .ref = branch(),
              .text = fmt::format("{} was changed on {} after its deletion was decided", intent_.path, branch())};
    }
    return {.kind = GitStepKind::Merge, .ref = branch(), .expected = tip};
  }

  /// The branch has moved on since its package was proposed for deletion; the proposal has not.
  GitStep remove_mark() const {
    const std::string name = ref(Lifecycle::DeletionProposed);
    return at(name).empty() ? GitStep{} : update(name, at(name), "");
  }

  const Intent& intent_;
  const StoreView& view_;
};

}  // namespace

GitStep next_step(const Intent& intent, const StoreView& view) { return Steps(intent, view).next(); }

std::string commit_message(const Intent& intent) {
  const std::string package = PackageKey{intent.repository, intent.path}.path;
  const std::string full = plain_path(intent.folder + "/" + package);
  if (intent.kind == IntentKind::Delete) return fmt::format("Delete {}\n", full);
  const std::string what = intent.kind == IntentKind::Approve ? fmt::format("Approve {}/v{}", full, intent.revision)
                                                              : fmt::format("Save {}/{}", full, intent.workspace);
  return with_note(what, {.package = full, .workspace = intent.workspace, .revision = fmt::format("{}", intent.revision)});
}

}  // namespace slipway::delivery::package
