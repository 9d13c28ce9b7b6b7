// search-replace: finds scalars by value, by a regular expression, by a path or by the file, and puts a value or a comment
// there.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "json/quoted.h"
#include "krm/fn/rows.h"
#include "krm/walk.h"

namespace slipway::krm::fn {
namespace {

struct Search {
  std::string by_value;
  std::string by_regex;
  std::string by_path;
  std::string by_file;
  std::string put_value;
  std::string put_comment;
  std::unique_ptr<RE2> regex;
};

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> made;
  while (true) {
    const std::size_t dot = path.find('.');
    made.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return made;
    path.remove_prefix(dot + 1);
  }
}

// a[*], *[*] and *[2] match a[2].
bool matches_part(std::string_view part, std::string_view pattern) {
  if (part == pattern || pattern == "*") return true;
  const std::size_t bracket = part.find('[');
  if (bracket == std::string_view::npos) return false;
  const std::size_t wanted = pattern.find('[');
  if (wanted == std::string_view::npos) return false;
  const std::string_view name = pattern.substr(0, wanted);
  if (name != "*" && name != part.substr(0, bracket)) return false;
  const std::string_view index = pattern.substr(wanted);
  return index == "[*]" || index == part.substr(bracket);
}

// "**" takes any number of parts. row[j]: the parts so far match the first j patterns.
bool matches_path(std::string_view path, std::string_view by_path) {
  if (by_path.empty()) return false;
  const auto parts = parts_of(path);
  const auto patterns = parts_of(by_path);
  std::vector<bool> row(patterns.size() + 1, false);
  row[0] = true;
  for (std::size_t j = 1; j <= patterns.size() && patterns[j - 1] == "**"; ++j) row[j] = true;
  for (const std::string& part : parts) {
    std::vector<bool> next(row.size(), false);
    for (std::size_t j = 1; j < row.size(); ++j) {
      next[j] = patterns[j - 1] == "**" ? next[j - 1] || row[j] : row[j - 1] && matches_part(part, patterns[j - 1]);
    }
    row = std::move(next);
  }
  return row.back();
}

bool is_absolute(std::string_view path) {
  return !path.empty() &&
         std::ranges::none_of(parts_of(path), [](const std::string& part) { return part.empty() || part.contains('*'); });
}

// ${1} … are the groups of the regular expression in the value.
Result<std::string> resolved(const Search& search, const std::string& value, std::string text) {
  if (search.regex == nullptr) return text;
  const int count = search.regex->NumberOfCapturingGroups();
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(count) + 1);
  search.regex->Match(value, 0, value.size(), RE2::UNANCHORED, groups.data(), count + 1);
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const std::string name = fmt::format("${{{}}}", i);
    const std::string group(groups[i].data() == nullptr ? "" : std::string(groups[i]));
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + group.size()))
      text.replace(at, name.size(), group);
  }
  static const RE2 kLeft(R"(\$\{[0-9]+\})");
  if (RE2::PartialMatch(text, kLeft)) return fail(Reason::Invalid, "unable to resolve capture groups");
  return text;
}

struct Run {
  const Search& search;
  std::vector<FunctionResult>& results;

  void report(const Resource& resource, std::string path, std::string_view value) const {
    const bool is_change = !search.put_value.empty() || !search.put_comment.empty();
    FunctionResult made =
        FunctionResult::info((is_change ? "Mutated field value to " : "Matched field value ") + json::quoted(value));
    made.severity.clear();
    results.push_back(std::move(made).in_file(resource).field(std::move(path)));
  }

  Result<void> list(Resource& resource, Node& key, Node& value, const std::string& path) const {
    if (search.put_comment.empty() || value.children.empty() || !matches_path(path, search.by_path)) return {};
    key.line = "# " + search.put_comment;
    Node shown = value;
    shown.is_flow = true;
    value.is_flow = false;
    value.line.clear();
    std::string text = write_node(shown, false);
    text.pop_back();
    report(resource, search.by_path + " # " + search.put_comment, text);
    return {};
  }

