#include "kube/field_set.h"

#include <algorithm>

namespace slipway::kube {

using json::Value;

struct FieldSet::Node {
  std::vector<Entry> entries;
  // The written form without and with "."; null until known. Kept because nodes are shared between old and new sets.
  mutable Value fields_v1{};
  mutable Value fields_v1_with_self{};
};

namespace {

using Entry = FieldSet::Entry;

bool is_void(const Entry& entry) { return !entry.is_member && entry.children.empty(); }
bool comes_before(const Entry& left, const Entry& right) { return left.element.compare(right.element) < 0; }

/// The first bytes of a field's name as a number that is ordered as they are; 0 for other elements.
std::uint64_t name_begin(const Entry& entry) {
  if (entry.element.kind() != PathElement::Kind::Field) return 0;
  const std::string_view name = entry.element.content().as_string();
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < sizeof begin; ++i)
    begin = begin << 8U | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
  return begin;
}

/// Sorts small stand-ins of the entries, most of which two numbers tell apart.
std::vector<Entry> sorted(std::vector<Entry> entries) {
  struct Place {
    std::uint64_t begin = 0;
    std::uint32_t at = 0;
  };
  std::vector<Place> places(entries.size());
  for (std::uint32_t at = 0; at < entries.size(); ++at) places[at] = {name_begin(entries[at]), at};
  std::ranges::sort(places, [&](const Place& left, const Place& right) {
    const bool is_decided = left.begin != right.begin && left.begin != 0 && right.begin != 0;
    return is_decided ? left.begin < right.begin : comes_before(entries[left.at], entries[right.at]);
  });
  std::vector<Entry> result;
  result.reserve(entries.size());
  for (const Place& place : places) result.push_back(std::move(entries[place.at]));
  return result;
}

// The entries of a result that may turn out to be those of a given set: nothing is copied before the first difference.
class Edited {
 public:
  explicit Edited(std::span<const Entry> source) : source_(source) {}
  /// The next entry of the source, as it is.
  void keep() {
    if (is_changed_) out_.push_back(source_[at_]);
    ++at_;
  }
  /// The next entry of the source with other content.
  void replace(FieldSet children, bool is_member) {
    const Entry& entry = source_[at_];
    if (entry.is_member == is_member && entry.children.is_same(children)) return keep();
    change();
    if (is_member || !children.empty()) out_.push_back({entry.element, std::move(children), is_member});
    ++at_;
  }
  void insert(const Entry& entry) {
    change();
    out_.push_back(entry);
  }
  bool is_changed() const { return is_changed_; }
  std::vector<Entry> take() { return std::move(out_); }

 private:
  void change() {
    if (is_changed_) return;
    is_changed_ = true;
    out_.reserve(source_.size() + 1);
    out_.assign(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(at_));
  }

  std::span<const Entry> source_;
  std::vector<Entry> out_;
  std::size_t at_ = 0;
  bool is_changed_ = false;
};

/// Calls with each entry of `left` beside its equal of `right`, in order; one of the two may be nullptr.
template <class Visit>
void zip(std::span<const Entry> left, std::span<const Entry> right, Visit visit) {
  auto l = left.begin();
  auto r = right.begin();
  while (l != left.end() || r != right.end()) {
    int order = l == left.end() ? 1 : r == right.end() ? -1 : l->element.compare(r->element);
    visit(order <= 0 ? &*l : nullptr, order >= 0 ? &*r : nullptr);
    if (order <= 0) ++l;
    if (order >= 0) ++r;
  }
}

}  // namespace

FieldSet FieldSet::of_sorted(std::vector<Entry> entries) {
  if (entries.empty()) return {};
  auto node = std::make_shared<Node>();
  node->entries = std::move(entries);
  return FieldSet(std::move(node));
}

FieldSet FieldSet::of(std::vector<Entry> entries) {
  std::erase_if(entries, is_void);
  if (!std::ranges::is_sorted(entries, comes_before)) entries = sorted(std::move(entries));
  return of_sorted(std::move(entries));
}

