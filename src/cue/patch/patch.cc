#include "cue/patch/patch.h"

#include <algorithm>

#include "cue/patch/draft.h"
#include "json/patch.h"

namespace slipway::cue {

namespace {

constexpr std::string_view kKey = "patchKey";
constexpr std::string_view kStrategy = "patchStrategy";

bool has(const Markers& markers, std::string_view name, std::string_view value) {
  auto found = markers.find(name);
  return found != markers.end() && found->second == value;
}

std::vector<std::string_view> split_path(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    std::size_t end = std::min(text.find(separator), text.size());
    out.push_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

/// The literal an item is known by.
struct ItemKey {
  bool is_found = false;
  bool is_literal = false;
  std::string text;
};

ItemKey key_of(Evaluator& evaluator, Draft& item, std::string_view path) {
  Draft* at = &item;
  for (std::string_view name : split_path(path, '.')) {
    at = at == nullptr ? nullptr : at->field(name);
  }
  if (at == nullptr) return {};
  bool is_literal = at->kind == Draft::Kind::Leaf && at->leaf.is_concrete_scalar();
  return {true, is_literal, is_literal ? evaluator.show(at->leaf) : ""};
}

/// Rewrites a patch, and blanks what it takes the place of in the base, so that unification of the two does the rest.
class Aligner {
 public:
  explicit Aligner(Evaluator& evaluator) : evaluator_(evaluator) {}

  void align(Draft& patch, Draft* base, const std::string& inherited_key) {
    if (patch.kind == Draft::Kind::List) {
      for (std::size_t i = 0; i < patch.children.size(); ++i) {
        bool is_paired = base != nullptr && base->kind == Draft::Kind::List && i < base->children.size();
        align(patch.children[i], is_paired ? &base->children[i] : nullptr, inherited_key);
      }
      return;
    }
    for (std::size_t i = 0; i < patch.names.size(); ++i) {
      align_field(patch.children[i], patch.markers[i], base == nullptr ? nullptr : base->field(patch.names[i]), inherited_key);
    }
  }

 private:
  void align_field(Draft& patch, const Markers& markers, Draft* base, const std::string& inherited_key) {
    auto own = markers.find(kKey);
    const std::string& key = own == markers.end() ? inherited_key : own->second;
    bool retains = has(markers, kStrategy, "retainKeys");
    if (patch.kind != Draft::Kind::List) {
      if (retains && base != nullptr) {
        *base = patch;
        return;
      }
    } else if (base != nullptr && base->kind == Draft::Kind::List) {
      if (has(markers, kStrategy, "replace")) {
        *base = patch;
        return;
      }
      if (!key.empty()) pair_items(patch, *base, key, retains);
    }
    align(patch, base, key);
  }

  void pair_items(Draft& patch, Draft& base, const std::string& keys, bool retains) {
    std::vector<std::string> wanted(patch.children.size());  // key and literal of each item; empty: none, or paired already
    std::vector<Draft> paired;
    Draft nothing;
    nothing.kind = Draft::Kind::Struct;
    for (std::string_view key : split_path(keys, ',')) {
      if (!collect(patch, key, wanted)) {
        if (patch.children.empty()) continue;
        return;
      }
      for (Draft& item : base.children) {
        ItemKey found = key_of(evaluator_, item, key);
        if (!found.is_found) continue;
        if (!found.is_literal) return;
        auto match = std::ranges::find(wanted, std::string(key) + "=" + found.text);
        if (match == wanted.end()) {
          paired.push_back(nothing);
          continue;
        }
        if (retains) item = nothing;
        paired.push_back(patch.children[static_cast<std::size_t>(match - wanted.begin())]);
        match->clear();
      }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i].empty()) paired.push_back(patch.children[i]);
    }
    patch.children = std::move(paired);
    patch.is_open = true;
    patch.rest = {};
  }

  // False when no item has the key, or one that is no literal. Of several with one key the last counts.
  bool collect(Draft& patch, std::string_view key, std::vector<std::string>& wanted) {
    bool has_any = false;
    for (std::size_t i = 0; i < patch.children.size(); ++i) {
      ItemKey found = key_of(evaluator_, patch.children[i], key);
      if (!found.is_found) continue;
      if (!found.is_literal) return false;
      has_any = true;
      std::string text = std::string(key) + "=" + found.text;
      std::ranges::replace(wanted, text, std::string());
      wanted[i] = std::move(text);
    }
    return has_any;
  }

  Evaluator& evaluator_;
};

/// Lists of the base may get more items.
void open_lists(Draft& draft) {
  for (Draft& child : draft.children) {
    if (child.kind == Draft::Kind::List) child.is_open = true;
    open_lists(child);
  }
}

std::expected<Cursor, Errors> apply_json(Evaluation& into, const Cursor& base, const Cursor& patch, PatchStrategy strategy) {
  auto target = base.to_json();
  if (!target) return std::unexpected(target.error());
  auto change = strategy == PatchStrategy::JsonPatch ? patch.field("operations").to_json() : patch.to_json();
  if (!change) return std::unexpected(change.error());
  if (strategy == PatchStrategy::JsonMergePatch) {
    Value merged = into.evaluator().from_json(json::apply_merge_patch(*target, *change));
    return into.unify({&merged, 1});
  }
  auto result = json::apply_json_patch(*target, *change);
  if (!result) {
    return std::unexpected(Errors{{"eval", patch.path(), "failed to apply json patch: " + result.error().message, {}}});
  }
  Value patched = into.evaluator().from_json(*result);
  return into.unify({&patched, 1});
}

}  // namespace

PatchStrategy patch_strategy(const Cursor& patch) {
  Markers markers = markers_of(patch.doc());
  if (has(markers, kStrategy, "jsonMergePatch")) return PatchStrategy::JsonMergePatch;
  if (has(markers, kStrategy, "jsonPatch")) return PatchStrategy::JsonPatch;
  return PatchStrategy::Unify;
}

std::expected<Cursor, Errors> apply_patch(const Cursor& base, const Cursor& patch, PatchStrategy strategy) {
  if (!patch.exists()) return base;
  if (!base.exists()) return std::unexpected(Errors{{"incomplete", "", "nothing to patch", {}}});
  auto into = std::make_shared<Evaluation>(patch.evaluation()->program(), patch.evaluation()->limits());
  into->keep_incomplete();
  if (strategy != PatchStrategy::Unify) return apply_json(*into, base, patch, strategy);
  Draft below = draft_of(*into, *base.evaluation(), base.vertex());
  Draft change = draft_of(*into, *patch.evaluation(), patch.vertex());
  open_lists(below);
  Aligner(into->evaluator()).align(change, &below, "");
  std::vector<Value> values = {value_of(*into, below), value_of(*into, change)};
  Cursor result = into->unify(values);
  Errors errors = result.validate(Demand::Valid);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return result;
}

}  // namespace slipway::cue