  bool is_meant(const Node& node, const std::string& path) const {
    const bool by_path = matches_path(path, search.by_path);
    const bool by_value = (!search.by_value.empty() && search.by_value == node.text) ||
                          (search.regex != nullptr && RE2::PartialMatch(node.text, *search.regex));
    return (by_value && (by_path || search.by_path.empty())) || (by_path && search.by_value.empty() && search.by_regex.empty());
  }

  Result<void> scalar(Resource& resource, Node& node, const std::string& path) const {
    if (!is_meant(node, path)) return {};
    const std::string before = node.text;
    if (!search.put_comment.empty()) {
      SLIPWAY_TRY(made, resolved(search, before, search.put_comment));
      node.line = "# " + made;
    }
    if (!search.put_value.empty()) {
      SLIPWAY_TRY(made, resolved(search, before, search.put_value));
      node.text = made;
      node.tag.clear();
      node.is_string = false;
    }
    report(resource, path, node.line.empty() ? node.text : node.text + " " + node.line);
    return {};
  }

  void put_by_path(Resource& resource) const {
    auto parts = parts_of(search.by_path);
    Node* here = &resource.root();
    for (const std::string& part : std::span(parts).first(parts.size() - 1)) here = &here->mapping_at(part);
    Node made = Node::plain(search.put_value);
    if (const Node* old = here->find(parts.back()); old != nullptr && old->is_scalar()) made.style = old->style;
    here->set(parts.back(), std::move(made));
    report(resource, search.by_path, search.put_value);
  }
};

Result<Search> read_search(const ResourceList& list) {
  Search made;
  const std::pair<std::string_view, std::string Search::*> kFields[] = {
      {"by-value", &Search::by_value}, {"by-file-path", &Search::by_file}, {"by-value-regex", &Search::by_regex},
      {"by-path", &Search::by_path},   {"put-value", &Search::put_value},  {"put-comment", &Search::put_comment}};
  for (const auto& [key, value] : list.data()) {
    const auto found = std::ranges::find(kFields, key, [](const auto& row) { return row.first; });
    if (found == std::end(kFields)) {
      return fail(Reason::Invalid,
                  fmt::format("invalid matcher {}, must be one of [\"by-value\" \"by-file-path\" \"by-value-regex\" "
                              "\"by-path\" \"put-value\" \"put-comment\"]",
                              json::quoted(key)));
    }
    made.*(found->second) = value;
  }
  if (!made.by_value.empty() && !made.by_regex.empty()) {
    return fail(Reason::Invalid, "only one of [\"by-value\", \"by-value-regex\"] can be provided");
  }
  if (made.by_regex.empty()) return made;
  made.regex = std::make_unique<RE2>(made.by_regex, RE2::Quiet);
  if (!made.regex->ok()) return fail(Reason::Invalid, "by-value-regex: " + made.regex->error());
  return made;
}

Result<void> run(ResourceList& list, std::vector<FunctionResult>& results) {
  SLIPWAY_TRY(search, read_search(list));
  const Run step{.search = search, .results = results};
  const bool is_put = is_absolute(search.by_path) && !search.by_path.contains('[') && search.by_value.empty() &&
                      search.by_regex.empty() && !search.put_value.empty();
  for (Resource& resource : list.items) {
    if (!search.by_file.empty() && !matches_glob(search.by_file, resource.path)) continue;
    if (is_put) {
      step.put_by_path(resource);
      continue;
    }
    const Visitor visitor{
        .list = [&](Node& key, Node& value, const std::string& path) { return step.list(resource, key, value, path); },
        .scalar = [&](Node& node, const std::string& path) { return step.scalar(resource, node, path); }};
    SLIPWAY_TRY_VOID(walk(resource.root(), visitor));
  }
  return {};
}

}  // namespace

Result<void> search_replace(ResourceList& list) {
  std::vector<FunctionResult> results;
  if (auto done = run(list, results); !done) {
    list.results.push_back(
        FunctionResult::error("failed to perform search-replace operation: " + json::quoted(done.error().message)));
    return fail(std::move(done).error());
  }
  if (results.empty()) {
    results.push_back(FunctionResult::info("no matches"));
    results.back().severity.clear();
  }
  std::ranges::move(results, std::back_inserter(list.results));
  return {};
}

}  // namespace slipway::krm::fn
