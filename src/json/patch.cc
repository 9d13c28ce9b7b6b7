#include "json/patch.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/pointer.h"
#include "json/text.h"

namespace slipway::json {

namespace {

enum class PatchKind : std::uint8_t { Add, Remove, Replace, Move, Copy, Test };

struct Operation {
  PatchKind kind = PatchKind::Test;
  std::string path_text;
  std::vector<std::string> path;
  std::vector<std::string> from;
  Value value;
};

std::unexpected<Status> malformed(std::size_t index, std::string_view why) {
  return fail(Reason::BadRequest, fmt::format("json patch: operation {}: {}", index, why));
}

Result<PatchKind> kind_of(const Value& operation, std::size_t index) {
  constexpr std::string_view kNames[] = {"add", "remove", "replace", "move", "copy", "test"};
  const Value& op = operation["op"];
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (op.is_string() && op.as_string() == kNames[i]) return static_cast<PatchKind>(i);
  }
  return malformed(index, fmt::format("unknown \"op\": {} (add, remove, replace, move, copy and test are known)", print(op)));
}

Result<std::vector<std::string>> pointer_of(const Value& operation, std::string_view name, std::size_t index) {
  const Value& pointer = operation[name];
  if (!pointer.is_string()) return malformed(index, fmt::format("\"{}\" must be a string", name));
  auto parts = parse_pointer(pointer.as_string());
  if (!parts) return malformed(index, parts.error().message);
  return parts;
}

Result<Operation> read_operation(const Value& operation, std::size_t index) {
  if (!operation.is_object()) return malformed(index, "must be an object");
  Operation result;
  SLIPWAY_TRY(kind, kind_of(operation, index));
  SLIPWAY_TRY(path, pointer_of(operation, "path", index));
  result.kind = kind;
  result.path = std::move(path);
  result.path_text = operation["path"].str();
  if (kind == PatchKind::Move || kind == PatchKind::Copy) {
    SLIPWAY_TRY(from, pointer_of(operation, "from", index));
    result.from = std::move(from);
  } else if (kind != PatchKind::Remove) {
    if (!operation.has("value")) return malformed(index, "\"value\" is missing");
    result.value = operation["value"];
  }
  return result;
}

class Patcher {
 public:
  explicit Patcher(Value document) : document_(std::move(document)), depth_(document_.depth()) {}

  Result<void> apply(const Operation& operation);
  Value take() { return std::move(document_); }

 private:
  Result<void> add(const Operation& operation, std::string_view verb, Value value, std::size_t depth);
  Result<void> replace(const Operation& operation);
  Result<void> bound_depth(std::size_t depth);
  Result<void> move(const Operation& operation);
  Result<void> copy(const Operation& operation);
  Result<void> test(const Operation& operation);
  Result<void> settle(Result<Value> changed, std::string_view verb);
  Result<void> spend(const Value& value);
  std::unexpected<Status> does_not_apply(std::string_view verb, std::string_view why) {
    return fail(Reason::Invalid, fmt::format("{} operation does not apply: {}", verb, why));
  }

  Value document_;
  std::size_t depth_;  // never less than the document's
  std::size_t copied_ = 0;
};

Result<void> Patcher::apply(const Operation& operation) {
  switch (operation.kind) {
    case PatchKind::Add:
      return add(operation, "add", operation.value, operation.value.depth());
    case PatchKind::Replace:
      return replace(operation);
    case PatchKind::Remove:
      return settle(remove_at(document_, operation.path), "remove");
    case PatchKind::Move:
      return move(operation);
    case PatchKind::Copy:
      return copy(operation);
    case PatchKind::Test:
      return test(operation);
  }
  return {};
}

Result<void> Patcher::settle(Result<Value> changed, std::string_view verb) {
  if (!changed) return does_not_apply(verb, "doc is " + changed.error().message);
  document_ = std::move(*changed);
  return {};
}

Result<void> Patcher::add(const Operation& operation, std::string_view verb, Value value, std::size_t depth) {
  SLIPWAY_TRY_VOID(settle(add_at(document_, operation.path, std::move(value)), verb));
  return bound_depth(operation.path.size() + depth);
}

Result<void> Patcher::replace(const Operation& operation) {
  if (get_at(document_, operation.path) == nullptr) {
    return does_not_apply("replace", fmt::format("doc is missing key: {}: missing value", operation.path_text));
  }
  SLIPWAY_TRY_VOID(settle(replace_at(document_, operation.path, operation.value), "replace"));
  return bound_depth(operation.path.size() + operation.value.depth());
}

// Depth is followed by an upper bound; it is measured only when that passes the limit.
Result<void> Patcher::bound_depth(std::size_t depth) {
  depth_ = std::max(depth_, depth);
  if (depth_ <= kMostPatchDepth) return {};
  SLIPWAY_TRY_VOID(spend(document_));
  depth_ = document_.depth();
  if (depth_ <= kMostPatchDepth) return {};
  return fail(Reason::RequestEntityTooLarge,
              fmt::format("json patch: the result is nested deeper than {} levels", kMostPatchDepth));
}

// Counts bytes that a patch makes us handle beyond its own length.
Result<void> Patcher::spend(const Value& value) {
  copied_ += print(value).size();
  if (copied_ <= kMostPatchCopiedBytes) return {};
  return fail(Reason::RequestEntityTooLarge,
              fmt::format("json patch: unable to copy, the accumulated size increase of copy is {}, exceeding the limit {}",
                          copied_, kMostPatchCopiedBytes));
}

Result<void> Patcher::move(const Operation& operation) {
  const Value* found = get_at(document_, operation.from);
  if (found == nullptr)
    return does_not_apply("move", fmt::format("doc is missing from path: {}", print_pointer(operation.from)));
  if (operation.from == operation.path) return {};
  const bool into_itself = operation.from.size() < operation.path.size() &&
                           std::equal(operation.from.begin(), operation.from.end(), operation.path.begin());
  if (into_itself) return does_not_apply("move", fmt::format("\"{}\" lies inside what is moved", operation.path_text));
  Value moved = *found;
  SLIPWAY_TRY_VOID(settle(remove_at(document_, operation.from), "move"));
  const std::size_t depth = depth_ > operation.from.size() ? depth_ - operation.from.size() : 0;
  return add(operation, "move", std::move(moved), depth);
}

Result<void> Patcher::copy(const Operation& operation) {
  const Value* found = get_at(document_, operation.from);
  if (found == nullptr)
    return does_not_apply("copy", fmt::format("doc is missing from path: {}", print_pointer(operation.from)));
  SLIPWAY_TRY_VOID(spend(*found));
  return add(operation, "copy", *found, found->depth());
}

Result<void> Patcher::test(const Operation& operation) {
  const Value* found = get_at(document_, operation.path);
  if (found == nullptr ? operation.value.is_null() : *found == operation.value) return {};
  return fail(Reason::Invalid, fmt::format("testing value {} failed: test failed", operation.path_text));
}

}  // namespace

