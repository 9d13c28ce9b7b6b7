// gitops.#Push: what the components render is committed to a repository and applied by whoever follows it (Argo CD, Flux), not
// by this Application. Nothing of it is recorded in a tracker.
#include <fmt/format.h>

#include "delivery/application/git_push.h"
#include "delivery/application/gitops_files.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/providers.h"
#include "delivery/probe/secret.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

/// A push could be the cause of a fault of the spec; what others must put right first is tried again.
Answer ended(const Status& error) {
  return error.reason == Reason::Invalid || error.reason == Reason::NotImplemented ? failed(error.message)
                                                                                   : Answer::error(error);
}

bool is_chosen(const std::string& component, const Value& names) {
  if (names.is_null()) return true;
  const auto wanted = texts_in(names);
  return std::ranges::find(wanted, component) != wanted.end();
}

Task<Result<std::vector<PlacedComponent>>> rendered_components(AppRun& run, ProviderCall call) {
  SLIPWAY_CO_TRY(plan, co_await plan_deploy_in_pool(run, texts_in(call.params["policies"]), {}));
  std::vector<PlacedComponent> made;
  for (const Placement& placement : plan.placements) {
    for (const ComponentSpec& component : plan.components) {
      if (!is_chosen(component.name, call.params["components"])) continue;
      const Value patch = patch_with_exports(call, component.name, {});
      SLIPWAY_CO_TRY(rendered, co_await run.render(component, placement, patch, {}));
      made.push_back({placement, *rendered});
    }
  }
  co_return made;
}

SecretsInGit secrets_in(const Value& params) {
  const std::string text = params["secrets"].str();
  if (text == "omit") return SecretsInGit::omit;
  return text == "include" ? SecretsInGit::include : SecretsInGit::refuse;
}

GitPerson author_of(const Value& author, Time now) {
  GitPerson person{.name = author["name"].str(), .email = author["email"].str()};
  if (person.name.empty()) person.name = "Slipway";
  if (person.email.empty()) person.email = "slipway@users.noreply.invalid";
  person.time = std::chrono::floor<std::chrono::seconds>(now);
  return person;
}

std::string told(const GitPush& push, const GitPushed& pushed) {
  if (!pushed.has_pushed) return fmt::format("{} has it: nothing to push", pushed.branch);
  std::string text = fmt::format("pushed {} to {}: {} file{}", pushed.commit.substr(0, 12), pushed.branch, pushed.changed,
                                 pushed.changed == 1 ? "" : "s");
  if (!push.own_branch.empty()) text += fmt::format(", to be merged into {} by a pull request", push.branch);
  return text;
}

Task<Answer> push_components(AppRun& run, ProviderCall call) {
  Git* git = run.tools().env.git;
  if (git == nullptr) co_return failed("this process has no git: run Slipway with a data folder");
  const std::string ns(kube::ns(run.application())), name(kube::name(run.application()));
  auto credentials = co_await git_credentials(run, call.params["credentials"]);
  if (!credentials) co_return Answer::error(credentials.error());
  auto rendered = co_await rendered_components(run, call);
  if (!rendered) co_return ended(rendered.error());
  GitPush push{.remote = {.url = call.params["gitRepo"].str(), .space = ns, .credentials = std::move(*credentials)}};
  push.mark = file_mark(ns, name);
  auto files = gitops_files(*rendered, push.mark, secrets_in(call.params));
  if (!files) co_return ended(files.error());
  push.files = std::move(*files);
  push.branch = call.params["branch"].str();
  push.own_branch = call.params["pullRequestBranch"].str();
  push.folder = call.params["path"].str();
  push.application = fmt::format("{}/{}", ns, name);
  push.message = call.params["message"].str();
  if (push.message.empty()) push.message = fmt::format("deliver {} {}", push.application, run.revision());
  push.trailers = {{"Slipway-Revision", run.revision()}};
  push.author = author_of(call.params["author"], run.tools().env.clock.now());
  auto pushed = co_await push_files(*git, push);
  if (!pushed) co_return ended(pushed.error());
  co_return Answer::done(json::object({{"commit", pushed->commit},
                                       {"branch", pushed->branch},
                                       {"changed", pushed->has_pushed},
                                       {"message", told(push, *pushed)}}));
}

}  // namespace

Task<Result<GitCredentials>> git_credentials(AppRun& run, Value reference) {
  if (reference.is_null()) co_return GitCredentials{};
  SLIPWAY_CO_TRY(client, run.on(kHub));
  SLIPWAY_CO_TRY(secret,
                 co_await probe::read_secret(*client, std::string(kube::ns(run.application())), reference["secretRef"]));
  co_return GitCredentials::of_secret(secret);
}

std::vector<ProviderRow> gitops_rows() {
  return {{"gitops",
           "push",
           {"gitRepo", "branch", "pullRequestBranch", "path", "credentials", "components", "policies", "secrets", "author",
            "message"},
           push_components}};
}

}  // namespace slipway::delivery::application
