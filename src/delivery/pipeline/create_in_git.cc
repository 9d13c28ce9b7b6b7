#include "delivery/pipeline/create_in_git.h"

#include <fmt/format.h>

#include "base/text.h"
#include "delivery/pipeline/commit_file.h"
#include "delivery/pipeline/forge.h"

namespace slipway::delivery::pipeline {
namespace {

std::string option_or(const CommandCall& call, const std::string& name, std::string fallback) {
  std::string given = option(call, name);
  return given.empty() ? std::move(fallback) : given;
}

/// What both ways commit, and where to.
Result<CommitFile> file_of(const CommandCall& call, const std::string& name, std::string content) {
  const bool is_proposal = has_flag(call, "pull-request");
  CommitFile wanted;
  wanted.branch = option_or(call, "git-branch", is_proposal ? fmt::format("pipeline-{}-{}", call.ns, name) : "main");
  wanted.base = option_or(call, "git-base", is_proposal ? "main" : "");
  wanted.path = option_or(call, "git-path", fmt::format("pipelines/{}.yaml", name));
  wanted.content = std::move(content);
  wanted.message = fmt::format("pipeline {}\n", name);
  wanted.remote.url = option(call, "git-url");
  if (wanted.remote.url.empty()) {
    return fail(Reason::BadRequest,
                fmt::format("--{} needs --git-url, the repository to commit to", is_proposal ? "pull-request" : "commit"));
  }
  wanted.remote.space = call.ns;
  wanted.remote.credentials.username = option(call, "git-user");
  if (const std::string file = option(call, "git-password-file"); !file.empty()) {
    SLIPWAY_TRY(password, call.env.files.read(file));
    wanted.remote.credentials.password = std::string(trimmed(password));
  }
  wanted.author = {
      .name = "slipway", .email = "slipway@localhost", .time = std::chrono::floor<std::chrono::seconds>(call.env.clock.now())};
  return wanted;
}

/// The password is the forge's token, as these forges have it.
Result<std::unique_ptr<Forge>> forge_of(const CommandCall& call, const CommitFile& wanted) {
  if (call.http == nullptr) {
    return fail(
        Reason::NotImplemented,
        "--pull-request: this program cannot speak to a forge: --commit --git-branch NEW --git-base main makes a branch");
  }
  return make_forge(*call.http, {.provider = option_or(call, "git-forge", "github"),
                                 .url = wanted.remote.url,
                                 .api_url = option(call, "git-api-url"),
                                 .token = wanted.remote.credentials.password});
}

Task<Result<CommandAnswer>> propose(CommandCall call, std::string name, CommitFile wanted) {
  SLIPWAY_CO_TRY(forge, forge_of(call, wanted));
  SLIPWAY_CO_TRY(done, co_await commit_file(*call.env.git, wanted));
  if (!done.has_branch) {
    co_return CommandAnswer{.text =
                                fmt::format("{}: is so already in {} of branch {}\n", wanted.path, done.commit, wanted.base)};
  }
  SLIPWAY_CO_TRY(open, co_await forge->find(wanted.branch, ""));
  if (open && open->target == wanted.base) {
    co_return CommandAnswer{.text = fmt::format("{}: is proposed already: {}\n", wanted.path, open->url)};
  }
  SLIPWAY_CO_TRY(made, co_await forge->open({.source = wanted.branch,
                                             .target = wanted.base,
                                             .body = fmt::format("Adds pipeline {}/{}.", call.ns, name),
                                             .title = fmt::format("pipeline {}", name)}));
  co_return CommandAnswer{.text = fmt::format("{}: proposed: {}\n", wanted.path, made.url)};
}

}  // namespace

Result<void> check_git_options(const CommandCall& call) {
  const bool is_commit = has_flag(call, "commit");
  const bool is_proposal = has_flag(call, "pull-request");
  if (is_commit && is_proposal) return fail(Reason::BadRequest, "give one of --commit and --pull-request");
  for (const char* given : {"git-url", "git-branch", "git-base", "git-path", "git-user", "git-password-file"}) {
    if (is_commit || is_proposal || option(call, given).empty()) continue;
    return fail(Reason::BadRequest, fmt::format("--{} is of --commit and --pull-request: give one of them too", given));
  }
  for (const char* given : {"git-forge", "git-api-url"}) {
    if (is_proposal || option(call, given).empty()) continue;
    return fail(Reason::BadRequest, fmt::format("--{} is of --pull-request: give that too", given));
  }
  return {};
}

Task<Result<CommandAnswer>> create_in_git(CommandCall call, std::string name, std::string content) {
  if (call.env.git == nullptr)
    co_return fail(Reason::NotImplemented, "this program has no git: commit what create prints without these flags");
  SLIPWAY_CO_TRY(wanted, file_of(call, name, std::move(content)));
  if (has_flag(call, "pull-request")) co_return co_await propose(std::move(call), std::move(name), std::move(wanted));
  SLIPWAY_CO_TRY(done, co_await commit_file(*call.env.git, wanted));
  co_return CommandAnswer{.text = fmt::format("{}: {} {} of branch {}\n", wanted.path,
                                              done.is_new ? "committed as" : "is so already in", done.commit, wanted.branch)};
}

}  // namespace slipway::delivery::pipeline
