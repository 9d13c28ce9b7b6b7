#include "krm/merge_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "krm/yaml_tree.h"

namespace slipway::krm {
namespace {

constexpr std::array kGuessed{std::string_view("mountPath"), std::string_view("devicePath"),  std::string_view("ip"),
                              std::string_view("type"),      std::string_view("topologyKey"), std::string_view("name")};

bool is_missing(const Node* node) { return node == nullptr || node->is_null(); }
bool is_cleared(const Node* node) { return node != nullptr && node->is_null(); }

// Equal as data, where "missing" is a value too.
bool is_same(const Node* a, const Node* b) {
  if (is_missing(a) || is_missing(b)) return is_missing(a) && is_missing(b);
  return a->has_value_of(*b);
}

std::string shown(const Node* node) {
  if (node == nullptr) return "";
  Node bare = *node;
  bare.head.clear();
  bare.line.clear();
  bare.foot.clear();
  std::string made = write_node(bare, false);
  while (made.ends_with('\n')) made.pop_back();
  return made;
}

struct Three {
  const Node* local = nullptr;
  const Node* origin = nullptr;
  const Node* upstream = nullptr;

  std::array<const Node*, 3> all() const { return {local, origin, upstream}; }
  Three field(std::string_view name) const {
    const auto get = [&](const Node* node) { return node != nullptr ? node->find(name) : nullptr; };
    return {get(local), get(origin), get(upstream)};
  }
  Three key(std::string_view name) const {
    const auto get = [&](const Node* node) { return node != nullptr ? node->key_node(name) : nullptr; };
    return {get(local), get(origin), get(upstream)};
  }
};

// Upstream's comment is taken where the local one is still the old one.
void merge_comment(std::string Node::* which, Node& made, const Three& from) {
  const auto text = [&](const Node* node) { return node != nullptr ? node->*which : std::string(); };
  if (from.local == nullptr) {
    made.*which = text(from.upstream);
  } else if (from.upstream != nullptr && text(from.local) == text(from.origin)) {
    made.*which = text(from.upstream);
  }
}

void merge_comments(Node& made, const Three& from) {
  for (std::string Node::* which : {&Node::head, &Node::line, &Node::foot}) merge_comment(which, made, from);
}

using Id = std::vector<std::string>;

class Merger {
 public:
  Merger(const ListKeys& keys, Inference infers, std::vector<Conflict>& conflicts)
      : keys_(keys), infers_(infers), conflicts_(conflicts) {}

  std::optional<Node> merge(const Three& from) {
    std::optional<Node::Kind> kind;
    bool is_mixed = false;
    for (const Node* node : from.all()) {
      if (is_missing(node)) continue;
      if (kind && *kind != node->kind) is_mixed = true;
      if (!kind) kind = node->kind;
    }
    if (is_mixed) return whole(from);
    if (!kind)
      return is_cleared(from.upstream) || is_cleared(from.local) || from.local == nullptr ? std::nullopt
                                                                                          : std::optional(*from.local);
    switch (*kind) {
      case Node::Kind::Mapping:
        return mapping(from);
      case Node::Kind::Sequence:
        return sequence(from);
      case Node::Kind::Scalar:
      case Node::Kind::Alias:
        break;
    }
    return scalar(from);
  }

 private:
  void report(const Three& from, std::string taken) {
    Conflict made;
    for (const std::string& part : path_) {
      if (part.starts_with('[')) {
        made.path += part;
      } else {
        made.path += (made.path.empty() ? "" : ".") + part;
      }
    }
    made.origin = shown(from.origin);
    made.upstream = shown(from.upstream);
    made.local = shown(from.local);
    made.taken = std::move(taken);
    conflicts_.push_back(std::move(made));
  }

  // Both sides moved away from the origin, to different places.
  void judge(const Three& from) {
    if (is_same(from.local, from.origin) || is_same(from.upstream, from.origin) || is_same(from.local, from.upstream)) return;
    report(from, "upstream");
  }

  std::optional<Node> whole(const Three& from) {
    judge(from);
    if (!is_same(from.upstream, from.origin)) return is_missing(from.upstream) ? std::nullopt : std::optional(*from.upstream);
    return is_missing(from.local) ? std::nullopt : std::optional(*from.local);
  }

  // kyaml's setter puts words in quotes that YAML 1.1 takes for booleans.
  static std::optional<Node> quoted(std::optional<Node> made) {
    constexpr std::array<std::string_view, 16> kWords{"y", "Y", "yes", "Yes", "YES", "on",  "On",  "ON",
                                                      "n", "N", "no",  "No",  "NO",  "off", "Off", "OFF"};
    if (made && made->style == Node::Style::Plain && std::ranges::find(kWords, made->text) != kWords.end()) {
      made->style = Node::Style::DoubleQuoted;
    }
    return made;
  }

