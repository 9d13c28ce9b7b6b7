// Kargo: a Pipeline per Warehouse of a Project, an environment per Stage.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "delivery/pipeline/import.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr std::string_view kKargoGroup = "kargo.akuity.io";
constexpr const char* kDirect = "spec.requestedFreight[0].sources.direct";
constexpr int kMostTaskDepth = 8;

enum class Does : std::uint8_t { Clone, Edit, Commit, Push, Propose, Wait };
struct StepRow {
  std::string_view uses;
  Does does;
};
/// The steps that a commit or a pull request of a Pipeline does by itself.
constexpr StepRow kSteps[] = {{"git-clone", Does::Clone},        {"yaml-update", Does::Edit},
                              {"json-update", Does::Edit},       {"kustomize-set-image", Does::Edit},
                              {"helm-update-chart", Does::Edit}, {"helm-update-image", Does::Edit},
                              {"git-commit", Does::Commit},      {"git-push", Does::Push},
                              {"git-open-pr", Does::Propose},    {"git-wait-for-pr", Does::Wait}};

using Variables = std::map<std::string, std::string>;

std::string with_variables(std::string text, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    for (const std::string& form : {fmt::format("${{{{ vars.{} }}}}", name), fmt::format("${{{{vars.{}}}}}", name)}) {
      for (auto at = text.find(form); at != std::string::npos; at = text.find(form)) text.replace(at, form.size(), value);
    }
  }
  return text;
}

void set_variables(const Value& list, Variables& variables) {
  for (const Value& one : list.items()) {
    if (one.has("value")) variables[one["name"].str()] = with_variables(one["value"].str(), variables);
  }
}

/// What the steps of one Stage come to.
class Steps {
 public:
  Steps(Importer& importer, std::string environment) : importer_(importer), environment_(std::move(environment)) {}

  void walk(const SourceObject& source, const std::string& field, const Value& steps, Variables variables, int depth = 0);
  std::optional<Strategy> strategy(const SourceObject& source);

 private:
  void step(const SourceObject& source, const std::string& field, const Value& step, const Variables& variables, int depth);
  void task(const SourceObject& source, const std::string& field, const Value& step, Variables variables, int depth);
  void clone(const SourceObject& source, const std::string& field, const Value& config, const Variables& variables);
  void propose(const SourceObject& source, const std::string& field, const Value& config, const Variables& variables);
  /// A value with its variables; refused when expressions are left.
  std::string text(const SourceObject& source, const std::string& field, const Value& value, const Variables& variables);

  Importer& importer_;
  std::string environment_;
  std::string url_{};
  std::string branch_{};
  std::string provider_{};
  std::string at_{};
  bool pushes_ = false;
  bool proposes_ = false;
};

std::string Steps::text(const SourceObject& source, const std::string& field, const Value& value, const Variables& variables) {
  std::string made = with_variables(value.str(), variables);
  if (made.find("${{") != std::string::npos) {
    importer_.refuse(source, field, "its expression cannot be taken over: only ${{ vars.NAME }} can");
  }
  return made;
}

void Steps::walk(const SourceObject& source, const std::string& field, const Value& steps, Variables variables, int depth) {
  for (std::size_t i = 0; i < steps.size(); ++i) step(source, fmt::format("{}[{}]", field, i), steps.item(i), variables, depth);
}

void Steps::step(const SourceObject& source, const std::string& field, const Value& step, const Variables& variables,
                 int depth) {
  importer_.refuse_unknown(source, field, step, {"uses", "as", "config", "task", "vars"});
  if (step.has("task")) return task(source, field, step, variables, depth);
  const std::string_view uses = step["uses"].as_string();
  const auto* row = std::ranges::find(kSteps, uses, &StepRow::uses);
  if (row == std::end(kSteps)) {
    return importer_.refuse(source, field + ".uses", fmt::format("a Pipeline has no step {}", uses));
  }
  const Value& config = step["config"];
  switch (row->does) {
    case Does::Clone:
      return clone(source, field + ".config", config, variables);
    case Does::Edit:
      return importer_.note(
          fmt::format("{}: mark the field that {} sets with a comment # {{\"$promotion\": \"NAMESPACE:PIPELINE:{}\"}}",
                      source.at(field), uses, environment_));
    case Does::Push:
      pushes_ = true;
      if (config.has("targetBranch")) branch_ = text(source, field + ".config.targetBranch", config["targetBranch"], variables);
      return;
    case Does::Propose:
      return propose(source, field + ".config", config, variables);
    case Does::Commit:
    case Does::Wait:
      return;
  }
}

