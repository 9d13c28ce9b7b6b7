#include "krm/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "json/quoted.h"

namespace slipway::krm {
namespace {

std::string shown_package(const std::string& package, const RenderOptions& options) {
  return package.empty() ? options.package_name : options.package_name + "/" + package;
}

std::string_view label(const KptFunction& function) {
  return function.image.empty() ? std::string_view(function.exec) : std::string_view(function.image);
}

std::unexpected<Status> invalid(std::string_view field, std::string_view value, std::string_view reason) {
  std::string message = fmt::format("Kptfile is invalid:\nField: `{}`\n", field);
  if (!value.empty()) message += fmt::format("Value: {}\n", json::quoted(value));
  return fail(Reason::Invalid, message + fmt::format("Reason: {}\n", reason));
}

bool leaves(std::string_view path) {
  int depth = 0;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "..") --depth;
    if (part != ".." && part != "." && !part.empty()) ++depth;
    if (depth < 0) return true;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return false;
}

// What kpt says about a pipeline before anything runs.
Result<void> check_functions(const std::vector<KptFunction>& functions, std::string_view list) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const KptFunction& function = functions[i];
    const std::string field = fmt::format("pipeline.{}[{}]", list, i);
    if (function.image.empty() && function.exec.empty()) {
      return invalid(field, "", "must specify a functions to run, i.e. specify one of `image` or `exec`");
    }
    if (!function.image.empty() && !function.exec.empty())
      return invalid(field, "", "must not specify both `image` and `exec` at the same time");
    if (!function.config_map.empty() && !function.config_path.empty()) {
      return invalid(field, "", "functionConfig must not specify both `configMap` and `configPath` at the same time");
    }
    if (function.config_path.starts_with('/'))
      return invalid(field + ".configPath", function.config_path, "path must be relative");
    if (leaves(function.config_path)) {
      return invalid(field + ".configPath", function.config_path, "path must not be outside the package");
    }
  }
  return {};
}

std::string cleaned(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (part != ".." && part != "." && !part.empty()) parts.emplace_back(part);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  std::string made;
  for (const std::string& part : parts) made += (made.empty() ? "" : "/") + part;
  return made;
}

bool has_all(const Node* owner, const std::map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted,
                             [&](const auto& entry) { return owner != nullptr && owner->get({entry.first}) == entry.second; });
}

bool is_below(const std::string& package, const std::string& root) {
  return root.empty() || package == root || (package.starts_with(root) && package[root.size()] == '/');
}

// Deepest first; siblings by name. Names are compared part by part: "a/b" comes before "a", both before "a-b".
std::vector<std::string> rendering_order(const Files& files) {
  std::vector<std::string> folders = package_folders(files);
  const auto key = [](std::string folder) {
    std::ranges::replace(folder, '/', '\1');
    return folder.empty() ? folder : folder + '\1';
  };
  std::ranges::sort(folders, [&](const std::string& a, const std::string& b) {
    const std::string first = key(a);
    const std::string second = key(b);
    const bool is_within = first.starts_with(second) || second.starts_with(first);
    return is_within ? first.size() > second.size() : first < second;
  });
  return folders;
}

// kpt tells functions path and index by annotations, so that in what it writes other new members of the metadata come behind
// the annotations. Those that stay empty are not written.
void hold_place_of_annotations(Resource& resource) {
  Node* metadata = resource.root().find("metadata");
  if (metadata != nullptr && metadata->is_mapping()) metadata->mapping_at("annotations");
}

/// In tenths, as kpt: "0s", "200ms", "1.2s".
std::string seconds(std::chrono::milliseconds took) {
  const auto tenths = took.count() / 100;
  if (tenths > 0 && tenths < 10) return fmt::format("{}ms", tenths * 100);
  return tenths % 10 == 0 ? fmt::format("{}s", tenths / 10) : fmt::format("{}.{}s", tenths / 10, tenths % 10);
}