  // What replaces a plain scalar stays as upstream writes it.
  std::optional<Node> scalar(const Three& from) {
    const bool is_replaced = from.upstream != nullptr && !is_same(from.upstream, from.origin) && from.local != nullptr &&
                             from.local->is_scalar() && from.local->style == Node::Style::Plain;
    auto made = merged_scalar(from);
    return is_replaced ? made : quoted(std::move(made));
  }

  std::optional<Node> merged_scalar(const Three& from) {
    judge(from);
    if (is_cleared(from.upstream) || is_cleared(from.local)) return std::nullopt;
    if (from.upstream == nullptr && from.origin != nullptr) return std::nullopt;
    if (from.upstream == nullptr) return from.local == nullptr ? std::nullopt : std::optional(*from.local);
    if (is_same(from.upstream, from.origin)) {
      if (from.local == nullptr) return std::nullopt;
      Node made = *from.local;
      merge_comments(made, from);
      return made;
    }
    Node made = *from.upstream;
    if (from.local != nullptr && from.local->is_scalar() && from.local->style != Node::Style::Plain &&
        from.local->style != Node::Style::Literal && made.reads_as_string()) {
      made.style = from.local->style;
    }
    return made;
  }

  std::optional<Node> mapping(const Three& from) {
    if (is_cleared(from.upstream) || is_cleared(from.local)) return std::nullopt;
    if (from.local == nullptr && from.upstream == nullptr) return std::nullopt;
    Node made = from.local != nullptr ? *from.local : Node::mapping();
    if (from.local == nullptr) made.is_flow = from.upstream->is_flow && from.upstream->children.empty();
    std::set<std::string> names;
    for (const Node* node : from.all()) {
      for (std::size_t i = 0; node != nullptr && i < node->pairs(); ++i) names.insert(node->key(i).text);
    }
    for (const std::string& name : names) {
      path_.push_back(name);
      const bool has_schema = enter(from.key(name));
      auto value = merge(from.field(name));
      if (has_schema) schemas_.pop_back();
      path_.pop_back();
      put(made, name, std::move(value), from.key(name));
    }
    return made;
  }

  // A comment at a key may give the schema of what is below.
  bool enter(const Three& keys) {
    for (const Node* key : keys.all()) {
      if (key == nullptr) continue;
      for (const std::string* comment : {&key->line, &key->head}) {
        if (!comment->starts_with("# {")) continue;
        ListKeys found = list_keys_in(*comment);
        if (found == nullptr) continue;
        schemas_.emplace_back(path_.size(), std::move(found));
        return true;
      }
    }
    return false;
  }

  static void put(Node& made, const std::string& name, std::optional<Node> value, const Three& keys) {
    if (!value) {
      made.erase(name);
      return;
    }
    if (Node* old = made.find(name)) {
      *old = std::move(*value);
      merge_comments(*made.key_node(name), keys);
      return;
    }
    const bool was_empty = made.children.empty();
    made.set(name, std::move(*value));
    if (was_empty) made.is_flow = false;
    const Node* from = keys.upstream != nullptr ? keys.upstream : keys.origin;
    if (from != nullptr) *made.key_node(name) = *from;
  }

  // ---- lists

  std::vector<std::string> schema_path() const {
    std::vector<std::string> made;
    for (const std::string& part : path_) made.push_back(part.starts_with('[') ? "[]" : part);
    return made;
  }

  std::optional<std::vector<std::string>> keys_here(const Three& from) const {
    const auto path = schema_path();
    for (auto schema = schemas_.rbegin(); schema != schemas_.rend(); ++schema) {
      if (auto known = schema->second(std::span(path).subspan(schema->first))) return known->empty() ? std::nullopt : known;
    }
    if (keys_) {
      if (auto known = keys_(path)) return known->empty() ? std::nullopt : known;
    }
    if (infers_ == Inference::Off) return std::nullopt;
    bool has_items = false;
    for (std::string_view key : kGuessed) {
      const bool fits = std::ranges::all_of(from.all(), [&](const Node* list) {
        if (list == nullptr) return true;
        std::set<std::string_view> seen;
        return std::ranges::all_of(list->children, [&](const Node& item) {
          has_items = true;
          const std::string_view text = item.get({key});
          return item.is_mapping() && !text.empty() && seen.insert(text).second;
        });
      });
      if (fits && has_items) return std::vector<std::string>{std::string(key)};
    }
    return std::nullopt;
  }

