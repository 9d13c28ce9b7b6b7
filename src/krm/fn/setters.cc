// apply-setters, create-setters and list-setters: a comment "# kpt-set: text-${name}" behind a scalar, or "# kpt-set: ${name}"
// behind the key of a list, says which parameters the value is made of.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "json/quoted.h"
#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

constexpr std::string_view kComment = "# kpt-set: ";
using Setters = std::map<std::string, std::string>;

std::string pattern_of(std::string_view comment) {
  if (!comment.starts_with(kComment)) return "";
  comment.remove_prefix(kComment.size());
  const std::size_t first = comment.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(comment.substr(first, comment.find_last_not_of(" \t") - first + 1));
}

// The names in ${…}, in order.
std::vector<std::string> names_in(std::string_view pattern) {
  std::vector<std::string> made;
  for (std::size_t at = pattern.find("${"); at != std::string_view::npos; at = pattern.find("${", at)) {
    const std::size_t stop = pattern.find('}', at);
    if (stop == std::string_view::npos) break;
    made.emplace_back(pattern.substr(at + 2, stop - at - 2));
    at = stop + 1;
  }
  return made;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool names_any(std::string_view pattern, const Setters& setters) {
  return std::ranges::any_of(setters, [&](const auto& setter) { return pattern.contains("${" + setter.first + "}"); });
}

// What the present value says about the names: the pattern with each name as a greedy group. Empty when one is empty.
Setters derived(const std::string& pattern, const std::string& value) {
  const std::vector<std::string> names = names_in(pattern);
  std::string regex;
  std::size_t at = 0;
  for (const std::string& name : names) {
    const std::size_t begin = pattern.find("${" + name + "}", at);
    regex += RE2::QuoteMeta(pattern.substr(at, begin - at)) + "(.*)";
    at = begin + name.size() + 3;
  }
  regex += RE2::QuoteMeta(pattern.substr(at));
  const RE2 compiled(regex, RE2::Quiet);
  if (!compiled.ok()) return {};
  std::vector<std::string> groups(names.size());
  std::vector<RE2::Arg> args(names.size());
  std::vector<const RE2::Arg*> pointers(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    args[i] = &groups[i];
    pointers[i] = &args[i];
  }
  if (!RE2::PartialMatchN(value, compiled, pointers.data(), static_cast<int>(names.size()))) return {};
  Setters made;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (groups[i].empty()) return {};
    made[names[i]] = groups[i];
  }
  return made;
}

// The comment of a list stands behind the key, or behind the value when that is in one line.
std::string& list_comment(Node& key, Node& value) { return value.is_flow && !value.line.empty() ? value.line : key.line; }

std::string bracketed(const std::vector<std::string>& values, std::string_view separator) {
  std::string made = "[";
  for (const std::string& value : values) made += (made.size() > 1 ? std::string(separator) : "") + value;
  return made + "]";
}

Result<void> apply_to_list(Node& key, Node& value, const Setters& setters, const std::string& path, const Resource& resource,
                           std::vector<FunctionResult>& results) {
  const std::string comment = list_comment(key, value);
  const std::string pattern = pattern_of(comment);
  if (pattern.empty() || !names_any(pattern, setters)) return {};
  const auto names = names_in(pattern);
  if (names.size() != 1 || !pattern.starts_with("${") || !pattern.ends_with("}")) {
    return fail(Reason::Invalid, fmt::format("invalid setter pattern for array node: {}", json::quoted(pattern)));
  }
  const std::string& given = setters.at(names.front());
  results.push_back(
      FunctionResult::info(fmt::format("set field value to {}", json::quoted(given))).in_file(resource).field(path));
  results.back().severity.clear();
  if (given.empty()) {
    value.children.clear();
    value.is_flow = true;
    value.line = comment;
    key.line.clear();
    return {};
  }
  auto parsed = read_one_yaml(given);
  if (!parsed || !parsed->root.is_sequence()) {
    return fail(Reason::Invalid,
                fmt::format("input to array setter must be an array of values, but found {}", json::quoted(given)));
  }
  value.children = std::move(parsed->root.children);
  value.is_flow = false;
  value.line.clear();
  key.line = comment;
  return {};
}