std::string shown(const FunctionResult& result) {
  const std::string severity = result.severity.empty() ? "info" : result.severity;
  std::string made = fmt::format("    [{}]", severity);
  if (!result.kind.empty()) {
    made += fmt::format(" {}/{}/{}{}", result.api_version, result.kind,
                        result.namespace_name.empty() ? "" : result.namespace_name + "/", result.name);
  }
  if (!result.field_path.empty()) made += " " + result.field_path;
  return made + ": " + result.message + "\n";
}

}  // namespace

Resource config_map(const std::map<std::string, std::string>& data) {
  Resource made;
  Node& root = made.tree.root = Node::mapping();
  root.set("apiVersion", Node::string("v1"));
  root.set("kind", Node::string("ConfigMap"));
  root.mapping_at("metadata").set("name", Node::string("function-input"));
  Node& members = root.mapping_at("data");
  for (const auto& [key, value] : data) members.set(key, Node::string(value));
  return made;
}

bool is_selected(const KptSelector& selector, const Resource& resource) {
  const auto fits = [](const std::string& wanted, std::string_view value) { return wanted.empty() || wanted == value; };
  return fits(selector.api_version, resource.api_version()) && fits(selector.kind, resource.kind()) &&
         fits(selector.name, resource.name()) && fits(selector.namespace_name, resource.namespace_name()) &&
         has_all(resource.root().at({"metadata", "labels"}), selector.labels) &&
         has_all(resource.root().at({"metadata", "annotations"}), selector.annotations);
}

void restore_comments(const Node& before, Node& after) {
  if (after.head.empty()) after.head = before.head;
  if (after.foot.empty()) after.foot = before.foot;
  if (after.line.empty()) after.line = before.line;
  if (before.kind != after.kind) return;
  if (after.is_mapping()) {
    for (std::size_t i = 0; i < after.pairs(); ++i) {
      const Node* key = before.key_node(after.key(i).text);
      if (key == nullptr) continue;
      restore_comments(*key, after.key(i));
      restore_comments(*(key + 1), after.value(i));
    }
  } else if (after.is_sequence()) {
    for (std::size_t i = 0; i < std::min(before.children.size(), after.children.size()); ++i) {
      restore_comments(before.children[i], after.children[i]);
    }
  }
}

void restore_order(const Node& before, Node& after) {
  if (before.kind != after.kind) return;
  if (after.is_sequence()) {
    for (std::size_t i = 0; i < std::min(before.children.size(), after.children.size()); ++i) {
      restore_order(before.children[i], after.children[i]);
    }
  }
  if (!after.is_mapping()) return;
  Node ordered = after;
  ordered.children.clear();
  const auto take = [&](std::size_t i) {
    ordered.children.push_back(std::move(after.key(i)));
    ordered.children.push_back(std::move(after.value(i)));
  };
  std::vector<bool> is_taken(after.pairs(), false);
  for (std::size_t i = 0; i < before.pairs(); ++i) {
    for (std::size_t j = 0; j < after.pairs(); ++j) {
      if (is_taken[j] || after.key(j).text != before.key(i).text) continue;
      restore_order(before.value(i), after.value(j));
      take(j);
      is_taken[j] = true;
      break;
    }
  }
  for (std::size_t j = 0; j < is_taken.size(); ++j) {
    if (!is_taken[j]) take(j);
  }
  after = std::move(ordered);
}

Render::Render(Files files, RenderOptions options) : files_(std::move(files)), options_(std::move(options)) {
  if (auto loaded = load(); !loaded) {
    stop(std::move(loaded).error());
  } else if (auto planned = plan(); !planned) {
    stop(std::move(planned).error());
  } else {
    is_planned_ = true;
  }
}

