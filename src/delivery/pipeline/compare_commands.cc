// diff, inventory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "delivery/family/kind_mapper.h"
#include "delivery/family/text.h"
#include "delivery/pipeline/annotations.h"
#include "delivery/pipeline/commands.h"
#include "delivery/pipeline/inventory.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/known_kinds.h"
#include "delivery/pipeline/next_change.h"
#include "delivery/pipeline/reader_access.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

/// spec.values and the like: what of an application's object is not its version.
Value values_of(const kube::Object& application) {
  json::ObjectBuilder out;
  for (const char* name : {"values", "valuesFrom", "postBuild", "patches", "replicas"}) {
    if (application["spec"].has(name)) out.add(name, application["spec"][name]);
  }
  return out.build();
}

const Target* own_target(const Environment& environment) {
  const auto at = std::ranges::find_if(environment.targets, [](const Target& one) { return !one.cluster; });
  return at == environment.targets.end() ? nullptr : &*at;
}

/// The application of a target in the pipeline's own cluster; null when it is not there.
Task<Result<Value>> application_at(client::Client& client, KindMapper& kinds, Scene scene, Target target) {
  std::string version = scene.spec.app.api_version;
  for (const auto& [name, environment] : scene.status.environments) {
    for (const TargetStatus& one : environment.targets) {
      if (version.empty() && !one.app.cluster && one.ns == target.ns) version = one.app.api_version;
    }
  }
  const auto kind = kube::GroupVersionKind::of(json::object({{"apiVersion", version}, {"kind", scene.spec.app.kind}}));
  if (version.empty() || !kind) co_return Value();
  SLIPWAY_CO_TRY(mapped, co_await kinds.find(client, "", *kind));
  auto found = co_await client::get(client, mapped.resource, {target.ns, scene.spec.app.name});
  if (!found && found.error().reason == Reason::NotFound) co_return Value();
  co_return found;
}

/// Between the first targets of the two environments in the pipeline's own cluster: others are not read from here.
Task<Result<CommandAnswer>> compare_values(client::Client& client, Scene scene, Change change) {
  CommandAnswer answer;
  const Environment* to = scene.find_environment(change.environment);
  const Environment* from = scene.find_environment(scene.before(change.environment).front());
  const Target* before = from == nullptr ? nullptr : own_target(*from);
  const Target* after = to == nullptr ? nullptr : own_target(*to);
  if (before == nullptr || after == nullptr) {
    answer.notes.emplace_back("values are compared between targets of the pipeline's own cluster only");
    co_return answer;
  }
  KindMapper kinds;
  SLIPWAY_CO_TRY(one, co_await application_at(client, kinds, scene, *before));
  SLIPWAY_CO_TRY(other, co_await application_at(client, kinds, scene, *after));
  if (one.is_null() || other.is_null()) {
    answer.notes.push_back(fmt::format("values are not compared: {} {} is not in {}", scene.spec.app.kind, scene.spec.app.name,
                                       one.is_null() ? before->ns : after->ns));
    co_return answer;
  }
  const auto different = differing(values_of(one), values_of(other));
  if (!different.empty()) {
    answer.text += fmt::format("values that differ, {} and {} (a promotion leaves them alone):\n", from->name, to->name);
  }
  for (const auto& [path, texts] : different) {
    answer.text += fmt::format("  {}: {} | {}\n", path, texts.first.empty() ? "-" : one_line(texts.first),
                               texts.second.empty() ? "-" : one_line(texts.second));
  }
  co_return answer;
}

struct Everything {
  std::vector<Scene> scenes{};
  std::vector<ClusterReleases> clusters{};
  std::vector<PlacedProblem> problems{};  // of clusters
  std::vector<std::string> notes{};
};

