// The end of a render: what is written, and Kptfile.status.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "krm/render.h"

namespace slipway::krm {
namespace {

// kpt writes the Kptfile through its types when it sets the status, which brings functions and selectors into their order.
void order_members(Node& node, std::span<const std::string_view> order) {
  std::vector<Node> made;
  for (std::string_view name : order) {
    for (std::size_t i = 0; i < node.pairs(); ++i) {
      if (node.key(i).text != name) continue;
      made.push_back(node.key(i));
      made.push_back(node.value(i));
    }
  }
  if (made.size() == node.children.size()) node.children = std::move(made);
}

void order_functions(Node& root) {
  static constexpr std::array<std::string_view, 8> kFunction{"image",     "exec", "tag",       "configPath",
                                                             "configMap", "name", "selectors", "exclude"};
  static constexpr std::array<std::string_view, 6> kSelector{"apiVersion", "kind",   "name",
                                                             "namespace",  "labels", "annotations"};
  for (std::string_view list : {"mutators", "validators"}) {
    Node* functions = root.at({"pipeline", list});
    if (functions == nullptr) continue;
    for (Node& function : functions->children) {
      order_members(function, kFunction);
      for (std::string_view selectors : {"selectors", "exclude"}) {
        Node* all = function.find(selectors);
        for (std::size_t i = 0; all != nullptr && i < all->children.size(); ++i) order_members(all->children[i], kSelector);
      }
    }
  }
}

// Other actors' conditions stay; Rendered is replaced.
void set_status(Node& root, const json::Value& status) {
  Node& owner = root.mapping_at("status");
  Node* conditions = owner.find("conditions");
  const json::Value& rendered = status["conditions"].item(0);
  if (conditions == nullptr || !conditions->is_sequence()) {
    owner.set("conditions", Node::from(status["conditions"]));
  } else {
    const auto found =
        std::ranges::find_if(conditions->children, [](const Node& one) { return one.get({"type"}) == "Rendered"; });
    if (found == conditions->children.end()) {
      conditions->children.push_back(Node::from(rendered));
    } else {
      *found = Node::from(rendered);
    }
  }
  owner.erase("renderStatus");
  if (status.has("renderStatus")) owner.set("renderStatus", Node::from(status["renderStatus"]));
}

}  // namespace

Files Render::with_status(Files files) const {
  const auto found = files.find(std::string(kKptfile));
  if (found == files.end()) return files;
  auto tree = read_one_yaml(found->second);
  if (!tree || !tree->root.is_mapping()) return files;
  set_status(tree->root, status_value());
  order_functions(tree->root);
  found->second = write_yaml(*tree);
  return files;
}

/// A package stays one: what reads it next needs its Kptfile.
Result<void> Render::check_kptfile(const Files& files) {
  const auto found = files.find(std::string(kKptfile));
  if (found == files.end()) return fail(Reason::Invalid, "the pipeline leaves the package without its Kptfile");
  auto read = read_kptfile(found->second);
  if (read) return {};
  return fail(Reason::Invalid, "the pipeline leaves a Kptfile that cannot be read: " + read.error().message);
}

RenderOutcome Render::finish() && {
  RenderOutcome made{.files = Files{}, .unrendered = files_, .steps = steps_, .log = log_};
  if (!failure_) {
    auto written = write_resources(files_, resources_, Json::Read);
    const Result<void> is_whole = written ? check_kptfile(*written) : Result<void>{};
    if (!is_whole) written = fail(is_whole.error());
    if (written) {
      made.log += fmt::format("\nSuccessfully executed {} function(s) in {} package(s).\n", steps_.size(), packages_);
      made.files = options_.writes_status ? with_status(std::move(*written)) : std::move(*written);
      return made;
    }
    failure_ = std::move(written).error();
  }
  made.log += failure_->message + "\n";
  if (options_.writes_status && is_planned_) made.unrendered = with_status(files_);
  made.files = fail(*failure_);
  return made;
}

namespace {

/// As upstream's image gives them back: each gets a file of its own.
void drop_places(std::vector<Resource>& items) {
  for (Resource& resource : items) {
    resource.path.clear();
    resource.index = 0;
    resource.tree.is_wide = false;
    resource.marks.clear();
  }
}

}  // namespace

Evaluation evaluate(const Files& files, std::string_view image, std::optional<Resource> config) {
  auto run = find_function(image);
  if (!run) return {.files = fail(std::move(run).error()), .results = {}};
  auto resources = read_resources(files, Json::Read);
  if (!resources) return {.files = fail(std::move(resources).error()), .results = {}};
  ResourceList list;
  list.items = std::move(*resources);
  list.config = config ? std::move(*config) : config_map({});
  auto done = (*run)(list);
  if (!done) return {.files = fail(std::move(done).error()), .results = std::move(list.results)};
  if (has_errors(list.results)) {
    return {.files = fail(Reason::Invalid, fmt::format("{}: exit code 1", image)), .results = std::move(list.results)};
  }
  const auto row = std::ranges::find(functions(), function_name(image), &FunctionRow::name);
  if (row->loses_places) drop_places(list.items);
  return {.files = write_resources(files, std::move(list.items), Json::Read), .results = std::move(list.results)};
}

RenderOutcome render(Files files, RenderOptions options) {
  Render made(std::move(files), std::move(options));
  while (auto call = made.advance()) {
    made.answer({.exit_code = 1, .output = "", .errors = fmt::format("{}: programs cannot be run here", call->program)});
  }
  return std::move(made).finish();
}

}  // namespace slipway::krm