Result<void> Render::load() {
  if (!files_.contains(std::string(kKptfile)))
    return fail(Reason::NotFound, fmt::format("No Kptfile found at {:?}.", options_.package_name));
  // Kptfiles are read first: what is wrong with one is told by its own rules.
  for (const std::string& folder : package_folders(files_)) {
    const std::string path = folder.empty() ? std::string(kKptfile) : folder + "/" + std::string(kKptfile);
    SLIPWAY_TRY_VOID(read_kptfile(files_.at(path), path));
  }
  SLIPWAY_TRY(resources, read_resources(files_, Json::Read));
  resources_ = std::move(resources);
  SLIPWAY_TRY_VOID(require_krm(resources_));
  // A function sees what is below its package first.
  const std::vector<std::string> order = rendering_order(files_);
  const auto place = [&](const Resource& resource) { return std::ranges::find(order, resource.package) - order.begin(); };
  std::ranges::sort(resources_, [&](const Resource& a, const Resource& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return a.path != b.path ? a.path < b.path : a.index < b.index;
  });
  for (Resource& resource : resources_) {
    resource.id = next_id_++;
    hold_place_of_annotations(resource);
  }
  return {};
}

Result<void> Render::plan() {
  const std::vector<std::string> folders = rendering_order(files_);
  for (const std::string& folder : folders) {
    const std::string path = folder.empty() ? std::string(kKptfile) : folder + "/" + std::string(kKptfile);
    if (is_ignored(files_, path)) continue;
    SLIPWAY_TRY(kptfile, read_kptfile(files_.at(path), path));
    ++packages_;
    if (!kptfile.pipeline) continue;
    SLIPWAY_TRY_VOID(check_functions(kptfile.pipeline->mutators, "mutators"));
    SLIPWAY_TRY_VOID(check_functions(kptfile.pipeline->validators, "validators"));
    bool is_first = true;
    for (std::size_t i = 0; i < kptfile.pipeline->mutators.size(); ++i) {
      plan_.push_back({kptfile.pipeline->mutators[i], folder, i, false, std::exchange(is_first, false)});
    }
    for (std::size_t i = 0; i < kptfile.pipeline->validators.size(); ++i) {
      plan_.push_back({kptfile.pipeline->validators[i], folder, i, true, std::exchange(is_first, false)});
    }
  }
  return {};
}

Result<Resource> Render::config_of(const Planned& planned) const {
  const KptFunction& function = planned.function;
  if (function.config_path.empty()) return config_map(function.config_map);
  const std::string path = (planned.package.empty() ? "" : planned.package + "/") + cleaned(function.config_path);
  std::vector<const Resource*> found;
  for (const Resource& resource : resources_) {
    if (resource.path == path && resource.package == planned.package) found.push_back(&resource);
  }
  const std::string_view list = planned.is_validator ? "validators" : "mutators";
  const std::string field = fmt::format("pipeline.{}[{}].configPath", list, planned.index);
  if (found.empty()) {
    return invalid(
        field, function.config_path,
        fmt::format("functionConfig resource for {} {} is missing from path {}, this also occurs if {} is part of a subpackage",
                    planned.is_validator ? "validator" : "mutator", json::quoted(function_name(label(function))),
                    json::quoted(function.config_path), json::quoted(function.config_path)));
  }
  if (found.size() > 1) {
    return invalid(field, function.config_path,
                   fmt::format("functionConfig file {} must not contain more than one config, got {}",
                               json::quoted(function.config_path), found.size()));
  }
  Resource made = *found.front();
  made.id = 0;
  return made;
}

Result<void> Render::prepare(const Planned& planned) {
  SLIPWAY_TRY(config, config_of(planned));
  input_ = {};
  input_.config = std::move(config);
  selected_.clear();
  const KptFunction& function = planned.function;
  for (const Resource& resource : resources_) {
    if (!is_below(resource.package, planned.package)) continue;
    const auto takes = [&](const KptSelector& selector) { return is_selected(selector, resource); };
    if (!function.selectors.empty() && std::ranges::none_of(function.selectors, takes)) continue;
    if (std::ranges::any_of(function.exclude, takes)) continue;
    selected_.push_back(resource.id);
    input_.items.push_back(resource);
  }
  return require_krm(input_.items);
}

Result<FunctionRun> Render::function_of(const std::string& image) const {
  auto run = find_function(image);
  const auto other = !run && options_.built_in_for ? options_.built_in_for(image) : std::nullopt;
  return other ? find_function(*other) : run;
}