void Steps::task(const SourceObject& source, const std::string& field, const Value& step, Variables variables, int depth) {
  const std::string kind = step["task"].has("kind") ? step["task"]["kind"].str() : "PromotionTask";
  const std::string name = step["task"]["name"].str();
  const bool is_of_cluster = kind == "ClusterPromotionTask";
  const SourceObject* found = importer_.find(kKargoGroup, kind, is_of_cluster ? "" : kube::ns(source.object), name);
  if (found == nullptr || depth >= kMostTaskDepth) {
    return importer_.refuse(source, field + ".task.name", fmt::format("the files have no {} {}", kind, name));
  }
  set_variables(found->object["spec"]["vars"], variables);
  set_variables(step["vars"], variables);
  walk(*found, "spec.steps", found->object["spec"]["steps"], std::move(variables), depth + 1);
}

void Steps::clone(const SourceObject& source, const std::string& field, const Value& config, const Variables& variables) {
  url_ = text(source, field + ".repoURL", config["repoURL"], variables);
  at_ = field;
  if (config["checkout"].size() > 1) {
    importer_.refuse(source, field + ".checkout[1]", "a change is made in one branch: rendering into another is not done");
  }
  const Value& checkout = config["checkout"].item(0);
  importer_.refuse_unknown(source, field + ".checkout[0]", checkout, {"branch", "path"});
  branch_ = text(source, field + ".checkout[0].branch", checkout["branch"], variables);
}

void Steps::propose(const SourceObject& source, const std::string& field, const Value& config, const Variables& variables) {
  proposes_ = true;
  at_ = field;
  url_ = text(source, field + ".repoURL", config["repoURL"], variables);
  if (config.has("targetBranch")) branch_ = text(source, field + ".targetBranch", config["targetBranch"], variables);
  provider_ = config["provider"].str();
  for (const char* known : {"github", "gitlab"}) {
    if (provider_.empty() && url_.find(known) != std::string::npos) provider_ = known;
  }
  if (provider_ != "github" && provider_ != "gitlab") {
    importer_.refuse(source, field + ".provider",
                     provider_.empty() ? "which forge it is cannot be seen from the URL: say github or gitlab"
                                       : fmt::format("pull requests of {} cannot be taken over", provider_));
  }
}

std::optional<Strategy> Steps::strategy(const SourceObject& source) {
  if (!pushes_ && !proposes_) return std::nullopt;
  const std::string field = at_.empty() ? "spec.promotionTemplate.spec.steps" : at_;
  if (url_.empty()) importer_.refuse(source, field, "a change needs a repository: there is no git-clone with a repoURL");
  if (branch_.empty()) {
    importer_.refuse(source, field, "which branch is changed must be said: checkout[].branch or targetBranch");
  }
  Strategy made;
  if (proposes_) {
    made.pull_request = PullRequest{.type = provider_, .url = url_, .base_branch = branch_};
  } else {
    made.commit = CommitStrategy{.url = url_, .base_branch = branch_};
  }
  return made;
}

/// The Stages of one Warehouse.
class Line {
 public:
  Line(Importer& importer, std::string project, std::string warehouse)
      : importer_(importer), project_(std::move(project)), warehouse_(std::move(warehouse)) {}

  void stage(const SourceObject& source);
  void finish();

 private:
  void sources(const SourceObject& source, const Value& sources, Environment& environment);
  bool promotes_by_itself(std::string_view stage) const;

  Importer& importer_;
  std::string project_;
  std::string warehouse_;
  std::map<std::string, Environment> environments_;
  std::map<std::string, const SourceObject*> at_;
  std::map<std::string, Duration> soaks_;  // of what comes before
};

/// Rights are elsewhere in Kargo: a ProjectConfig, formerly the Project, says which Stages promote by themselves.
bool Line::promotes_by_itself(std::string_view stage) const {
  for (const char* kind : {"ProjectConfig", "Project"}) {
    for (const SourceObject* one : importer_.all(kKargoGroup, kind)) {
      if (kube::name(one->object) != project_) continue;
      for (const Value& policy : one->object["spec"]["promotionPolicies"].items()) {
        const Value& selector = policy.has("stageSelector") ? policy["stageSelector"]["name"] : policy["stage"];
        if (selector.as_string() == stage) return policy["autoPromotionEnabled"].as_bool();
      }
    }
  }
  return false;
}

