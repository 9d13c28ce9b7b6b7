// repo register|list|sync|unregister.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "delivery/family/text.h"
#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "delivery/package/output.h"
#include "delivery/package/repository_status.h"
#include "json/text.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

const kube::Resource kSecrets{"", "v1", "secrets"};

/// The last part of the address without ".git", as a label.
std::string name_of(std::string_view address) {
  while (address.ends_with('/')) address.remove_suffix(1);
  std::string name = lower(address.substr(address.find_last_of("/:") + 1));
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  std::ranges::replace_if(name, [](char c) { return !is_digit(c) && (c < 'a' || c > 'z'); }, '-');
  while (name.starts_with('-')) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::string user_of(const CommandCall& call) {
  return option(call, "username").empty() ? option(call, "repo-basic-username") : option(call, "username");
}

/// A Secret of basic authentication beside the repository; its name.
Task<Result<std::string>> make_secret(CommandCall call, std::string repository) {
  std::string password = option(call, "repo-basic-password");
  if (password.empty()) {
    SLIPWAY_CO_TRY(read, call.env.files.read(option(call, "password-file")));
    password = read;
  }
  while (password.ends_with('\n')) password.pop_back();
  const std::string name = repository + "-auth";
  const Value object =
      json::object({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", json::object({{"namespace", Value(call.ns)}, {"name", Value(name)}})},
                    {"type", "kubernetes.io/basic-auth"},
                    {"stringData", json::object({{"username", Value(user_of(call))}, {"password", Value(password)}})}});
  SLIPWAY_CO_TRY_VOID(co_await client::apply(*call.client, kSecrets, object, kCommandManager));
  co_return name;
}

Task<Result<CommandAnswer>> register_one(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "repo register ADDRESS [--name NAME]"));
  if (words[0].starts_with("oci://")) {
    co_return fail(Reason::NotImplemented, "image registries are not implemented: register a Git repository");
  }
  const std::string name = option(call, "name").empty() ? name_of(words[0]) : option(call, "name");
  if (name.empty()) co_return fail(Reason::BadRequest, "no name can be made of that address: give --name");
  GitRepository git{.repo = words[0]};
  if (!option(call, "branch").empty()) git.branch = option(call, "branch");
  git.creates_branch = has_flag(call, "create-branch");
  git.directory = option(call, "directory");
  const bool has_secret = !option(call, "password-file").empty() || !option(call, "repo-basic-password").empty();
  if (has_secret == user_of(call).empty()) {
    co_return fail(Reason::BadRequest, "--username and --password-file belong together");
  }
  RepositorySpec spec{.description = option(call, "description"), .is_deployment = has_flag(call, "deployment")};
  spec.type = SourceType::Git;
  if (has_secret) {
    SLIPWAY_CO_TRY(secret, co_await make_secret(call, name));
    git.secret = NameRef{secret};
  }
  spec.git = std::move(git);
  const Value object = json::object({{"apiVersion", Value(kRepositoryKind.api_version())},
                                     {"kind", Value(kRepositoryKind.kind)},
                                     {"metadata", json::object({{"namespace", Value(call.ns)}, {"name", Value(name)}})},
                                     {"spec", json::encode(spec)}});
  SLIPWAY_CO_TRY_VOID(co_await client::create(*call.client, kRepositories, object, kCommandManager));
  co_return CommandAnswer{.text = fmt::format("{} registered\n", name)};
}

std::string ready_of(const Value& repository) {
  for (const Value& one : repository["status"]["conditions"].items()) {
    if (one["type"].as_string() != "Ready") continue;
    const std::string message = one["message"].str();
    return one["status"].as_string() == "True" || message.empty() ? one["status"].str()
                                                                  : fmt::format("{} ({})", one["status"].as_string(), message);
  }
  return "-";
}