std::optional<ProgramCall> Render::advance() {
  while (!failure_ && !is_waiting_ && next_ < plan_.size()) {
    const Planned& planned = plan_[next_];
    took_ = {};
    const std::string where = shown_package(planned.package, options_);
    if (planned.is_first) log_ += fmt::format("Package {}:\n", json::quoted(where));
    if (auto ready = prepare(planned); !ready) {
      stop(std::move(ready).error());
      break;
    }
    const bool is_narrowed = !planned.function.selectors.empty() || !planned.function.exclude.empty();
    log_ += fmt::format("[RUNNING] {}{} on package {}\n", json::quoted(label(planned.function)),
                        is_narrowed ? fmt::format(" on {} resource(s)", selected_.size()) : "", json::quoted(where));
    steps_.push_back({.name = planned.function.name,
                      .image = planned.function.image,
                      .exec = planned.function.exec,
                      .package = planned.package,
                      .is_validator = planned.is_validator,
                      .error = "",
                      .errors = "",
                      .results = {}});
    std::string program = planned.function.exec;
    if (!program.empty() && !options_.allows_exec) {
      complete(fail(Reason::Forbidden, fmt::format("{}: {}", options_.no_exec_text, program)), {});
      continue;
    }
    if (program.empty()) {
      auto run = function_of(planned.function.image);
      if (run) {
        ResourceList list = input_;
        auto done = (*run)(list);
        complete(std::move(done), std::move(list));
        continue;
      }
      const auto mapped = options_.program_for ? options_.program_for(planned.function.image) : std::nullopt;
      if (!mapped) {
        complete(fail(std::move(run).error()), {});
        continue;
      }
      program = *mapped;
    }
    is_waiting_ = true;
    return ProgramCall{.program = program, .image = planned.function.image, .input = write_resource_list(input_)};
  }
  return std::nullopt;
}

void Render::answer(ProgramAnswer answer) {
  is_waiting_ = false;
  took_ = answer.took;
  RenderStep& step = steps_.back();
  step.errors = answer.errors;
  auto read = read_resource_list(answer.output);
  if (answer.exit_code != 0) {
    step.exit_code = answer.exit_code;
    ResourceList list;
    if (read) list.results = std::move(read->results);
    complete(fail(Reason::Invalid, answer.errors), std::move(list));
    return;
  }
  if (!read) {
    complete(fail(Reason::BadRequest, fmt::format("failed to parse the output of the function: {}", read.error().message)), {});
    return;
  }
  for (Resource& resource : read->items) {
    const auto before = std::ranges::find(input_.items, resource.id, &Resource::id);
    resource.marks.clear();
    if (resource.id == 0 || before == input_.items.end()) {
      resource.id = 0;
      resource.package = plan_[next_].package;
      continue;
    }
    resource.package = before->package;
    resource.tree.head = before->tree.head;
    resource.tree.foot = before->tree.foot;
    restore_comments(before->root(), resource.root());
    hold_place_of_annotations(resource);
    restore_order(before->root(), resource.root());
  }
  complete({}, std::move(*read));
}

// What a function made goes to the default path of its package, and stays there whatever it is called later.
void Render::place(Resource& resource, const std::vector<Resource>& others) const {
  resource.package = plan_[next_].package;
  resource.path = default_path(resource);
  resource.index = 0;
  for (const Resource& other : others) {
    if (other.path == resource.path) resource.index = std::max(resource.index, other.index + 1);
  }
}

