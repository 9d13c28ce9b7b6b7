// create: a pipeline from flags, as YAML, as a commit or as a pull request.
#include <fmt/format.h>

#include "base/text.h"
#include "delivery/pipeline/check.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/create_in_git.h"
#include "delivery/pipeline/kind.h"
#include "json/quoted.h"
#include "json/text.h"
#include "kube/names.h"

namespace slipway::delivery::pipeline {
namespace {

using json::quoted;

std::unexpected<Status> wrong(const std::string& name, std::string_view given, const std::string& must) {
  return fail(Reason::BadRequest, fmt::format("--{} {}: {}", name, quoted(given), must));
}

constexpr const char* kTargetForm = "a target is NAMESPACE, CLUSTER/NAMESPACE or CLUSTER-NAMESPACE/CLUSTER/NAMESPACE";

Result<Target> target_of(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  const bool has_empty = std::ranges::any_of(parts, [](std::string_view one) { return one.empty(); });
  if (has_empty || parts.size() > 3) return wrong("environment", text, kTargetForm);
  Target target{.ns = std::string(parts.back())};
  if (parts.size() == 1) return target;
  target.cluster = ClusterRef{.kind = kGitopsClusterKind.kind, .name = std::string(parts[parts.size() - 2])};
  if (parts.size() == 3) target.cluster->ns = std::string(parts.front());
  return target;
}

/// "prod=eu/web,us/web".
Result<Environment> environment_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return wrong("environment", text, fmt::format("must be NAME=TARGET,TARGET; {}", kTargetForm));
  }
  Environment environment{.name = std::string(text.substr(0, equals))};
  for (const std::string_view one : split(text.substr(equals + 1), ',')) {
    SLIPWAY_TRY(target, target_of(trimmed(one)));
    environment.targets.push_back(target);
  }
  return environment;
}

Result<AppRef> app_of(const CommandCall& call) {
  const std::string given = option(call, "app");
  const std::vector<std::string_view> parts = split(given, '/');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
    return given.empty() ? fail(Reason::BadRequest, "say what is delivered: --app KIND/NAME, e.g. --app HelmRelease/podinfo")
                         : wrong("app", given, "must be KIND/NAME, e.g. HelmRelease/podinfo");
  }
  return AppRef{.api_version = option(call, "app-version"), .kind = std::string(parts[0]), .name = std::string(parts[1])};
}

std::optional<SecretRef> secret_of(const CommandCall& call) {
  const std::string name = option(call, "secret");
  return name.empty() ? std::nullopt : std::optional(SecretRef{.name = name});
}

Result<Strategy> strategy_of(const CommandCall& call, const std::string& by) {
  if (by == "notification") return Strategy{.notification = Notification{}};
  const std::string url = option(call, "repository");
  if (url.empty()) {
    return fail(Reason::BadRequest, fmt::format("--promote-by {} needs --repository, the URL of the repository to change", by));
  }
  const std::string branch = option(call, "base-branch").empty() ? "main" : option(call, "base-branch");
  if (by == "commit") return Strategy{.commit = CommitStrategy{.url = url, .base_branch = branch, .secret = secret_of(call)}};
  const std::string forge = option(call, "forge").empty() ? "github" : option(call, "forge");
  return Strategy{.pull_request = PullRequest{.type = forge, .url = url, .base_branch = branch, .secret = secret_of(call)}};
}

Result<std::optional<Promotion>> promotion_of(const CommandCall& call) {
  const std::string by = option(call, "promote-by");
  SLIPWAY_TRY_VOID(check_option(call, "promote-by", {"pull-request", "commit", "notification"}));
  for (const auto& [name, forms] : {std::pair<std::string, std::string>{"repository", "pull-request or commit"},
                                    {"base-branch", "pull-request or commit"},
                                    {"secret", "pull-request or commit"},
                                    {"forge", "pull-request"}}) {
    if (option(call, name).empty() || (!by.empty() && forms.contains(by))) continue;
    return fail(Reason::BadRequest, fmt::format("--{} is of --promote-by {}: give that too", name, forms));
  }
  Promotion promotion{.is_manual = has_flag(call, "manual")};
  if (!by.empty()) {
    SLIPWAY_TRY(strategy, strategy_of(call, by));
    promotion.strategy = strategy;
  }
  if (!promotion.is_manual && !promotion.strategy) return std::nullopt;
  return std::optional(std::move(promotion));
}

