#include "delivery/package/repository_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/author_right.h"
#include "delivery/package/kind.h"
#include "delivery/probe/secret.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {
namespace {

/// What a name or an address in a commit may not hold.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '<' || c == '>' || static_cast<unsigned char>(c) < ' '; });
  return text;
}

}  // namespace

GitPerson OpenRepository::signer(const std::string& user, Time now) const {
  const GitRepository& settings = git();
  GitPerson person{.name = plain(settings.author.empty() ? user : settings.author), .email = plain(settings.email)};
  if (person.name.empty()) person.name = "slipway";
  if (person.email.empty()) {
    person.email = person.name.contains('@') ? person.name : "slipway@users.noreply.invalid";
  }
  person.time = std::chrono::floor<std::chrono::seconds>(now);
  return person;
}

Locator OpenRepository::lock(const std::string& path, const std::string& ref, const std::string& commit) const {
  constexpr std::string_view kPrefixes[] = {"refs/heads/", "refs/tags/"};
  std::string shown = ref;
  for (const std::string_view prefix : kPrefixes) {
    if (shown.starts_with(prefix)) shown.erase(0, prefix.size());
  }
  return {.type = "git",
          .git = GitLock{.repo = git().repo, .directory = folder_of(path), .ref = std::move(shown), .commit = commit}};
}

Result<OpenRepository> read_repository(const json::Value& object) {
  const std::string name(kube::name(object));
  const auto spec = json::decode<RepositorySpec>(object["spec"], "spec", {.allow_unknown = true});
  if (!spec) return fail(Reason::BadRequest, fmt::format("Repository {}: {}", name, spec.error().message));
  OpenRepository open{.name = name, .spec = *spec};
  if (spec->oci || spec->type == SourceType::Oci) {
    return fail(
        Reason::NotImplemented,
        fmt::format("Repository {}: registries are not implemented: keep packages in a Git repository (type git)", name));
  }
  if (!spec->git) return fail(Reason::BadRequest, fmt::format("Repository {}: spec.git is required", name));
  open.mode = gate_mode(*spec, kube::annotation(object, kGateMode));
  open.is_waived = kube::annotation(object, kGatesWaived) == "true";
  open.created = kube::creation_time(object).value_or(Time::min());
  open.author = author_of(object);
  open.remote.url = spec->git->repo;
  open.remote.space = kube::ns(object);
  open.place = {.folder = plain_path(spec->git->directory), .branch = spec->git->branch.empty() ? "main" : spec->git->branch};
  return open;
}

GateMode gate_mode_of(const OpenRepository& repository, const kube::Object& record) {
  const bool is_older = kube::creation_time(record).value_or(Time::max()) < repository.created;
  return is_older && !repository.is_waived ? GateMode::Enforce : repository.mode;
}

Task<Result<OpenRepository>> with_credentials(client::Client& server, std::string ns, OpenRepository repository) {
  const std::optional<NameRef> secret = repository.git().secret;
  if (!secret || secret->name.empty()) co_return repository;
  if (auto may = co_await require_right(server, repository.author, {"get", kube::kSecrets, "", {ns, secret->name}}); !may) {
    Status error = std::move(may).error();
    if (control::lacks_right(error, repository.author.get())) {
      error.message = fmt::format("Repository {}: {}", repository.name, control::lacks_right_text(error, *repository.author));
    }
    co_return fail(std::move(error));
  }
  SLIPWAY_CO_TRY(values, co_await probe::read_secret(server, std::move(ns), json::object({{"name", secret->name}})));
  repository.remote.credentials = GitCredentials::of_secret(values);
  co_return repository;
}

Task<Result<OpenRepository>> open_repository(client::Client& server, std::string ns, std::string name) {
  SLIPWAY_CO_TRY(object, co_await client::get(server, kRepositories, {ns, name}));
  SLIPWAY_CO_TRY(open, read_repository(object));
  co_return co_await with_credentials(server, std::move(ns), std::move(open));
}

Result<Git*> git_of(Env& env) {
  if (env.git != nullptr) return env.git;
  return fail(Reason::NotImplemented, "this process has no git: package revisions need `slipway up`");
}

}  // namespace slipway::delivery::package