FieldSet FieldSet::of_paths(std::initializer_list<FieldPath> paths) {
  FieldSet result;
  for (const FieldPath& path : paths) result = result.with(path);
  return result;
}

std::span<const Entry> FieldSet::entries() const {
  return node_ == nullptr ? std::span<const Entry>() : std::span<const Entry>(node_->entries);
}

const Entry* FieldSet::find(const PathElement& element) const {
  auto all = entries();
  auto found =
      std::ranges::lower_bound(all, 0, std::ranges::less(), [&](const Entry& entry) { return entry.element.compare(element); });
  return found != all.end() && found->element == element ? &*found : nullptr;
}

bool FieldSet::has(std::span<const PathElement> path) const {
  if (path.empty()) return false;
  const Entry* entry = find(path.front());
  if (entry == nullptr) return false;
  return path.size() == 1 ? entry->is_member : entry->children.has(path.subspan(1));
}

std::size_t FieldSet::size() const {
  std::size_t count = 0;
  for (const Entry& entry : entries()) count += (entry.is_member ? 1 : 0) + entry.children.size();
  return count;
}

FieldSet FieldSet::with(std::span<const PathElement> path) const {
  if (path.empty()) return *this;
  FieldSet single = of({Entry{path.back(), {}, true}});
  for (std::size_t i = path.size() - 1; i-- > 0;) single = of({Entry{path[i], single, false}});
  return unite(*this, single);
}

FieldSet FieldSet::leaves() const {
  std::vector<Entry> result;
  for (const Entry& entry : entries()) {
    FieldSet below = entry.children.leaves();
    bool is_leaf = below.empty();
    result.push_back({entry.element, std::move(below), is_leaf});
  }
  return of_sorted(std::move(result));
}

namespace {

void visit_below(const FieldSet& set, FieldPath& path, const std::function<void(const FieldPath&)>& visit) {
  for (const Entry& entry : set.entries()) {
    if (!entry.is_member) continue;
    path.push_back(entry.element);
    visit(path);
    path.pop_back();
  }
  for (const Entry& entry : set.entries()) {
    if (entry.children.empty()) continue;
    path.push_back(entry.element);
    visit_below(entry.children, path, visit);
    path.pop_back();
  }
}

}  // namespace

void FieldSet::for_each(const std::function<void(const FieldPath&)>& visit) const {
  FieldPath path;
  visit_below(*this, path, visit);
}

bool FieldSet::operator==(const FieldSet& other) const {
  if (is_same(other)) return true;
  return std::ranges::equal(entries(), other.entries(), [](const Entry& left, const Entry& right) {
    return left.is_member == right.is_member && left.element == right.element && left.children == right.children;
  });
}

FieldSet unite(const FieldSet& left, const FieldSet& right) {
  if (right.empty() || left.is_same(right)) return left;
  if (left.empty()) return right;
  Edited result(left.entries());
  zip(left.entries(), right.entries(), [&](const Entry* l, const Entry* r) {
    if (r == nullptr) {
      result.keep();
    } else if (l == nullptr) {
      result.insert(*r);
    } else {
      result.replace(unite(l->children, r->children), l->is_member || r->is_member);
    }
  });
  return result.is_changed() ? FieldSet::of_sorted(result.take()) : left;
}

FieldSet intersect(const FieldSet& left, const FieldSet& right) {
  if (left.is_same(right)) return left;
  std::vector<Entry> result;
  zip(left.entries(), right.entries(), [&](const Entry* l, const Entry* r) {
    if (l == nullptr || r == nullptr) return;
    Entry both{l->element, intersect(l->children, r->children), l->is_member && r->is_member};
    if (!is_void(both)) result.push_back(std::move(both));
  });
  return FieldSet::of_sorted(std::move(result));
}

