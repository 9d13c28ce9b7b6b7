#include "delivery/pipeline/change_git.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "delivery/pipeline/author.h"
#include "delivery/probe/secret.h"

namespace slipway::delivery::pipeline {
namespace {

using Kind = PromotionEffect::Kind;
using Stage = ChangeState::Stage;
using Secret = std::map<std::string, std::string>;

std::unexpected<ChangeFailure> failed(PromotionCause where, Status error) {
  return std::unexpected(change_failure(where, std::move(error)));
}

/// The Secret's values, read as the Pipeline's author; of none nothing.
Task<std::expected<Secret, ChangeFailure>> read_secret(ChangeTools tools, kube::Object pipeline,
                                                       std::optional<SecretRef> reference) {
  if (!reference) co_return Secret{};
  auto values =
      co_await probe::read_secret(tools.author, std::string(kube::ns(pipeline)), json::object({{"name", reference->name}}));
  if (values) co_return std::move(*values);
  Status error = std::move(values).error();
  const User author = author_of(pipeline);
  if (!control::lacks_right(error, author.get())) co_return failed(PromotionCause::AccessDenied, std::move(error));
  error.message = control::lacks_right_text(error, *author);
  co_return failed(PromotionCause::AuthorLacksRight, std::move(error));
}

std::string value_in(const Secret& secret, const std::string& key) {
  const auto at = secret.find(key);
  return at == secret.end() ? "" : at->second;
}

PromotionText text_of(const ChangeOrder& order) {
  return {.app = order.pipeline["spec"]["appRef"]["name"].str(),
          .version = order.release.version,
          .key = order.key,
          .marker = {.ns = std::string(kube::ns(order.pipeline)),
                     .pipeline = std::string(kube::name(order.pipeline)),
                     .environment = order.environment}};
}

/// The same for every try: what enters a commit depends on the promotion alone.
GitPromotion git_promotion(const ChangeOrder& order, const std::string& url, const std::string& branch, const Secret& secret) {
  GitPromotion made;
  made.remote.url = url;
  made.remote.space = kube::ns(order.pipeline);
  made.remote.credentials = GitCredentials::of_secret(secret);
  made.branch = branch;
  made.text = text_of(order);
  made.author.name = "Slipway";
  made.author.email = "slipway@users.noreply.invalid";
  made.author.time = order.status.started.value_or(Time{});
  return made;
}

/// Reading comes first: a failure of the network is told as the source's, one of the remote's refusal as the push's.
PromotionCause cause_of(const Status& error) {
  const bool is_source = error.reason == Reason::ServiceUnavailable || error.reason == Reason::Timeout ||
                         error.reason == Reason::NotFound || error.reason == Reason::Invalid;
  return is_source ? PromotionCause::SourceFailed : PromotionCause::PushFailed;
}

Status no_git() {
  return fail(Reason::NotImplemented, "this process has no git: use the strategy notification, or none").error();
}

std::string pull_request_body(const ChangeOrder& order) {
  std::string body =
      fmt::format("Pipeline {}/{}: {} {} goes into {}.", kube::ns(order.pipeline), kube::name(order.pipeline),
                  order.pipeline["spec"]["appRef"]["name"].as_string(), order.release.version, order.environment);
  if (!order.release.digest.empty()) body += fmt::format("\nDigest: {}", order.release.digest);
  if (!order.promotion.comment.empty()) body += fmt::format("\n{}", order.promotion.comment);
  return body;
}

ChangeState state_of(const PullRequestView& view) {
  ChangeState state{.stage = Stage::Proposed, .commit = view.merged.value_or(""), .pull_request = view.url};
  if (view.state == PullState::Merged) state.stage = Stage::Made;
  if (view.state == PullState::Closed) state.stage = Stage::Closed;
  return state;
}

/// A failing status while frozen, a passing one when that is over.
Task<Result<bool>> mark(Forge& forge, PullRequestView view, ChangeOrder order) {
  if (view.state != PullState::Open || order.is_frozen == order.status.is_marked_frozen)
    co_return order.status.is_marked_frozen;
  CommitCheck check;
  check.commit = view.head;
  check.state = order.is_frozen ? CheckState::Failure : CheckState::Success;
  check.description = order.is_frozen ? order.status.text : "no freeze is in force";
  check.url = view.url;
  SLIPWAY_CO_TRY_VOID(co_await forge.set_check(std::move(check)));
  co_return order.is_frozen;
}

Task<Result<std::optional<PullRequestView>>> withdraw(Forge& forge, std::string branch, std::string key) {
  SLIPWAY_CO_TRY(known, co_await forge.find(branch, key));
  if (!known || known->state != PullState::Open) co_return std::move(known);
  // Without a key any promotion's is meant, and no other.
  if (key.empty() && trailer_of(known->description, kPromotionTrailer).empty()) co_return std::nullopt;
  SLIPWAY_CO_TRY(closed, co_await forge.close(*known));
  co_return std::optional(std::move(closed));
}

}  // namespace

Task<ChangeResult> change_by_commit(ChangeTools tools, Kind kind, ChangeOrder order) {
  if (kind != Kind::Bring) co_return ChangeState{.stage = Stage::Told};
  if (tools.env.git == nullptr) co_return failed(PromotionCause::PushFailed, no_git());
  const CommitStrategy settings = order.settings.strategy.value_or(Strategy{}).commit.value_or(CommitStrategy{});
  auto secret = co_await read_secret(tools, order.pipeline, settings.secret);
  if (!secret) co_return std::unexpected(std::move(secret).error());
  auto done = co_await promote_by_commit(*tools.env.git, git_promotion(order, settings.url, settings.base_branch, *secret));
  if (!done) co_return failed(cause_of(done.error()), done.error());
  co_return ChangeState{.stage = Stage::Made, .commit = done->commit};
}

Task<ChangeResult> change_by_pull_request(ChangeTools tools, Kind kind, ChangeOrder order) {
  if (tools.env.git == nullptr || tools.http == nullptr) co_return failed(PromotionCause::ForgeFailed, no_git());
  const PullRequest settings = pull_request_of(order.settings).value_or(PullRequest{});
  auto secret = co_await read_secret(tools, order.pipeline, settings.secret);
  if (!secret) co_return std::unexpected(std::move(secret).error());
  ForgeRepository repository{
      .provider = settings.type.empty() ? "github" : settings.type, .url = settings.url, .api_url = settings.api_url};
  repository.token = value_in(*secret, "token");
  auto forge = make_forge(*tools.http, std::move(repository));
  if (!forge) co_return failed(PromotionCause::ForgeFailed, std::move(forge).error());
  co_return co_await propose(*tools.env.git, **forge, git_promotion(order, settings.url, settings.base_branch, *secret), kind,
                             std::move(order));
}

Task<ChangeResult> propose(Git& git, Forge& forge, GitPromotion promotion, Kind kind, ChangeOrder order) {
  const std::string branch = promotion_branch(promotion.text.marker);
  if (kind == Kind::Withdraw) {
    auto closed = co_await withdraw(forge, branch, order.key);
    if (!closed) co_return failed(PromotionCause::ForgeFailed, std::move(closed).error());
    co_return *closed ? state_of(**closed) : ChangeState{.stage = Stage::Closed};
  }
  auto view = co_await forge.find(branch, order.key);
  if (!view) co_return failed(PromotionCause::ForgeFailed, std::move(view).error());
  if (!*view && kind == Kind::Bring) {
    auto done = co_await promote_by_branch(git, promotion, branch);
    if (!done) co_return failed(cause_of(done.error()), done.error());
    if (done->is_on_branch) co_return ChangeState{.stage = Stage::Made, .commit = done->commit};
    auto open = co_await ensure_open(
        forge, {.source = branch, .target = promotion.branch, .text = promotion.text, .body = pull_request_body(order)});
    if (!open) co_return failed(PromotionCause::ForgeFailed, std::move(open).error());
    *view = std::move(*open);
  }
  if (!*view) co_return ChangeState{.stage = Stage::Told};
  auto marked = co_await mark(forge, **view, order);
  if (!marked) co_return failed(PromotionCause::ForgeFailed, std::move(marked).error());
  ChangeState state = state_of(**view);
  state.is_marked_frozen = *marked;
  co_return state;
}

}  // namespace slipway::delivery::pipeline
