#include "flux/git_repository.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "control/object_writes.h"
#include "flux/kinds.h"
#include "kube/well_known.h"

namespace slipway::flux {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;

constexpr Duration kDefaultInterval = std::chrono::minutes{1};
constexpr Duration kLeastInterval = std::chrono::seconds{1};

std::string branch_of(const Object& repository) {
  const std::string given = repository["spec"]["ref"]["branch"].str();
  return given.empty() ? "master" : given;
}

Value failed_status(const Object& repository, const Status& problem, Time now) {
  const Value conditions =
      kube::set_condition(repository["status"]["conditions"], {"Ready", "False", "GitOperationFailed", problem.message}, now);
  return repository["status"].with("conditions", conditions).with("observedGeneration", kube::generation(repository));
}

Value fetched_status(const Object& repository, const GitId& head, Time now) {
  const std::string revision = fmt::format("{}@sha1:{}", branch_of(repository), head);
  const std::string text = fmt::format("stored artifact for revision '{}'", revision);
  const Value conditions = kube::set_condition(repository["status"]["conditions"], {"Ready", "True", "Succeeded", text}, now);
  Value status = repository["status"].with("conditions", conditions).with("observedGeneration", kube::generation(repository));
  if (status["artifact"]["revision"].as_string() == revision) return status;
  return status.with(
      "artifact",
      json::object({{"revision", revision}, {"digest", "sha256:" + sha256_hex(head)}, {"lastUpdateTime", to_rfc3339(now)}}));
}

}  // namespace

Duration interval_of(const Object& object) {
  const auto given = parse_duration(object["spec"]["interval"].as_string());
  return given ? std::max(*given, kLeastInterval) : kDefaultInterval;
}

Task<Result<GitRemote>> remote_of(client::Client& client, Object repository) {
  GitRemote remote{.url = repository["spec"]["url"].str(), .space = std::string(kube::ns(repository))};
  if (remote.url.empty()) co_return fail(Reason::BadRequest, "spec.url: there is none");
  const std::string secret_name = repository["spec"]["secretRef"]["name"].str();
  if (secret_name.empty()) co_return remote;
  SLIPWAY_CO_TRY(secret, co_await client::get(client, kube::kSecrets, {remote.space, secret_name}));
  base64_decode(secret["data"]["username"].as_string(), remote.credentials.username);
  base64_decode(secret["data"]["password"].as_string(), remote.credentials.password);
  co_return remote;
}

void GitRepositoryController::watch(control::Watches& watches) { repositories_ = &watches.primary(kGitRepositories); }

Task<Result<GitId>> GitRepositoryController::fetch(client::Client& client, Object repository) {
  if (env_.git == nullptr) co_return fail(Reason::NotImplemented, "this process reads no Git repositories");
  SLIPWAY_CO_TRY(remote, co_await remote_of(client, repository));
  co_return co_await env_.git->fetch(std::move(remote), "refs/heads/" + branch_of(repository));
}

Task<Outcome> GitRepositoryController::reconcile(control::Reconcile& run) {
  const Object repository = repositories_->get(run.key);
  if (repository.is_null() || kube::is_deleting(repository)) co_return Outcome::settled();
  if (repository["spec"]["suspend"].as_bool()) co_return Outcome::settled();
  const auto author = delivery::author_of(kAuthor, repository, acts_as_);
  auto head = co_await fetch(run.as(author), repository);
  if (!head) head.error().message = refusal_text(head.error(), author.get());
  const Time now = env_.clock.now();
  Value status = head ? fetched_status(repository, *head, now) : failed_status(repository, head.error(), now);
  const auto told = co_await control::write_status(run.client, kGitRepositories, repository, std::move(status), kSourceManager);
  if (!told) co_return Outcome::failed(told.error());
  co_return Outcome::retries_after(interval_of(repository));
}

}  // namespace slipway::flux
