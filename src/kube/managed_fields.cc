#include "kube/managed_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace slipway::kube {
namespace {

using json::Value;

std::string_view text_of(ManagedOperation operation) { return operation == ManagedOperation::Apply ? "Apply" : "Update"; }

Value entry_of(ManagedOperation operation, const Writer& writer, const Value& time, Value fields) {
  json::ObjectBuilder entry(7);
  entry.add("manager", writer.manager).add("operation", text_of(operation)).add("apiVersion", writer.api_version);
  if (time.is_string()) entry.add("time", time);
  entry.add("fieldsType", "FieldsV1").add("fieldsV1", std::move(fields));
  if (!writer.subresource.empty()) entry.add("subresource", writer.subresource);
  return entry.build();
}

/// Times are all written by to_rfc3339, so their text sorts as they do; no time comes first.
auto rank_of(const Value& entry) {
  return std::tuple(entry["operation"].as_string(), entry["time"].as_string(), entry["manager"].as_string(),
                    entry["apiVersion"].as_string(), entry["subresource"].as_string());
}

std::size_t member_count(const Value& fields) {
  std::size_t count = 0;
  for (auto [key, below] : fields.members()) {
    if (key != ".") count += (below.empty() || below.has(".") ? 1 : 0) + member_count(below);
  }
  return count;
}

struct Decoded {
  ManagedOperation operation;
  Writer writer;
  Value time;
  FieldSet fields;
};

Result<Decoded> decode_entry(const Value& entry, std::size_t at) {
  Decoded result;
  const std::string_view operation = entry["operation"].as_string();
  if (operation != "Apply" && operation != "Update") {
    return fail(Reason::BadRequest, "operation must be `Apply` or `Update`");
  }
  result.operation = operation == "Apply" ? ManagedOperation::Apply : ManagedOperation::Update;
  if (entry["apiVersion"].as_string().empty()) return fail(Reason::BadRequest, "apiVersion must not be empty");
  const std::string_view fields_type = entry["fieldsType"].as_string();
  if (fields_type.empty()) return fail(Reason::BadRequest, fmt::format("missing fieldsType in managed fields entry {}", at));
  if (fields_type != "FieldsV1") {
    return fail(Reason::BadRequest, fmt::format("invalid fieldsType \"{}\" in managed fields entry {}", fields_type, at));
  }
  result.writer = {entry["manager"].str(), entry["apiVersion"].str(), entry["subresource"].str()};
  if (!entry["time"].is_null()) {
    SLIPWAY_TRY(time, parse_rfc3339(entry["time"].as_string()));
    result.time = to_rfc3339(time);
  }
  SLIPWAY_TRY(fields, FieldSet::from_fields_v1(entry["fieldsV1"]));
  result.fields = std::move(fields);
  return result;
}

}  // namespace

ManagedFields ManagedFields::stored(const Value& list) {
  ManagedFields result;
  result.source_ = list;
  result.rows_.reserve(list.size() + 1);
  for (const Value& entry : list.items()) result.rows_.push_back({entry});
  return result;
}

Result<ManagedFields> ManagedFields::decode(const Value& list) {
  ManagedFields result;
  for (std::size_t at = 0; at < list.size(); ++at) {
    SLIPWAY_TRY(decoded, decode_entry(list.item(at), at));
    const std::size_t earlier = result.find(decoded.operation, decoded.writer);
    if (earlier != kNone) result.rows_.erase(result.rows_.begin() + static_cast<std::ptrdiff_t>(earlier));
    if (decoded.fields.empty()) continue;
    result.rows_.push_back(
        {entry_of(decoded.operation, decoded.writer, decoded.time, decoded.fields.to_fields_v1()), std::move(decoded.fields)});
  }
  return result;
}

bool ManagedFields::is_reset(const Value& list) {
  if (!list.is_array()) return false;
  return list.empty() || (list.size() == 1 && list.item(0).is_object() && list.item(0).empty());
}

std::size_t ManagedFields::find(ManagedOperation wanted, const Writer& writer) const {
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    if (manager(at) != writer.manager || operation(at) != wanted) continue;
    if (rows_[at].entry["subresource"].as_string() != writer.subresource) continue;
    if (wanted == ManagedOperation::Apply || api_version(at) == writer.api_version) return at;
  }
  return kNone;
}

ManagedOperation ManagedFields::operation(std::size_t at) const {
  return rows_[at].entry["operation"].as_string() == "Apply" ? ManagedOperation::Apply : ManagedOperation::Update;
}

std::string ManagedFields::title(std::size_t at) const {
  std::string out = fmt::format("\"{}\"", manager(at));
  const std::string_view subresource = rows_[at].entry["subresource"].as_string();
  if (!subresource.empty()) out += fmt::format(" with subresource \"{}\"", subresource);
  if (operation(at) == ManagedOperation::Update) out += fmt::format(" using {}", api_version(at));
  return out;
}