/// Every pipeline with its releases: of all namespaces, or where that is forbidden of `ns`.
Task<Result<Everything>> read_all(client::Client& client, std::string ns, Time now) {
  Everything all;
  std::string where;
  auto pipelines = co_await client::list(client, kPipelines, client::ListQuery{where, {}, {}});
  if (!pipelines && pipelines.error().reason == Reason::Forbidden) {
    where = ns;
    all.notes.push_back(fmt::format("only namespace {}: {}", where, pipelines.error().message));
    pipelines = co_await client::list(client, kPipelines, client::ListQuery{where, {}, {}});
  }
  if (!pipelines) co_return fail(std::move(pipelines).error());
  SLIPWAY_CO_TRY(releases, co_await client::list(client, kReleases, client::ListQuery{where, {}, {}}));
  std::map<std::string, std::vector<kube::Object>> around;
  for (const Value& one : releases["items"].items()) {
    around[std::string(kube::ns(one))].push_back(
        one.with("apiVersion", kReleaseKind.api_version()).with("kind", kReleaseKind.kind));
  }
  for (const Value& one : (*pipelines)["items"].items()) {
    all.scenes.push_back(Scene::of(one, around[std::string(kube::ns(one))], now));
  }
  co_return all;
}

/// A release of the cluster itself whose annotation names a Pipeline that is not there, or that may not be read.
void add_dangling(const kube::Object& release, Everything& all) {
  const kube::ObjectKey named = claimed_pipeline(release);
  const bool is_known = std::ranges::any_of(all.scenes, [&](const Scene& one) { return kube::key_of(one.object) == named; });
  if (named.name.empty() || is_known) return;
  const std::string object = fmt::format("{} {}", kube::kind(release), kube::key_of(release).to_string());
  all.problems.push_back({.cluster = "", .problem = dangling_problem(object, named)});
}

/// Of all namespaces, or where that is forbidden of `ns`; nothing where that is forbidden too. A note tells what is missing.
Task<Result<std::vector<kube::Object>>> list_allowed(client::Client& client, kube::Resource resource, std::string ns,
                                                     std::vector<std::string>& notes) {
  auto found = co_await client::list(client, resource, client::ListQuery{"", {}, {}});
  if (!found && found.error().reason == Reason::Forbidden) {
    notes.push_back(fmt::format("{}: only namespace {}: {}", resource.plural, ns, found.error().message));
    found = co_await client::list(client, resource, client::ListQuery{ns, {}, {}});
  }
  if (!found && found.error().reason == Reason::Forbidden) co_return std::vector<kube::Object>{};
  if (!found) co_return fail(std::move(found).error());
  co_return std::vector<kube::Object>((*found)["items"].items().begin(), (*found)["items"].items().end());
}

/// The releases of the cluster itself, and what the GitopsClusters list.
Task<Result<void>> read_clusters(client::Client& client, std::string ns, Everything& all) {
  SLIPWAY_CO_TRY(clusters, co_await list_allowed(client, kGitopsClusters, ns, all.notes));
  for (const kube::Object& one : clusters) {
    const auto status = json::decode<GitopsClusterStatus>(one["status"], "status", {.allow_unknown = true});
    if (!status) continue;
    const std::string cluster = kube::key_of(one).to_string();
    if (status->releases_left_out > 0) {
      all.notes.push_back(
          fmt::format("cluster {} has {} more releases than its status lists", cluster, status->releases_left_out));
    }
    for (const Problem& problem : status->problems) all.problems.push_back({.cluster = cluster, .problem = problem});
    all.clusters.push_back({.cluster = cluster, .releases = status->releases});
  }
  KindMapper kinds;
  const KnownKind* known = find_known_kind("", "HelmRelease");
  auto mapped = co_await kinds.find_named(client, "", std::string(known->group), std::string(known->kind));
  if (!mapped && mapped.error().reason != Reason::NotFound && mapped.error().reason != Reason::Forbidden) {
    co_return fail(std::move(mapped).error());
  }
  if (!mapped && mapped.error().reason == Reason::NotFound) co_return Result<void>{};  // no Helm here
  SLIPWAY_CO_TRY(releases, co_await list_allowed(client, mapped ? mapped->resource : known->resource(), ns, all.notes));
  ClusterReleases own;
  for (const kube::Object& one : releases) {
    const kube::Object whole =
        one.has("kind") ? one : one.with("apiVersion", fmt::format("{}/v2", known->group)).with("kind", known->kind);
    own.releases.push_back(release_status(whole));
    add_dangling(whole, all);
  }
  all.clusters.push_back(std::move(own));
  co_return Result<void>{};
}