Result<Value> apply_json_patch(const Value& document, const Value& patch) {
  if (!patch.is_array()) return fail(Reason::BadRequest, "json patch: must be an array of operations");
  if (patch.size() > kMostPatchOperations) {
    return fail(Reason::RequestEntityTooLarge, fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                                           kMostPatchOperations, patch.size()));
  }
  std::vector<Operation> operations;
  operations.reserve(patch.size());
  for (const Value& one : patch.items()) {
    SLIPWAY_TRY(operation, read_operation(one, operations.size()));
    operations.push_back(std::move(operation));
  }
  Patcher patcher(document);
  for (const Operation& operation : operations) SLIPWAY_TRY_VOID(patcher.apply(operation));
  return patcher.take();
}

Value apply_merge_patch(const Value& target, const Value& patch) {
  if (!patch.is_object()) return patch;
  ObjectBuilder merged(target);
  for (auto [key, change] : patch.members()) {
    // A new null is set first and taken out below, so that the order of the rest stays.
    merged.set(key, change.is_null() ? Value() : apply_merge_patch(target[key], change));
  }
  Value result = merged.build();
  ObjectBuilder kept(result.size());
  bool deletes = false;
  for (auto [key, value] : result.members()) {
    const Value* change = patch.find(key);
    if (change != nullptr && change->is_null()) {
      deletes = true;
    } else {
      kept.add(key, value);
    }
  }
  return deletes ? kept.build() : result;
}

Value create_merge_patch(const Value& from, const Value& to) {
  if (!from.is_object() || !to.is_object()) return to;
  ObjectBuilder patch;
  for (auto [key, old] : from.members()) {
    const Value* now = to.find(key);
    if (now == nullptr) {
      patch.add(key, Value());
    } else if (!(*now == old)) {
      patch.add(key, create_merge_patch(old, *now));
    }
  }
  for (auto [key, value] : to.members()) {
    if (!from.has(key)) patch.add(key, value);
  }
  return patch.build();
}

namespace {

// The part of a merge patch that deletes, or the part that sets.
Value filter_nulls(const Value& patch, bool keep_nulls) {
  ObjectBuilder kept;
  for (auto [key, value] : patch.members()) {
    if (value.is_object() && !value.empty()) {
      Value inner = filter_nulls(value, keep_nulls);
      if (!inner.empty()) kept.add(key, std::move(inner));
    } else if (value.is_null() == keep_nulls) {
      kept.add(key, value);
    }
  }
  return kept.build();
}

// Puts the members of two patches together.
Value join_patches(const Value& first, const Value& second) {
  if (!first.is_object() || !second.is_object()) return second;
  ObjectBuilder joined(first);
  for (auto [key, value] : second.members()) {
    const Value* old = first.find(key);
    joined.set(key, old ? join_patches(*old, value) : value);
  }
  return joined.build();
}

}  // namespace

Value create_three_way_merge_patch(const Value& original, const Value& modified, const Value& current) {
  const Value sets = filter_nulls(create_merge_patch(current, modified), false);
  const Value deletes = filter_nulls(create_merge_patch(original, modified), true);
  return join_patches(deletes, sets);
}

}  // namespace slipway::json