  static Id id_of(const Node& item, const std::vector<std::string>& keys) {
    Id made;
    for (const std::string& key : keys) made.emplace_back(key.empty() ? std::string_view(item.text) : item.get({key}));
    return made;
  }

  // Keys that no item has cannot tell items apart.
  static std::vector<std::string> used(const std::vector<std::string>& keys, const Three& from) {
    std::vector<std::string> made;
    for (const std::string& key : keys) {
      const bool is_used = key.empty() || std::ranges::any_of(from.all(), [&](const Node* list) {
                             return list != nullptr && std::ranges::any_of(list->children, [&](const Node& item) {
                                      return item.find(key) != nullptr;
                                    });
                           });
      if (is_used) made.push_back(key);
    }
    return made;
  }

  std::optional<Node> sequence(const Three& from) {
    const auto keys = keys_here(from);
    const auto present = keys ? used(*keys, from) : std::vector<std::string>{};
    if (!present.empty()) return keyed(from, present);
    judge(from);
    if (is_cleared(from.upstream) || is_cleared(from.local)) return std::nullopt;
    if (from.upstream == nullptr && from.origin != nullptr) return std::nullopt;
    if (from.upstream != nullptr && !is_same(from.upstream, from.origin)) return *from.upstream;
    return from.local == nullptr ? std::nullopt : std::optional(*from.local);
  }

  std::optional<Node> keyed(const Three& from, const std::vector<std::string>& keys) {
    if ((is_cleared(from.upstream) && !is_cleared(from.origin)) || is_cleared(from.local)) return std::nullopt;
    if (from.local == nullptr && from.upstream == nullptr) return std::nullopt;
    if (from.upstream == nullptr && from.origin != nullptr) {
      judge(from);
      return std::nullopt;
    }
    std::vector<Id> order;
    for (const Node* list : from.all()) {
      for (std::size_t i = 0; list != nullptr && i < list->children.size(); ++i) {
        Id id = id_of(list->children[i], keys);
        if (std::ranges::find(order, id) == order.end()) order.push_back(std::move(id));
      }
    }
    Node made = from.local != nullptr ? *from.local : Node::sequence();
    made.children.clear();
    made.is_flow = from.local != nullptr && from.local->is_flow && !from.local->children.empty();
    for (const Id& id : order) {
      Three item{find(from.local, keys, id), find(from.origin, keys, id), find(from.upstream, keys, id)};
      std::string part = "[";
      for (std::size_t i = 0; i < keys.size(); ++i)
        part += (i > 0 ? "," : "") + (keys[i].empty() ? id[i] : keys[i] + "=" + id[i]);
      path_.push_back(part + "]");
      // Gates and conditions that only upstream has come as they are written; kyaml sorts the members of what is new.
      const bool is_new_fact = item.local == nullptr && item.origin == nullptr && item.upstream != nullptr &&
                               (keys.front() == "conditionType" || path_.front() == "status" || path_.front() == "pipeline");
      auto value = is_new_fact ? std::optional(*item.upstream) : keys.front().empty() ? member(item) : merge(item);
      path_.pop_back();
      if (!value || value->is_null() || (value->is_mapping() && value->children.empty())) continue;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (value->is_mapping() && value->find(keys[i]) == nullptr && !id[i].empty()) value->set(keys[i], Node::string(id[i]));
      }
      made.children.push_back(std::move(*value));
    }
    if (made.children.empty()) return std::nullopt;
    return made;
  }

  static const Node* find(const Node* list, const std::vector<std::string>& keys, const Id& id) {
    if (list == nullptr) return nullptr;
    const auto found = std::ranges::find_if(list->children, [&](const Node& item) { return id_of(item, keys) == id; });
    return found == list->children.end() ? nullptr : &*found;
  }

  // A scalar of a set.
  static std::optional<Node> member(const Three& item) {
    if (item.upstream == nullptr && item.origin != nullptr) return std::nullopt;
    if (item.local != nullptr) return *item.local;
    if (item.upstream != nullptr && item.origin == nullptr) return *item.upstream;
    return std::nullopt;
  }

  const ListKeys& keys_;
  Inference infers_;
  std::vector<Conflict>& conflicts_;
  std::vector<std::string> path_;
  std::vector<std::pair<std::size_t, ListKeys>> schemas_;  // given by comments, and from which depth on
};

}  // namespace

Merged merge_fields(const Node* origin, const Node* upstream, const Node* local, const ListKeys& keys, Inference infers) {
  Merged made;
  made.node = Merger(keys, infers, made.conflicts).merge({.local = local, .origin = origin, .upstream = upstream});
  return made;
}

}  // namespace slipway::krm
