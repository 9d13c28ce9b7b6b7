// apply-replacements: kustomize's replacements. A source field of exactly one resource goes to fields of others.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

struct Options {
  std::string delimiter;
  int index = 0;
  bool creates = false;
};

Options read_options(const Node* node) {
  Options made;
  if (node == nullptr) return made;
  made.delimiter = node->get({"delimiter"});
  made.creates = node->get({"create"}) == "true";
  if (const Node* index = node->find("index")) made.index = static_cast<int>(value_or_null(*index).as_int());
  return made;
}

enum class Match : bool { Exact, Pattern };

bool fits(const Node& selector, std::string_view key, std::string_view value, Match match) {
  const std::string wanted(selector.get({key}));
  if (wanted.empty()) return true;
  if (match == Match::Exact) return wanted == value;
  return RE2::FullMatch(re2::StringPiece(value.data(), value.size()), wanted);
}

bool is_selected(const Node& selector, const Resource& resource, Match match) {
  return fits(selector, "group", resource.group(), match) && fits(selector, "version", resource.version(), match) &&
         fits(selector, "kind", resource.kind(), match) && fits(selector, "name", resource.name(), match) &&
         fits(selector, "namespace", resource.namespace_name(), match);
}

std::string described(const Node& selector) {
  std::string made;
  for (std::size_t i = 0; i < selector.pairs(); ++i) {
    if (selector.key(i).text == "options" || selector.key(i).text == "fieldPath") continue;
    made += (made.empty() ? "" : ", ") + selector.key(i).text + ": " + selector.value(i).text;
  }
  return made;
}

std::vector<std::string> split(std::string_view text, const std::string& delimiter) {
  std::vector<std::string> made;
  while (true) {
    const std::size_t at = text.find(delimiter);
    made.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return made;
    text.remove_prefix(at + delimiter.size());
  }
}

Result<Node> read_source(const Node& source, std::vector<Resource>& items) {
  std::vector<Resource*> found;
  for (Resource& resource : items) {
    if (is_selected(source, resource, Match::Exact)) found.push_back(&resource);
  }
  if (found.empty()) return fail(Reason::Invalid, fmt::format("nothing selected by {}", described(source)));
  if (found.size() > 1) return fail(Reason::Invalid, fmt::format("multiple matches for selector {}", described(source)));
  const std::string path(source.get({"fieldPath"}).empty() ? "metadata.name" : source.get({"fieldPath"}));
  const auto nodes = select_nodes(found.front()->root(), split_field_path(path), Lists::Named);
  if (nodes.empty()) {
    return fail(Reason::Invalid, fmt::format("fieldPath `{}` is missing for replacement source {}", path, described(source)));
  }
  Node made = *nodes.front();
  made.head.clear();
  made.line.clear();
  made.foot.clear();
  const Options options = read_options(source.find("options"));
  if (options.delimiter.empty()) return made;
  if (!made.is_scalar()) return fail(Reason::Invalid, "delimiter option can only be used with scalar nodes");
  const auto parts = split(made.text, options.delimiter);
  if (options.index < 0 || static_cast<std::size_t>(options.index) >= parts.size()) {
    return fail(Reason::Invalid, fmt::format("options.index {} is out of bounds for value {}", options.index, made.text));
  }
  made.text = parts[static_cast<std::size_t>(options.index)];
  return made;
}

Result<void> put(Node& target, const Node& value, const Options& options) {
  if (options.delimiter.empty()) {
    if (value.is_scalar() && target.is_scalar()) {
      // The target keeps its type: text stays text.
      const bool was_text = target.reads_as_string() && !target.is_null();
      if (was_text || value.reads_as_string()) {
        target.set_text(value.text);
      } else {
        target.text = value.text;
        target.is_string = false;
      }
      return {};
    }
    Node made = value;
    made.head = target.head;
    made.line = target.line;
    made.foot = target.foot;
    target = std::move(made);
    return {};
  }
  if (!target.is_scalar()) return fail(Reason::Invalid, "delimiter option can only be used with scalar nodes");
  auto parts = split(target.text, options.delimiter);
  if (options.index < 0) {
    parts.insert(parts.begin(), value.text);
  } else if (static_cast<std::size_t>(options.index) >= parts.size()) {
    parts.push_back(value.text);
  } else {
    parts[static_cast<std::size_t>(options.index)] = value.text;
  }
  std::string made;
  for (std::size_t i = 0; i < parts.size(); ++i) made += (i > 0 ? options.delimiter : "") + parts[i];
  target.set_text(made);
  return {};
}

