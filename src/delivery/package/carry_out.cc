// The steps of one intent at the remote.
#include <fmt/format.h>

#include "delivery/package/branch_package.h"
#include "delivery/package/exported.h"
#include "delivery/package/worker.h"

namespace slipway::delivery::package {
namespace {

using GitStepKind = GitStep::Kind;

/// Looks at the remote after which the intent is put off: others are faster all the time.
constexpr int kMostLooks = 8;

std::string ref_in(const Intent& intent, Lifecycle lifecycle) {
  return ref_of({{intent.repository, intent.path}, intent.workspace}, intent.revision, lifecycle, intent.folder);
}

/// Another writer came first, or the step was done before: the references tell.
bool is_refusal(const Status& status) { return status.reason == Reason::Conflict || status.reason == Reason::BadRequest; }

class Carrier {
 public:
  Carrier(Git& git, OpenRepository repository, StoredRecord stored)
      : git_(git), repository_(std::move(repository)), stored_(std::move(stored)) {
    intent_ = stored_.record.intents.front();
    view_ = view_seen(intent_);
  }

  Task<Result<CarriedOut>> run() {
    while (true) {
      const GitStep step = next_step(intent_, view_);
      const bool is_proven = !is_as_seen_ || step.kind == GitStepKind::Update || has_changed_;
      if (!is_proven) {
        SLIPWAY_CO_TRY_VOID(co_await look());
        continue;
      }
      switch (step.kind) {
        case GitStepKind::Update:
          SLIPWAY_CO_TRY_VOID(co_await update(step));
          break;
        case GitStepKind::Merge:
          SLIPWAY_CO_TRY_VOID(co_await merge(step));
          break;
        case GitStepKind::NextNumber: {
          SLIPWAY_CO_TRY(intent, co_await next_number(step));
          co_return CarriedOut{.step = step, .intent = std::move(intent)};
        }
        case GitStepKind::Confirm:
        case GitStepKind::Drift:
          co_return CarriedOut{.step = step, .intent = intent_, .outside = outside_};
      }
    }
  }

 private:
  Task<Result<void>> look() {
    if (++looks_ > kMostLooks) {
      co_return fail(Reason::Conflict, fmt::format("references of {} change all the time", repository_.remote.url));
    }
    is_as_seen_ = false;
    SLIPWAY_CO_TRY(view, co_await view_now(git_, repository_, intent_));
    view_ = std::move(view);
    co_return co_await look_at_package();
  }

  /// Whether somebody has changed the package on the branch since the commit of an approval was made upon it.
  Task<Result<void>> look_at_package() {
    const auto tip = view_.refs.find(repository_.branch_ref());
    const bool is_asked = intent_.kind == IntentKind::Approve && !view_.has_commit && tip != view_.refs.end() &&
                          tip->second != intent_.base && !publishes_over(stored_.object);
    if (!is_asked) co_return Result<void>{};
    SLIPWAY_CO_TRY(outside, co_await outside_changes(git_, repository_, intent_.path, tip->second, {intent_.base}));
    outside_ = std::move(outside);
    if (!undone_by(outside_, stored_.record.file_digests).empty()) view_.package = OnBranch::Other;
    co_return Result<void>{};
  }

  Task<Result<void>> update(GitStep step) {
    GitRefUpdate wanted{.ref = step.ref};
    if (!step.expected.empty()) wanted.expected = step.expected;
    if (!step.target.empty()) wanted.target = step.target;
    auto done = co_await git_.update_ref(repository_.remote, wanted);
    if (!done && done.error().reason == Reason::NotFound && wanted.target) {
      // What another process has committed is not in this mirror yet.
      SLIPWAY_CO_TRY_VOID(co_await git_.fetch_all(repository_.remote, "refs/heads/"));
      if (intent_.is_about_branch()) SLIPWAY_CO_TRY_VOID(co_await make_again());
      done = co_await git_.update_ref(repository_.remote, wanted);
    }
    if (!done && is_refusal(done.error())) co_return co_await look();
    if (!done) co_return fail(std::move(done).error());
    has_changed_ = true;
    if (step.target.empty()) {
      view_.refs.erase(step.ref);
    } else {
      view_.refs[step.ref] = step.target;
    }
    if (step.ref == repository_.branch_ref()) view_.has_commit = true;
    co_return Result<void>{};
  }

  /// The commit of an intent whose mirror was lost: from what the log has it gets the same id.
  Task<Result<void>> make_again() {
    if (intent_.kind == IntentKind::Delete) {
      SLIPWAY_CO_TRY_VOID(co_await commit_removal(git_, repository_, intent_));
      co_return Result<void>{};
    }
    const ApprovalRecord approval = stored_.record.approval.value_or(ApprovalRecord{});
    RevisionRecord proposal = stored_.record;
    proposal.commit = intent_.seen;
    PublishCommit wanted{
        .record = std::move(proposal), .revision = intent_.revision, .user = approval.approver, .now = approval.at};
    if (!intent_.base.empty()) wanted.tip = intent_.base;
    SLIPWAY_CO_TRY_VOID(co_await commit_published(git_, repository_, std::move(wanted)));
    co_return Result<void>{};
  }

