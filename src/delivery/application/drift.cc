#include "delivery/application/drift.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// What an entry of managedFields says at a path; null: the entry does not own it.
struct Ownership {
  std::string_view manager;
  std::string_view time;
  const Value* fields = nullptr;
};
using Owners = std::vector<Ownership>;

/// An owned struct or list that is atomic has nothing below it and covers all of it.
const Value* below(const Value* fields, const std::string& key) {
  if (fields == nullptr || (fields->is_object() && fields->empty())) return fields;
  const Value& found = (*fields)[key];
  return found.is_null() ? nullptr : &found;
}

const Value* item_below(const Value* fields, std::string_view name) {
  if (fields == nullptr || (fields->is_object() && fields->empty())) return fields;
  for (const auto& [key, value] : fields->members()) {
    if (!key.starts_with("k:")) continue;
    const auto keys = json::parse(key.substr(2));
    if (keys && (*keys)["name"].as_string() == name) return &value;
  }
  return nullptr;
}

Owners down(Owners owners, const auto& step) {
  for (Ownership& owner : owners) owner.fields = step(owner.fields);
  return owners;
}

/// The name of the newest manager that owns the field; empty: it has no owner.
std::string newest(const Owners& owners) {
  const Ownership* found = nullptr;
  for (const Ownership& owner : owners) {
    if (owner.fields != nullptr && (found == nullptr || found->time < owner.time)) found = &owner;
  }
  return found == nullptr ? "" : std::string(found->manager);
}

const Value* item_named(const Value& list, const Value& wanted, std::size_t index) {
  const Value& name = wanted["name"];
  if (!name.is_string()) return index < list.size() ? &list.item(index) : nullptr;
  const auto items = list.items();
  const auto at = std::ranges::find_if(items, [&](const Value& one) { return one["name"] == name; });
  return at == items.end() ? nullptr : &*at;
}

/// Walks both; `found` null: only whether something differs is asked, and the walk ends at the first.
class Comparison {
 public:
  explicit Comparison(std::vector<DriftedField>* found) : found_(found) {}

  bool differs(const Value& wanted, const Value& live, const std::string& path, const Owners& owners) {
    if (wanted.is_null()) return false;
    if (wanted.is_object() && live.is_object()) return members_differ(wanted, live, path, owners);
    if (wanted.is_object()) return wanted.empty() && live.is_null() ? false : tell(path, owners);
    if (wanted.is_array() && live.is_array()) return items_differ(wanted, live, path, owners);
    if (wanted.is_array()) return wanted.empty() && live.is_null() ? false : tell(path, owners);
    if (wanted.is_string() && wanted.as_string().empty() && live.is_null()) return false;
    return wanted == live ? false : tell(path, owners);
  }

 private:
  bool tell(const std::string& path, const Owners& owners) {
    if (found_ == nullptr) return true;
    found_->push_back({path, newest(owners)});
    return true;
  }

  bool members_differ(const Value& wanted, const Value& live, const std::string& path, const Owners& owners) {
    bool is_other = false;
    for (const auto& [key, value] : wanted.members()) {
      const std::string name(key);
      if (found_ == nullptr) {
        if (differs(value, live[key], path, owners)) return true;
        continue;
      }
      const Owners here = down(owners, [&](const Value* fields) { return below(fields, "f:" + name); });
      is_other |= differs(value, live[key], path.empty() ? name : fmt::format("{}.{}", path, name), here);
    }
    return is_other;
  }

  bool items_differ(const Value& wanted, const Value& live, const std::string& path, const Owners& owners) {
    bool is_other = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Value& item = wanted.item(i);
      const Value* other = item_named(live, item, i);
      const bool is_named = item["name"].is_string();
      const std::string at =
          found_ == nullptr ? "" : fmt::format("{}[{}]", path, is_named ? item["name"].str() : fmt::to_string(i));
      const Owners here = found_ == nullptr || !is_named
                              ? owners
                              : down(owners, [&](const Value* fields) { return item_below(fields, item["name"].as_string()); });
      is_other |= other == nullptr ? tell(at, here) : differs(item, *other, at, here);
      if (is_other && found_ == nullptr) return true;
    }
    return is_other;
  }

  std::vector<DriftedField>* found_;
};