const FieldSet& ManagedFields::fields(std::size_t at) const {
  const Row& row = rows_[at];
  if (!row.fields) {
    row.fields = FieldSet::from_fields_v1(row.entry["fieldsV1"], FieldSet::Spelling::Ours).value_or(FieldSet());
  }
  return *row.fields;
}

Overlap ManagedFields::overlap(std::size_t at, const FieldSet& set) const {
  const Row& row = rows_[at];
  return kube::overlap(row.is_changed ? row.fields->to_fields_v1() : row.entry["fieldsV1"], set);
}

bool ManagedFields::owns_exactly(std::size_t at, const FieldSet& set) const {
  const Row& row = rows_[at];
  if (row.fields) return *row.fields == set;
  return overlap(at, set).covers && member_count(row.entry["fieldsV1"]) == set.size();
}

void ManagedFields::set_fields(std::size_t at, FieldSet fields) {
  Row& row = rows_[at];
  row.fields = std::move(fields);
  row.is_changed = true;
}

void ManagedFields::set_time(std::size_t at, Time time) {
  Row& row = rows_[at];
  Value text = to_rfc3339(time);
  if (row.entry["time"] == text) return;
  if (row.entry.has("time")) {
    row.entry = row.entry.with("time", std::move(text));
    return;
  }
  const Writer writer{row.entry["manager"].str(), row.entry["apiVersion"].str(), row.entry["subresource"].str()};
  row.entry = entry_of(operation(at), writer, text, row.entry["fieldsV1"]);
}

void ManagedFields::put(ManagedOperation operation, const Writer& writer, FieldSet fields, Time time) {
  const std::size_t at = find(operation, writer);
  if (at == kNone) {
    if (fields.empty()) return;
    rows_.push_back({entry_of(operation, writer, to_rfc3339(time), Value::empty_object())});
    return set_fields(rows_.size() - 1, std::move(fields));
  }
  Row& row = rows_[at];
  if (row.entry["apiVersion"].as_string() != writer.api_version) row.entry = row.entry.with("apiVersion", writer.api_version);
  set_time(at, time);
  set_fields(at, std::move(fields));
}

void ManagedFields::cap_updaters() {
  std::vector<std::size_t> updaters;
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    if (operation(at) == ManagedOperation::Update && (!rows_[at].is_changed || !rows_[at].fields->empty()))
      updaters.push_back(at);
  }
  if (updaters.size() <= kMaxUpdaters) return;
  auto age = [this](std::size_t at) {
    const Value& entry = rows_[at].entry;
    return std::tuple(entry["time"].as_string(), manager(at), api_version(at), entry["subresource"].as_string());
  };
  std::ranges::sort(updaters, [&](std::size_t left, std::size_t right) { return age(left) < age(right); });
  // The first of a version is joined only once a second one of that version comes.
  std::vector<std::pair<std::string, std::size_t>> first_of_version;
  std::size_t count = updaters.size();
  for (std::size_t at : updaters) {
    if (count <= kMaxUpdaters) break;
    const std::string version(api_version(at));
    auto first = std::ranges::find(first_of_version, version, [](const auto& one) { return one.first; });
    if (first == first_of_version.end()) {
      first_of_version.emplace_back(version, at);
      continue;
    }
    const Writer ancient{std::string(kAncientManager), version, ""};
    const Value time = rows_[at].entry["time"];  // the later of the two
    std::size_t bucket = find(ManagedOperation::Update, ancient);
    if (bucket == kNone || bucket == at) bucket = first->second;
    if (bucket == at) continue;
    FieldSet joined = unite(fields(at), fields(bucket));
    rows_[bucket].entry = entry_of(ManagedOperation::Update, ancient, time, Value::empty_object());
    set_fields(bucket, std::move(joined));
    set_fields(at, {});
    --count;
  }
}

Value ManagedFields::encode() const {
  std::vector<Value> entries;
  entries.reserve(rows_.size());
  for (const Row& row : rows_) {
    if (!row.is_changed) {
      entries.push_back(row.entry);
    } else if (!row.fields->empty()) {
      entries.push_back(row.entry.with("fieldsV1", row.fields->to_fields_v1()));
    }
  }
  if (entries.empty()) return {};
  auto comes_before = [](const Value& left, const Value& right) { return rank_of(left) < rank_of(right); };
  if (!std::ranges::is_sorted(entries, comes_before)) std::ranges::sort(entries, comes_before);
  auto is_same = [](const Value& left, const Value& right) { return left.is_same(right); };
  if (std::ranges::equal(entries, source_.items(), is_same)) return source_;
  return json::array(std::span<const Value>(entries));
}

}  // namespace slipway::kube