Result<void> apply_to_scalar(Node& node, const Setters& setters, const std::string& path, const Resource& resource,
                             std::vector<FunctionResult>& results) {
  const std::string pattern = pattern_of(node.line);
  if (pattern.empty() || !names_any(pattern, setters)) return {};
  std::string made = pattern;
  for (const auto& [name, value] : setters) replace_all(made, "${" + name + "}", value);
  for (const auto& [name, value] : derived(pattern, node.text)) replace_all(made, "${" + name + "}", value);
  if (const auto left = names_in(made); !left.empty()) {
    std::vector<std::string> shown;
    for (const std::string& name : left) shown.push_back("${" + name + "}");
    return fail(Reason::Invalid, fmt::format("values for setters {} must be provided", bracketed(shown, " ")));
  }
  node.text = made;
  node.tag.clear();
  node.is_string = false;
  if (made.empty()) node.style = Node::Style::DoubleQuoted;
  results.push_back(
      FunctionResult::info(fmt::format("set field value to {}", json::quoted(made))).in_file(resource).field(path));
  results.back().severity.clear();
  return {};
}

// ---- create-setters

struct Creation {
  std::vector<std::pair<std::string, std::string>> scalars;             // value, name; longest values first
  std::vector<std::pair<std::vector<std::string>, std::string>> lists;  // sorted values, name
};

Result<Creation> read_creation(const ResourceList& list) {
  Creation made;
  const Setters data = list.data();
  if (data.empty()) return fail(Reason::Invalid, "config map cannot be empty");
  for (const auto& [name, value] : data) {
    auto parsed = read_one_yaml(value);
    if (!parsed) return fail(Reason::Invalid, "parsing error");
    if (parsed->root.is_sequence()) {
      std::vector<std::string> values;
      for (const Node& item : parsed->root.children) values.push_back(item.text);
      std::ranges::sort(values);
      made.lists.emplace_back(std::move(values), name);
    } else if (parsed->root.is_scalar() && !value.empty()) {
      made.scalars.emplace_back(value, name);
    }
  }
  std::ranges::sort(made.scalars, [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a < b;
  });
  return made;
}

// Each place of the text becomes the first of the values that begins there.
std::string with_names(std::string_view text, const Creation& creation) {
  std::string made;
  while (!text.empty()) {
    const auto found =
        std::ranges::find_if(creation.scalars, [&](const auto& setter) { return text.starts_with(setter.first); });
    if (found != creation.scalars.end()) {
      made += "${" + found->second + "}";
      text.remove_prefix(found->first.size());
    } else {
      made += text.front();
      text.remove_prefix(1);
    }
  }
  return made;
}

void comment_list(Node& key, Node& value, const Creation& creation, const std::string& path, const Resource& resource,
                  std::vector<FunctionResult>& results) {
  std::vector<std::string> values;
  for (const Node& item : value.children) values.push_back(item.text);
  std::ranges::sort(values);
  const bool has_scalar = std::ranges::any_of(values, [&](const std::string& text) {
    return std::ranges::any_of(creation.scalars, [&](const auto& setter) { return text.contains(setter.first); });
  });
  if (value.is_flow && has_scalar) value.is_flow = false;
  for (const auto& [wanted, name] : creation.lists) {
    if (values != wanted) continue;
    if (!values.empty()) value.is_flow = false;
    const std::string comment = fmt::format("kpt-set: ${{{}}}", name);
    (value.is_flow ? value.line : key.line) = "# " + comment;
    results.push_back(FunctionResult::info(fmt::format("Added line comment {} for field with value {}", json::quoted(comment),
                                                       json::quoted(bracketed(values, " "))))
                          .in_file(resource)
                          .field(path));
    results.back().severity.clear();
    return;
  }
}

// ---- list-setters

struct Listed {
  std::string value;
  std::string type;
  std::size_t count = 0;
};

std::string type_of(const Node& node) {
  if (node.reads_as_string()) return "str";
  const json::Value value = value_or_null(node);
  if (value.is_bool()) return "bool";
  if (value.is_int()) return "int";
  return value.is_null() ? "null" : "float";
}