Result<PipelineSpec> spec_of(const CommandCall& call) {
  PipelineSpec spec;
  SLIPWAY_TRY(app, app_of(call));
  spec.app = app;
  const std::string environments = option(call, "environment");
  if (environments.empty()) {
    return fail(Reason::BadRequest, fmt::format("name the environments in order: --environment dev=TARGET --environment "
                                                "prod=TARGET,TARGET; {}",
                                                kTargetForm));
  }
  for (const std::string_view line : split(environments, '\n')) {
    SLIPWAY_TRY(environment, environment_of(line));
    spec.environments.push_back(environment);
  }
  SLIPWAY_TRY(promotion, promotion_of(call));
  spec.promotion = promotion;
  return spec;
}

/// As the API server judges it: the schema's rules by reading it back, then the rules beyond.
std::vector<Cause> faults_of(const std::string& name, const PipelineSpec& spec, const std::string& ns) {
  std::vector<Cause> causes;
  for (const std::string& fault : kube::dns1123_subdomain_faults(name)) {
    causes.push_back(field::invalid("metadata.name", quoted(name), fault));
  }
  const auto read = json::decode<PipelineSpec>(json::encode(spec), "spec");
  const std::vector<Cause> more = read ? check(spec, ns) : read.error().causes;
  causes.insert(causes.end(), more.begin(), more.end());
  return causes;
}

Task<Result<CommandAnswer>> create(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_git_options(call));
  SLIPWAY_CO_TRY(name, pipeline_named(call, "create"));
  SLIPWAY_CO_TRY(spec, spec_of(call));
  if (std::vector<Cause> causes = faults_of(name, spec, call.ns); !causes.empty()) {
    co_return fail(kube::invalid(kPipelineKind, name, std::move(causes)));
  }
  std::string text = json::print_yaml(object_of(kPipelineKind, call.ns, name, json::encode(spec)));
  const bool is_for_git = has_flag(call, "commit") || has_flag(call, "pull-request");
  if (is_for_git) co_return co_await create_in_git(std::move(call), std::move(name), std::move(text));
  co_return CommandAnswer{.text = std::move(text)};
}

}  // namespace

Command create_command() {
  return {.verb = "pipeline create",
          .help = "print a pipeline as YAML, or bring it into a repository",
          .cluster = Command::Cluster::Never,
          .input = Command::Input::Words,
          .words_name = "NAME",
          .words_help = "of the pipeline",
          .options = {{.name = "app", .help = "what is delivered: KIND/NAME, e.g. HelmRelease/podinfo"},
                      {.name = "app-version", .help = "its API version (default: the one that each cluster prefers)"},
                      {.name = "environment",
                       .help = "NAME=TARGET,TARGET, in order; a target is [[CLUSTER-NAMESPACE/]CLUSTER/]NAMESPACE",
                       .is_repeated = true},
                      {.name = "manual", .help = "somebody has to approve each promotion", .is_flag = true},
                      {.name = "promote-by", .help = "pull-request, commit or notification"},
                      {.name = "repository", .help = "of --promote-by pull-request and commit: URL of the repository"},
                      {.name = "forge",
                       .help = "of --promote-by pull-request: github (default), gitlab, bitbucket-server or azure-devops"},
                      {.name = "base-branch", .help = "the branch to change (default: main)"},
                      {.name = "secret", .help = "Secret with the credentials of the repository"},
                      {.name = "commit", .help = "commit it to a repository instead", .is_flag = true},
                      {.name = "pull-request", .help = "propose it to a repository by a pull request instead", .is_flag = true},
                      {.name = "git-url", .help = "with these two: the repository"},
                      {.name = "git-branch",
                       .help = "the branch to commit to (default: main; of a pull request: pipeline-NAMESPACE-NAME)"},
                      {.name = "git-base",
                       .help = "the branch that a new --git-branch is made from, and goes into (of a pull "
                               "request: main)"},
                      {.name = "git-path", .help = "the file (default: pipelines/NAME.yaml)"},
                      {.name = "git-user", .help = "user at the repository"},
                      {.name = "git-password-file", .help = "file with the password or token"},
                      {.name = "git-forge", .help = "with --pull-request: github (default), gitlab or bitbucket-server"},
                      {.name = "git-api-url", .help = "with --pull-request: its API, if not where that forge has it"}},
          .run = create,
          .calls_out = true};
}

}  // namespace slipway::delivery::pipeline