// Makes what the path names; nullptr when it runs through a list or a scalar.
Node* create(Node& root, const std::vector<std::string>& path) {
  Node* here = &root;
  for (const std::string& part : path) {
    if (here->is_sequence()) {
      Node* item = here->at(std::span(&part, 1));
      if (item == nullptr && part.starts_with('[') && part.contains('=')) {
        const std::size_t equals = part.find('=');
        Node made = Node::mapping();
        made.set(part.substr(1, equals - 1), Node::string(part.substr(equals + 1, part.size() - equals - 2)));
        here->children.push_back(std::move(made));
        item = &here->children.back();
      }
      if (item == nullptr) return nullptr;
      here = item;
      continue;
    }
    if (!here->is_mapping() && !here->is_null()) return nullptr;
    Node* next = here->find(part);
    here = next != nullptr ? next : &here->set(part, Node::plain("null"));
  }
  return here;
}

Result<void> put_everywhere(const Node& target, Resource& resource, const Node& value) {
  const Options options = read_options(target.find("options"));
  std::vector<std::string> paths;
  if (const Node* given = target.find("fieldPaths")) {
    for (const Node& path : given->children) paths.push_back(path.text);
  }
  if (paths.empty()) paths.emplace_back("metadata.name");
  for (const std::string& path : paths) {
    const auto parts = split_field_path(path);
    auto nodes = select_nodes(resource.root(), parts, Lists::Named);
    if (nodes.empty() && options.creates) {
      // Items that the path picks are gone through; what is missing behind them is made.
      std::size_t split_at = parts.size();
      while (split_at > 0 && nodes.empty())
        nodes = select_nodes(resource.root(), {parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(--split_at)},
                             Lists::Named);
      std::vector<Node*> made;
      for (Node* node : nodes) {
        if (Node* found = create(*node, {parts.begin() + static_cast<std::ptrdiff_t>(split_at), parts.end()}))
          made.push_back(found);
      }
      nodes = std::move(made);
    }
    if (nodes.empty()) {
      return fail(Reason::Invalid, fmt::format("unable to find field \"{}\" in replacement target", path));
    }
    for (Node* node : nodes) SLIPWAY_TRY_VOID(put(*node, value, options));
  }
  return {};
}

bool is_rejected(const Node& target, const Resource& resource) {
  const Node* reject = target.find("reject");
  if (reject == nullptr) return false;
  return std::ranges::any_of(reject->children,
                             [&](const Node& selector) { return is_selected(selector, resource, Match::Pattern); });
}

}  // namespace

Result<void> apply_replacements(ResourceList& list) {
  const Node* replacements = list.has_config() ? list.config->root().find("replacements") : nullptr;
  if (replacements == nullptr || !replacements->is_sequence()) {
    return fail(Reason::Invalid, "must specify `replacements` in a functionConfig of kind ApplyReplacements");
  }
  for (const Node& replacement : replacements->children) {
    const Node* source = replacement.find("source");
    const Node* targets = replacement.find("targets");
    if (source == nullptr || targets == nullptr)
      return fail(Reason::Invalid, "replacements must specify a source and at least one target");
    SLIPWAY_TRY(value, read_source(*source, list.items));
    for (const Node& target : targets->children) {
      const Node* select = target.find("select");
      if (select == nullptr) return fail(Reason::Invalid, "target must specify resources to select");
      for (Resource& resource : list.items) {
        if (!is_selected(*select, resource, Match::Pattern) || is_rejected(target, resource)) continue;
        SLIPWAY_TRY_VOID(put_everywhere(target, resource, value));
      }
    }
  }
  return {};
}

}  // namespace slipway::krm::fn