  /// The branch has moved since the commit was made: both go in.
  Task<Result<void>> merge(GitStep step) {
    const bool is_removal = intent_.kind == IntentKind::Delete;
    const std::string folder = repository_.folder_of(intent_.path);
    std::vector<GitChange> changes{{.path = folder, .content = std::nullopt}};
    if (!is_removal) {
      SLIPWAY_CO_TRY(content, co_await read_content(git_, repository_.remote, folder, intent_.commit));
      changes = replacing_changes(folder, content);
    }
    const ApprovalRecord approval = stored_.record.approval.value_or(ApprovalRecord{});
    const GitPerson author = is_removal ? repository_.signer(intent_.user, intent_.at.value_or(Time{}))
                                        : repository_.signer(approval.approver, approval.at);
    GitNewCommit made{.parents = {step.expected, intent_.commit},
                      .changes = std::move(changes),
                      .message = commit_message(intent_),
                      .author = author};
    SLIPWAY_CO_TRY(commit, co_await git_.commit(repository_.remote, std::move(made)));
    step.target = commit;
    co_return co_await update(std::move(step));
  }

  /// The number is taken: the commit is made again with another, upon the branch as it is.
  Task<Result<Intent>> next_number(GitStep step) {
    SLIPWAY_CO_TRY(tip, co_await branch_tip(git_, repository_));
    const ApprovalRecord approval = stored_.record.approval.value_or(ApprovalRecord{});
    RevisionRecord proposal = stored_.record;
    proposal.commit = intent_.seen;
    PublishCommit wanted{
        .tip = tip, .record = std::move(proposal), .revision = step.revision, .user = approval.approver, .now = approval.at};
    SLIPWAY_CO_TRY(commit, co_await commit_published(git_, repository_, std::move(wanted)));
    Intent next = intent_;
    next.revision = step.revision;
    next.commit = commit;
    next.base = tip.value_or("");
    co_return next;
  }

  Git& git_;
  OpenRepository repository_;
  StoredRecord stored_;
  Intent intent_;
  StoreView view_;
  OutsideChanges outside_{};
  bool is_as_seen_ = true;
  bool has_changed_ = false;
  int looks_ = 0;
};

}  // namespace

StoreView view_seen(const Intent& intent) {
  StoreView view;
  const auto put = [&](Lifecycle lifecycle) {
    const std::string name = ref_in(intent, lifecycle);
    if (!intent.seen.empty() && !name.empty()) view.refs[name] = intent.seen;
  };
  switch (intent.kind) {
    case IntentKind::Save:
    case IntentKind::Propose:
      put(Lifecycle::Draft);
      break;
    case IntentKind::Withdraw:
      put(Lifecycle::Proposed);
      break;
    case IntentKind::Approve:
      put(Lifecycle::Proposed);
      if (!intent.base.empty()) view.refs["refs/heads/" + intent.branch] = intent.base;
      break;
    case IntentKind::ProposeDeletion:
      put(Lifecycle::Published);
      break;
    case IntentKind::Keep:
      put(Lifecycle::DeletionProposed);
      break;
    case IntentKind::Delete:
      if (intent.revision == kPlaceholder && !intent.base.empty()) view.refs["refs/heads/" + intent.branch] = intent.base;
      put(intent.from);
      if (intent.from == Lifecycle::DeletionProposed) put(Lifecycle::Published);
      break;
  }
  return view;
}

Task<Result<StoreView>> view_now(Git& git, OpenRepository repository, Intent intent) {
  SLIPWAY_CO_TRY(refs, co_await git.list_refs(repository.remote, "refs/"));
  StoreView view;
  for (const GitRef& one : refs.refs) view.refs[one.name] = one.id;
  if (!intent.is_about_branch()) co_return view;
  const bool is_removal = intent.kind == IntentKind::Delete;
  if (!view.refs.contains(repository.branch_ref())) {
    if (is_removal) view.package = OnBranch::Gone;
    co_return view;
  }
  SLIPWAY_CO_TRY(tip, co_await git.fetch(repository.remote, repository.branch_ref()));
  view.refs[repository.branch_ref()] = tip;
  if (intent.commit.empty()) co_return view;
  const auto has_commit = co_await git.is_ancestor(repository.remote, intent.commit, tip);
  const bool is_unknown = !has_commit && has_commit.error().reason == Reason::NotFound && is_removal;
  if (!has_commit && !is_unknown) co_return fail(has_commit.error());
  view.has_commit = has_commit.value_or(false);
  if (!is_removal || view.has_commit) co_return view;
  SLIPWAY_CO_TRY(package, co_await package_on_branch(git, repository, intent.path, intent.seen, tip));
  view.package = package;
  co_return view;
}

Task<Result<CarriedOut>> carry_out_intent(Env& env, OpenRepository repository, StoredRecord stored) {
  SLIPWAY_CO_TRY(git, git_of(env));
  Carrier carrier(*git, std::move(repository), std::move(stored));
  co_return co_await carrier.run();
}

}  // namespace slipway::delivery::package