void Line::sources(const SourceObject& source, const Value& sources, Environment& environment) {
  const std::string field = "spec.requestedFreight[0].sources";
  importer_.refuse_unknown(source, field, sources,
                           {"direct", "stages", "requiredSoakTime", "availabilityStrategy", "autoPromotionOptions"});
  std::vector<std::string> before;
  for (const Value& stage : sources["stages"].items()) before.push_back(stage.str());
  if (sources["direct"].as_bool() && !before.empty()) {
    importer_.refuse(source, kDirect, "an environment gets versions from those before it, or first, not both");
  }
  if (before.size() > 1 && sources["availabilityStrategy"].as_string() != "All") {
    importer_.refuse(source, field + ".availabilityStrategy",
                     "an environment waits for all that come before it: only All can be taken over");
  }
  if (!sources["direct"].as_bool() && before.empty()) {
    importer_.refuse(source, field, "it says neither direct nor stages: nothing would ever come");
  }
  if (sources.has("requiredSoakTime")) {
    const auto soak = parse_duration(sources["requiredSoakTime"].as_string());
    if (!soak) importer_.refuse(source, field + ".requiredSoakTime", soak.error().message);
    for (const std::string& one : before) {
      const auto [at, is_new] = soaks_.emplace(one, soak.value_or(Duration{0}));
      if (!is_new && at->second != soak.value_or(Duration{0})) {
        importer_.refuse(source, field + ".requiredSoakTime", fmt::format("{} has one soak for all that come after it", one));
      }
    }
  }
  environment.depends_on = std::move(before);
}

void Line::stage(const SourceObject& source) {
  const Value& spec = source.object["spec"];
  Environment environment{.name = std::string(kube::name(source.object))};
  environment.targets = {importer_.target(project_, environment.name)};
  sources(source, spec["requestedFreight"].item(0)["sources"], environment);
  importer_.refuse_unknown(source, "spec", spec, {"requestedFreight", "promotionTemplate", "vars"});
  importer_.refuse_unknown(source, "spec.promotionTemplate.spec", spec["promotionTemplate"]["spec"], {"steps", "vars"});
  Variables variables;
  set_variables(spec["vars"], variables);
  set_variables(spec["promotionTemplate"]["spec"]["vars"], variables);
  Steps steps(importer_, environment.name);
  steps.walk(source, "spec.promotionTemplate.spec.steps", spec["promotionTemplate"]["spec"]["steps"], variables);
  Promotion promotion{.is_manual = !promotes_by_itself(environment.name), .strategy = steps.strategy(source)};
  environment.promotion = promotion;
  at_[environment.name] = &source;
  environments_[environment.name] = std::move(environment);
}

/// Those that come before others first, else by name.
void Line::finish() {
  PipelineSpec spec;
  for (auto& [name, environment] : environments_) {
    if (const auto soak = soaks_.find(name); soak != soaks_.end()) environment.soak = soak->second;
    for (const std::string& before : *environment.depends_on) {
      if (environments_.contains(before)) continue;
      importer_.refuse(*at_[name], "spec.requestedFreight[0].sources.stages",
                       fmt::format("the files have no Stage {} that requests freight of {}", before, warehouse_));
    }
  }
  const auto is_placed = [&](const std::string& name) {
    return std::ranges::find(spec.environments, name, &Environment::name) != spec.environments.end();
  };
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const auto& [name, environment] : environments_) {
      if (is_placed(name) || !std::ranges::all_of(*environment.depends_on, is_placed)) continue;
      spec.environments.push_back(environment);
      has_more = true;
    }
  }
  importer_.add(project_, warehouse_, std::move(spec));
  importer_.note(
      fmt::format("Pipeline {}/{}: what its Warehouse looks for belongs to the first environment: a version range of its "
                  "HelmRelease, or an ImagePolicy",
                  project_, warehouse_));
}

}  // namespace

void Importer::kargo() {
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const SourceObject* source : all(kKargoGroup, "Stage")) {
    const Value& spec = source->object["spec"];
    const Value& requested = spec["requestedFreight"];
    if (requested.size() == 0) {
      refuse_unknown(*source, "spec", spec, {"requestedFreight", "promotionTemplate", "vars", "verification"});
      refuse(*source, "spec.requestedFreight", "required: where its versions come from");
      continue;
    }
    if (requested.size() > 1) {
      refuse(*source, "spec.requestedFreight[1]", "a Pipeline is about one application: make one for each Warehouse");
      continue;
    }
    const std::string project(kube::ns(source->object));
    const std::string warehouse = requested.item(0)["origin"]["name"].str();
    lines.try_emplace({project, warehouse}, *this, project, warehouse).first->second.stage(*source);
  }
  for (auto& [key, line] : lines) line.finish();
  for (const SourceObject* source : all(kKargoGroup, "Warehouse")) {
    if (source->object["spec"]["freightCreationPolicy"].as_string() == "Manual") {
      refuse(*source, "spec.freightCreationPolicy",
             "a Release is made of whatever the first environment settles at, or CI announces");
    }
  }
}

}  // namespace slipway::delivery::pipeline