Task<Result<CommandAnswer>> list_all(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_output(call, {"table", "json"}));
  client::ListQuery query;
  query.ns = has_flag(call, "all-namespaces") ? "" : call.ns;
  SLIPWAY_CO_TRY(list, co_await client::list(*call.client, kRepositories, query));
  if (option(call, "output") == "json") co_return CommandAnswer{.text = json::print_pretty(list) + "\n"};
  const std::vector<kube::Object> objects(list["items"].items().begin(), list["items"].items().end());
  if (const auto chosen = chosen_output(call, objects)) co_return CommandAnswer{.text = *chosen};
  std::vector<std::vector<std::string>> rows{{"NAME", "DEPLOYMENT", "READY", "PACKAGES", "SYNCED", "BRANCH", "ADDRESS"}};
  for (const Value& one : list["items"].items()) {
    const Value& status = one["status"];
    rows.push_back({std::string(kube::name(one)), one["spec"]["deployment"].as_bool() ? "true" : "false",
                    one_line(ready_of(one)), std::to_string(status["packageCount"].as_int()),
                    age(kube::time_of(status["lastFullSyncTime"]), call.env.clock.now()), one["spec"]["git"]["branch"].str(),
                    one["spec"]["git"]["repo"].str()});
  }
  if (rows.size() == 1) co_return CommandAnswer{.notes = {fmt::format("namespace {} has no repositories", call.ns)}};
  co_return CommandAnswer{.text = aligned(rows)};
}

Task<Result<CommandAnswer>> sync(CommandCall call) {
  if (call.words.empty()) co_return fail(Reason::BadRequest, "usage: slipway repo sync REPOSITORY…");
  const std::string now = to_rfc3339(std::chrono::floor<std::chrono::seconds>(call.env.clock.now()));
  CommandAnswer answer;
  for (const std::string& name : call.words) {
    const Value patch = json::object({{"spec", json::object({{"sync", json::object({{"runOnceAt", Value(now)}})}})}});
    SLIPWAY_CO_TRY_VOID(
        co_await client::merge_patch(*call.client, kRepositories, kube::ObjectKey{call.ns, name}, patch, kCommandManager));
    answer.text += fmt::format("{} is read again\n", name);
  }
  co_return answer;
}

Task<Result<CommandAnswer>> unregister(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "repo unregister REPOSITORY"));
  SLIPWAY_CO_TRY_VOID(co_await client::remove(*call.client, kRepositories, kube::ObjectKey{call.ns, words[0]}));
  co_return CommandAnswer{.text = fmt::format("{} unregistered\n", words[0])};
}

}  // namespace

std::vector<Command> repository_commands() {
  return {changing({.verb = "repo register",
                    .help = "register a Git repository with packages",
                    .words_name = "ADDRESS",
                    .words_help = "of the repository",
                    .options = {{.name = "name", .help = "of the Repository (default: from the address)"},
                                {.name = "branch", .help = "where published packages are (default: main)"},
                                {.name = "create-branch", .help = "make the branch where it is missing", .is_flag = true},
                                {.name = "directory", .help = "packages are below this folder"},
                                {.name = "deployment",
                                 .help = "its packages go to a cluster: gates must be met before they are published",
                                 .is_flag = true},
                                {.name = "description", .help = "what it is for"},
                                {.name = "username", .help = "for a Secret of basic authentication"},
                                {.name = "password-file", .help = "file with its password"},
                                {.name = "repo-basic-username", .help = "the same as --username, as Porch's client has it"},
                                {.name = "repo-basic-password",
                                 .help = "the password itself, which other users of the machine may see: better a file"}}},
                   register_one),
          looking({.verb = "repo list",
                   .help = "list repositories",
                   .options = {{.name = "output", .help = "table, json, custom-columns=NAME:.path,… or jsonpath=…"},
                               {.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}}},
                  list_all),
          changing({.verb = "repo sync",
                    .help = "read repositories again as a whole",
                    .words_name = "REPOSITORY",
                    .words_help = "repositories"},
                   sync),
          changing({.verb = "repo unregister",
                    .help = "forget a repository; what is in it stays",
                    .words_name = "REPOSITORY",
                    .words_help = "the repository"},
                   unregister)};
}

}  // namespace slipway::delivery::package