void add_given(const ResourceList& list, std::map<std::string, Listed>& listed) {
  for (const Resource& resource : list.items) {
    if (!resource.is_kptfile() || resource.path != kKptfile) continue;
    const Node* mutators = resource.root().at({"pipeline", "mutators"});
    for (std::size_t i = 0; mutators != nullptr && i < mutators->children.size(); ++i) {
      const Node& function = mutators->children[i];
      if (!function.get({"image"}).contains("apply-setters")) continue;
      const Node* data = function.find("configMap");
      for (const Resource& config : list.items) {
        if (data == nullptr && config.path == function.get({"configPath"})) data = config.root().find("data");
      }
      for (std::size_t k = 0; data != nullptr && k < data->pairs(); ++k) {
        auto parsed = read_one_yaml(data->value(k).text);
        if (parsed && parsed->root.is_sequence()) {
          std::vector<std::string> values;
          for (const Node& item : parsed->root.children) values.push_back(item.text);
          listed[data->key(k).text] = {.value = bracketed(values, ", "), .type = "array"};
        } else {
          listed[data->key(k).text] = {.value = data->value(k).text, .type = "str"};
        }
      }
    }
  }
}

}  // namespace

Result<void> apply_setters(ResourceList& list) {
  const Setters setters = list.data();
  std::vector<FunctionResult> results;
  for (Resource& resource : list.items) {
    const Visitor visitor{
        .list = [&](Node& key, Node& value,
                    const std::string& path) { return apply_to_list(key, value, setters, path, resource, results); },
        .scalar = [&](Node& node, const std::string& path) { return apply_to_scalar(node, setters, path, resource, results); }};
    if (auto done = walk(resource.root(), visitor); !done) {
      list.results.push_back(FunctionResult::error("failed to apply setters: " + done.error().message));
      return fail(std::move(done).error());
    }
  }
  if (results.empty()) {
    results.push_back(FunctionResult::info("no matches for input setter(s)"));
    results.back().severity.clear();
  }
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

Result<void> create_setters(ResourceList& list) {
  auto creation = read_creation(list);
  if (!creation) {
    list.results.push_back(FunctionResult::error("failed to create setters: " + creation.error().message));
    return fail(std::move(creation).error());
  }
  std::vector<FunctionResult> results;
  for (Resource& resource : list.items) {
    const Visitor visitor{
        .list = [&](Node& key, Node& value, const std::string& path) -> Result<void> {
          comment_list(key, value, *creation, path, resource, results);
          return {};
        },
        .scalar = [&](Node& node, const std::string& path) -> Result<void> {
          if (node.text.contains('\n')) return {};
          const std::string made = with_names(node.text, *creation);
          if (made == node.text) return {};
          node.line = "# kpt-set: " + made;
          results.push_back(FunctionResult::info(fmt::format("Added line comment {} for field with value {}",
                                                             json::quoted("kpt-set: " + made), json::quoted(node.text)))
                                .in_file(resource)
                                .field(path));
          results.back().severity.clear();
          return {};
        }};
    SLIPWAY_TRY_VOID(walk(resource.root(), visitor));
  }
  if (results.empty()) return fail(Reason::Invalid, "no matches for the input list of setters");
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

Result<void> list_setters(ResourceList& list) {
  std::map<std::string, Listed> listed;
  add_given(list, listed);
  for (Resource& resource : list.items) {
    const Visitor visitor{.list = [&](Node& key, Node& value, const std::string&) -> Result<void> {
                            const auto names = names_in(pattern_of(list_comment(key, value)));
                            if (names.empty()) return {};
                            std::vector<std::string> values;
                            for (const Node& item : value.children) values.push_back(item.text);
                            std::ranges::sort(values);
                            auto [at, is_new] =
                                listed.try_emplace(names.front(), Listed{.value = bracketed(values, ", "), .type = "array"});
                            ++at->second.count;
                            return {};
                          },
                          .scalar = [&](Node& node, const std::string&) -> Result<void> {
                            const std::string pattern = pattern_of(node.line);
                            if (pattern.empty()) return {};
                            for (const auto& [name, value] : derived(pattern, node.text)) {
                              auto [at, is_new] = listed.try_emplace(name, Listed{.value = value, .type = type_of(node)});
                              if (at->second.type == "str") at->second.type = type_of(node);
                              ++at->second.count;
                            }
                            return {};
                          }};
    SLIPWAY_TRY_VOID(walk(resource.root(), visitor));
  }
  if (listed.empty()) list.results.push_back(FunctionResult::warning("no setters found"));
  for (const auto& [name, setter] : listed) {
    list.results.push_back(FunctionResult::info(
        fmt::format("Name: {}, Value: {}, Type: {}, Count: {}", name, setter.value, setter.type, setter.count)));
    list.results.back().severity.clear();
  }
  return {};
}

}  // namespace slipway::krm::fn