void Render::take(ResourceList made) {
  std::vector<Resource> kept;
  const bool drops = function_name(label(plan_[next_].function)) == "drop-comments";
  std::map<std::size_t, Resource*> by_id;
  for (Resource& resource : made.items) by_id.emplace(resource.id, &resource);
  const std::set<std::size_t> selected(selected_.begin(), selected_.end());
  for (Resource& resource : resources_) {
    if (!selected.contains(resource.id)) {
      kept.push_back(std::move(resource));
      continue;
    }
    const auto entry = by_id.find(resource.id);
    if (entry == by_id.end()) continue;
    Resource& found = *entry->second;
    if (found.path.empty()) {
      // A program may give back what it read without its place.
      found.path = resource.path;
      found.index = resource.index;
      found.package = resource.package;
    }
    if (drops) {
      restore_comments(resource.root(), found.root());
      found.tree.head = resource.tree.head;
      found.tree.foot = resource.tree.foot;
    }
    kept.push_back(std::move(found));
    found.id = static_cast<std::size_t>(-1);  // taken
  }
  for (Resource& resource : made.items) {
    if (resource.id == static_cast<std::size_t>(-1)) continue;
    resource.id = next_id_++;
    if (resource.path.empty()) place(resource, kept);
    hold_place_of_annotations(resource);
    kept.push_back(std::move(resource));
  }
  resources_ = std::move(kept);
}

void Render::complete(Result<void> done, ResourceList list) {
  const Planned planned = plan_[next_];
  RenderStep& step = steps_.back();
  step.results = list.results;
  const bool has_failed = !done || has_errors(step.results);
  if (has_failed && step.exit_code == 0) step.exit_code = 1;
  log_ += fmt::format("[{}] {} in {}\n", has_failed ? "FAIL" : "PASS", json::quoted(label(planned.function)), seconds(took_));
  if (!step.results.empty()) log_ += "  [Results]:\n";
  for (const FunctionResult& result : step.results) log_ += shown(result);
  if (has_failed) {
    const bool could_run = done.has_value() || !step.results.empty() || !step.errors.empty();
    if (!done && !could_run) step.error = done.error().message;
    if (!done) log_ += fmt::format("  Stderr:\n    {}\n", json::quoted(done.error().message));
    log_ += fmt::format("  Exit code: {}\n", step.exit_code);
    Status status{.reason = done ? Reason::Invalid : done.error().reason,
                  .message = "",
                  .name = "",
                  .group = "",
                  .kind = "",
                  .uid = "",
                  .causes = {}};
    status.message = fmt::format("{}: exit code {}", label(planned.function), step.exit_code);
    if (!done) status.message += ": " + done.error().message;
    for (const FunctionResult& result : step.results) {
      if (result.severity == "error") status.message += "\n" + result.message;
    }
    stop(std::move(status));
    return;
  }
  if (!planned.is_validator) take(std::move(list));
  ++next_;
}

void Render::stop(Status status) { failure_ = std::move(status); }

json::Value Render::status_value() const {
  json::ObjectBuilder condition;
  condition.add("type", "Rendered")
      .add("status", failure_ ? "False" : "True")
      .add("reason", failure_ ? "RenderFailed" : "RenderSuccess");
  if (failure_) condition.add("message", fmt::format("pkg.render: pkg .: {}", failure_->message));
  json::ArrayBuilder mutations;
  json::ArrayBuilder validations;
  for (const RenderStep& step : steps_) {
    json::ObjectBuilder made;
    if (!step.name.empty()) made.add("name", step.name);
    if (!step.image.empty()) made.add("image", step.image);
    if (!step.exec.empty()) made.add("exec", step.exec);
    if (!step.error.empty()) made.add("executionError", step.error);
    if (!step.errors.empty()) made.add("stderr", step.errors);
    made.add("exitCode", step.exit_code);
    json::ArrayBuilder results;
    json::ArrayBuilder errors;
    for (const FunctionResult& result : step.results) (result.severity == "error" ? errors : results).add(result_value(result));
    if (!results.empty()) made.add("results", results.build());
    if (!errors.empty()) made.add("errorResults", errors.build());
    (step.is_validator ? validations : mutations).add(made.build());
  }
  json::ObjectBuilder rendered;
  if (!mutations.empty()) rendered.add("mutationSteps", mutations.build());
  if (!validations.empty()) rendered.add("validationSteps", validations.build());
  if (failure_ && !rendered.empty()) rendered.add("errorSummary", failure_->message);
  json::ObjectBuilder made;
  made.add("conditions", json::array({condition.build()}));
  if (!rendered.empty()) made.add("renderStatus", rendered.build());
  return made.build();
}

}  // namespace slipway::krm