Task<Result<CommandAnswer>> diff(CommandCall call) {
  SLIPWAY_CO_TRY(scene, co_await read_scene(call, "diff"));
  const auto change = next_change(scene, option(call, "to"));
  if (!change && change.error().reason == Reason::NotFound) co_return CommandAnswer{.notes = {change.error().message}};
  if (!change) co_return fail(change.error());
  CommandAnswer answer{.text = print(scene, *change)};
  if (const auto compared = co_await compare_values(*call.client, scene, *change)) {
    answer.text += compared->text;
    answer.notes = compared->notes;
  } else {
    answer.notes.push_back(fmt::format("values are not compared: {}", compared.error().message));
  }
  co_return answer;
}

template <class Row>
std::string encoded_text(const std::vector<Row>& rows) {
  json::ArrayBuilder out;
  for (const Row& one : rows) out.add(json::encode(one));
  return json::print_pretty(out.build()) + "\n";
}

Task<Result<CommandAnswer>> inventory(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_option(call, "output", {"table", "json"}));
  const int asked =
      (has_flag(call, "charts") ? 1 : 0) + (has_flag(call, "images") ? 1 : 0) + (has_flag(call, "problems") ? 1 : 0);
  if (asked != 1) {
    co_return fail(Reason::BadRequest, "say what is listed: slipway pipeline inventory --charts, --images, or --problems");
  }
  SLIPWAY_CO_TRY(all, co_await read_all(*call.client, call.ns, call.env.clock.now()));
  ReaderAccess access(call.env);
  for (std::size_t i = 0; i < all.scenes.size(); ++i) {
    SLIPWAY_CO_TRY(seen, co_await access.seen(*call.client, nullptr, all.scenes[i].object));
    all.scenes[i].hide(std::move(seen));
  }
  if (!has_flag(call, "images")) SLIPWAY_CO_TRY_VOID(co_await read_clusters(*call.client, call.ns, all));
  CommandAnswer answer{.notes = all.notes};
  const bool is_json = option(call, "output") == "json";
  if (has_flag(call, "charts")) {
    const auto charts = charts_in(all.scenes, all.clusters);
    answer.text = is_json ? encoded_text(charts) : chart_table(charts);
  } else if (has_flag(call, "problems")) {
    const auto problems = problems_in(all.scenes, std::move(all.problems));
    answer.text = is_json ? encoded_text(problems) : problem_table(problems);
    if (problems.empty() && !is_json) answer = {.notes = {"there are no problems"}};
  } else {
    const auto images = images_in(all.scenes);
    answer.text = is_json ? encoded_text(images) : image_table(images);
  }
  co_return answer;
}

}  // namespace

std::vector<Command> comparing_commands() {
  return {
      {.verb = "pipeline diff",
       .help = "show what the next promotion would change: version, images, values that differ",
       .cluster = Command::Cluster::Always,
       .input = Command::Input::Words,
       .words_name = "NAME",
       .words_help = "pipeline",
       .options = {{.name = "to", .help = "environment (default: the first that is behind)"}},
       .run = diff},
      {.verb = "pipeline inventory",
       .help = "list all charts of all clusters, all images of all pipelines, or what is wrong around them",
       .cluster = Command::Cluster::Always,
       .input = Command::Input::None,
       .options = {{.name = "charts", .help = "charts and their versions, of releases outside pipelines too", .is_flag = true},
                   {.name = "images", .help = "images, tags and digests", .is_flag = true},
                   {.name = "problems", .help = "problems of pipelines, and annotations that lead nowhere", .is_flag = true},
                   {.name = "output", .help = "table or json"}},
       .run = inventory}};
}

}  // namespace slipway::delivery::pipeline