bool compare(const Value& wanted, const Value& live, const Owners& owners, std::vector<DriftedField>* found) {
  Comparison comparison(found);
  bool is_other = false;
  const auto at = [&](const Owners& from, const std::string& key) {
    return down(from, [&](const Value* fields) { return below(fields, "f:" + key); });
  };
  for (const auto& [name, value] : wanted.members()) {
    const std::string key(name);
    if (key == "status" || key == "apiVersion") continue;
    if (key == "metadata") {
      for (const char* part : {"labels", "annotations"}) {
        is_other |= comparison.differs(value[part], live["metadata"][part], "metadata." + std::string(part),
                                       at(at(owners, "metadata"), part));
      }
      continue;
    }
    is_other |= comparison.differs(value, live[key], key, at(owners, key));
    if (is_other && found == nullptr) return true;
  }
  return is_other;
}

}  // namespace

bool has_drifted(const Value& wanted, const Value& live) { return compare(wanted, live, {}, nullptr); }

std::vector<DriftedField> drifted_fields(const Value& wanted, const Value& live, std::string_view own) {
  Owners owners;
  for (const Value& entry : live["metadata"]["managedFields"].items()) {
    if (entry["manager"].as_string() == own || entry["subresource"].as_string() == "status") continue;
    owners.push_back({entry["manager"].as_string(), entry["time"].as_string(), &entry["fieldsV1"]});
  }
  std::vector<DriftedField> found;
  compare(wanted, live, owners, &found);
  return found;
}

std::optional<Duration> RepairLog::put_off(const ObjectId& object, const std::vector<DriftedField>& fields, Steady now) {
  std::optional<Duration> longest;
  std::vector<Entry*> contested;
  for (const DriftedField& field : fields) {
    const auto at = fields_.find({object, field.path});
    if (at == fields_.end() || !at->second.is_contested) continue;
    Entry& entry = at->second;
    if (now - entry.last_seen >= kPause) {
      fields_.erase(at);
      continue;
    }
    if (!field.manager.empty()) entry.manager = field.manager;
    entry.last_seen = std::max(entry.last_seen, now);
    contested.push_back(&entry);
    const Duration since = now - entry.repairs.back();
    if (since < kPause) longest = std::max(longest.value_or(Duration{0}), kPause - since);
  }
  // They differ until they are repaired, however late the next look is.
  for (Entry* entry : contested) {
    if (longest) entry->last_seen = now + *longest;
  }
  return longest;
}

void RepairLog::repaired(const ObjectId& object, const std::vector<DriftedField>& fields, Steady now) {
  for (const DriftedField& field : fields) {
    Entry& entry = fields_[{object, field.path}];
    std::erase_if(entry.repairs, [&](Steady at) { return now - at > kWindow; });
    entry.repairs.push_back(now);
    entry.last_seen = now;
    if (!field.manager.empty()) entry.manager = field.manager;
    entry.is_contested = entry.is_contested || entry.repairs.size() >= kMostRepairs;
    if (entry.is_contested) entry.repairs = {now};
  }
}

std::vector<std::string> RepairLog::contested(Steady now) {
  std::erase_if(fields_, [&](const auto& one) { return now - one.second.last_seen >= kPause; });
  std::vector<std::string> told;
  for (const auto& [key, entry] : fields_) {
    if (!entry.is_contested) continue;
    told.push_back(fmt::format("{} of {} is changed again and again{}: it is put right once a minute", key.second,
                               key.first.to_string(), entry.manager.empty() ? "" : fmt::format(" by \"{}\"", entry.manager)));
  }
  return told;
}

std::optional<Duration> RepairLog::next(Steady now) const {
  std::optional<Duration> soonest;
  for (const auto& [key, entry] : fields_) {
    const auto left = std::clamp<Duration>(kPause - (now - entry.last_seen), std::chrono::milliseconds{1}, kPause);
    if (entry.is_contested) soonest = std::min(soonest.value_or(left), left);
  }
  return soonest;
}

}  // namespace slipway::delivery::application
