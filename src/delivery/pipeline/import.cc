#include "delivery/pipeline/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/pipeline/check.h"
#include "delivery/pipeline/kind.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr std::string_view kKargo = "kargo.akuity.io";
constexpr std::string_view kPromoter = "promoter.argoproj.io";
constexpr int kRefused = 2;

struct ForeignKind {
  std::string_view group;
  std::string_view kind;
  const char* refusal;  // null: it is read
};
/// What may stand in the files beside the objects that pipelines are made of.
constexpr ForeignKind kKinds[] = {
    {kKargo, "Stage", nullptr},
    {kKargo, "Warehouse", nullptr},
    {kKargo, "Project", nullptr},
    {kKargo, "ProjectConfig", nullptr},
    {kKargo, "PromotionTask", nullptr},
    {kKargo, "ClusterPromotionTask", nullptr},
    {kPromoter, "PromotionStrategy", nullptr},
    {kPromoter, "GitRepository", nullptr},
    {kPromoter, "ScmProvider", nullptr},
    {kPromoter, "ClusterScmProvider", nullptr},
    {"argoproj.io", "AnalysisTemplate",
     "make a gate of the environment of it (environments[].gates: a metric with provider job)"},
    {"argoproj.io", "ClusterAnalysisTemplate", "make a gate of the environment of it (environments[].gates)"},
    {kPromoter, "TimedCommitStatus", "say environments[].soak"},
    {kPromoter, "ScheduledCommitStatus", "make a gate with a window of it, or a Freeze"},
    {kPromoter, "WebRequestCommitStatus", "make a gate with a webhook of it"},
};

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

void check_kinds(Importer& importer, const std::vector<SourceObject>& objects) {
  bool has_source = false;
  for (const SourceObject& one : objects) {
    const auto kind = kube::GroupVersionKind::of(one.object);
    const std::string_view group = kind ? kind->group : std::string_view();
    const std::string_view name = kube::kind(one.object);
    has_source = has_source || name == "Stage" || name == "PromotionStrategy";
    const auto* known =
        std::ranges::find_if(kKinds, [&](const ForeignKind& row) { return row.group == group && row.kind == name; });
    if (known == std::end(kKinds)) {
      importer.refuse(one, "kind", fmt::format("a Pipeline has nothing that stands for a {} of {}", name, group));
    } else if (known->refusal != nullptr) {
      importer.refuse(one, "kind", fmt::format("a {} cannot be taken over: {}", name, known->refusal));
    }
  }
  if (!has_source && !objects.empty()) {
    importer.refuse(objects.front(), "kind", "there is no Stage and no PromotionStrategy of which a Pipeline could be made");
  }
}

Result<AppRef> app_of(const std::string& text) {
  const auto slash = text.rfind('/');
  AppRef app;
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
    return fail(Reason::BadRequest, fmt::format("--app {}: give KIND/NAME, or APIVERSION/KIND/NAME", text));
  }
  app.name = text.substr(slash + 1);
  app.kind = text.substr(0, slash);
  if (const auto group = app.kind.rfind('/'); group != std::string::npos) {
    app.api_version = app.kind.substr(0, group);
    app.kind = app.kind.substr(group + 1);
  }
  return app;
}

Task<Result<CommandAnswer>> run_import(CommandCall call) {
  ImportOptions options;
  if (const auto app = call.options.find("app"); app != call.options.end()) {
    SLIPWAY_CO_TRY(read, app_of(app->second));
    options.app = std::move(read);
  }
  if (const auto ns = call.options.find("target-namespace"); ns != call.options.end()) options.target_namespace = ns->second;
  const Imported made = import_objects(call.objects, options);
  CommandAnswer answer;
  for (const Refusal& refusal : made.refusals) answer.notes.push_back(refusal.to_string());
  if (!made.refusals.empty()) {
    answer.exit_code = kRefused;
    co_return answer;
  }
  answer.notes = made.notes;
  for (const kube::Object& pipeline : made.pipelines) {
    answer.text += (answer.text.empty() ? "" : "---\n") + json::print_yaml(pipeline);
  }
  co_return answer;
}

}  // namespace

std::string Refusal::to_string() const { return fmt::format("{}: {}: {}", at, field, text); }

void Importer::refuse(const SourceObject& source, std::string field, std::string text) {
  Refusal refusal{.at = source.at(field), .field = std::move(field), .text = std::move(text)};
  if (std::ranges::find(made_.refusals, refusal) == made_.refusals.end()) made_.refusals.push_back(std::move(refusal));
}

void Importer::refuse_unknown(const SourceObject& source, const std::string& field, const Value& value,
                              std::initializer_list<std::string_view> known) {
  for (const auto& [name, member] : value.members()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refuse(source, fmt::format("{}.{}", field, name), "a Pipeline has nothing that stands for it");
  }
}

Target Importer::target(const std::string& project, const std::string& environment) const {
  return {.ns = replaced(replaced(options_.target_namespace, "{project}", project), "{environment}", environment)};
}

void Importer::add(std::string ns, std::string name, PipelineSpec spec) {
  if (options_.app) spec.app = *options_.app;
  json::ObjectBuilder meta;
  meta.set("name", name);
  if (!ns.empty()) meta.set("namespace", ns);
  made_.pipelines.push_back(json::object({{"apiVersion", kPipelineKind.api_version()},
                                          {"kind", kPipelineKind.kind},
                                          {"metadata", meta.build()},
                                          {"spec", json::encode(spec)}}));
}

const SourceObject* Importer::find(std::string_view group, std::string_view kind, std::string_view ns,
                                   std::string_view name) const {
  for (const SourceObject* one : all(group, kind)) {
    if (kube::ns(one->object) == ns && kube::name(one->object) == name) return one;
  }
  return nullptr;
}

std::vector<const SourceObject*> Importer::all(std::string_view group, std::string_view kind) const {
  std::vector<const SourceObject*> found;
  for (const SourceObject& one : objects_) {
    if (kube::refers_to(one.object, group, kind)) found.push_back(&one);
  }
  return found;
}

Imported import_objects(const std::vector<SourceObject>& objects, const ImportOptions& options) {
  Importer importer(objects, options);
  check_kinds(importer, objects);
  importer.kargo();
  importer.promoter();
  Imported made = importer.take();
  if (!options.app && !made.pipelines.empty()) {
    made.refusals.push_back({.at = objects.front().source,
                             .field = "spec.appRef",
                             .text = "nothing says which object deploys the application: give --app KIND/NAME"});
  }
  for (const kube::Object& pipeline : made.pipelines) {
    const auto spec = json::decode<PipelineSpec>(pipeline["spec"], "spec");
    for (const Cause& cause : spec ? check(*spec, kube::ns(pipeline)) : std::vector<Cause>{}) {
      made.refusals.push_back(
          {.at = fmt::format("Pipeline {}", kube::name(pipeline)), .field = cause.field, .text = cause.message});
    }
  }
  if (!made.refusals.empty()) made.pipelines.clear();
  return made;
}

Command import_command() {
  return {.verb = "pipeline import",
          .help = "print the Pipelines that stand for Kargo's Stages or PromotionStrategies of gitops-promoter",
          .cluster = Command::Cluster::Never,
          .input = Command::Input::Files,
          .options = {{"app", "KIND/NAME or APIVERSION/KIND/NAME of the object that deploys the application in each target"},
                      {"target-namespace", "where it is, with {project} and {environment} (default: {project}-{environment})"}},
          .run = run_import,
          .only_reads = true};
}

}  // namespace slipway::delivery::pipeline