FieldSet subtract(const FieldSet& left, const FieldSet& right) {
  if (left.empty() || right.empty()) return left;
  if (left.is_same(right)) return {};
  Edited result(left.entries());
  zip(left.entries(), right.entries(), [&](const Entry* l, const Entry* r) {
    if (l == nullptr) return;
    if (r == nullptr) return result.keep();
    result.replace(subtract(l->children, r->children), l->is_member && !r->is_member);
  });
  return result.is_changed() ? FieldSet::of_sorted(result.take()) : left;
}

FieldSet subtract_subtrees(const FieldSet& left, const FieldSet& right) {
  if (left.empty() || right.empty()) return left;
  Edited result(left.entries());
  zip(left.entries(), right.entries(), [&](const Entry* l, const Entry* r) {
    if (l == nullptr) return;
    if (r == nullptr) return result.keep();
    if (r->is_member) return result.replace({}, false);
    result.replace(subtract_subtrees(l->children, r->children), l->is_member);
  });
  return result.is_changed() ? FieldSet::of_sorted(result.take()) : left;
}

Value FieldSet::written(bool with_self) const {
  if (node_ == nullptr) return Value::empty_object();
  Value& known = with_self ? node_->fields_v1_with_self : node_->fields_v1;
  if (!known.is_null()) return known;
  json::ObjectBuilder result(node_->entries.size() + 1);
  if (with_self) result.add(".", Value::empty_object());
  std::string key;
  for (const Entry& entry : node_->entries) {
    key.clear();
    entry.element.serialize_to(key);
    result.add(key, entry.children.written(entry.is_member));
  }
  known = result.build();
  return known;
}

Result<FieldSet> FieldSet::from_fields_v1(const Value& fields, Spelling spelling) {
  if (!fields.is_object() && !fields.is_null()) return fail(Reason::BadRequest, "fieldsV1 must be an object");
  std::vector<Entry> entries;
  entries.reserve(fields.size());
  bool has_self = false;
  for (auto [key, value] : fields.members()) {
    if (key == ".") {
      has_self = true;
      continue;
    }
    SLIPWAY_TRY(element, PathElement::parse(key));
    if (!element) continue;
    SLIPWAY_TRY(children, from_fields_v1(value, spelling));
    const bool is_member = children.empty() || value.has(".");
    entries.push_back({*std::move(element), std::move(children), is_member});
  }
  if (!std::ranges::is_sorted(entries, comes_before)) std::ranges::sort(entries, comes_before);
  auto is_repeated = [](const Entry& left, const Entry& right) { return left.element == right.element; };
  if (std::ranges::adjacent_find(entries, is_repeated) == entries.end()) {
    FieldSet result = of_sorted(std::move(entries));
    if (spelling == Spelling::Ours && result.node_ != nullptr) {
      (has_self ? result.node_->fields_v1_with_self : result.node_->fields_v1) = fields;
    }
    return result;
  }
  FieldSet result;  // keys that are spelled differently and mean the same
  for (Entry& entry : entries) result = unite(result, of({std::move(entry)}));
  return result;
}

namespace {

void find_overlap(const Value& fields, const FieldSet& set, std::string& key, Overlap& result) {
  for (const Entry& entry : set.entries()) {
    key.clear();
    entry.element.serialize_to(key);
    const Value* found = fields.find(key);
    if (found == nullptr) {
      result.covers = false;
      continue;
    }
    bool is_leaf = found->empty();
    if (entry.is_member) {
      bool is_member = is_leaf || found->has(".");
      result.touches = result.touches || is_member;
      result.covers = result.covers && is_member;
      result.has_below = result.has_below || (entry.children.empty() && !is_leaf && found->size() > (is_member ? 1U : 0U));
    }
    if (!entry.children.empty()) find_overlap(*found, entry.children, key, result);
  }
}

}  // namespace

Overlap overlap(const Value& fields, const FieldSet& set) {
  Overlap result;
  std::string key;
  find_overlap(fields, set, key, result);
  return result;
}

}  // namespace slipway::kube
