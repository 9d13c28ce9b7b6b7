#include "delivery/rollout/traffic_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/digest.h"
#include "delivery/rollout/traffic_edit.h"
#include "delivery/rollout/traffic_match.h"
#include "json/text.h"
#include "kube/quantity.h"

namespace slipway::delivery::rollout {

using json::Value;
using Naming = TrafficRow::Naming;

namespace {

constexpr std::string_view kLatest = "@latest";
constexpr std::int64_t kWhole = 100;

std::span<const Value> rules_of(const EntryList& list, const Value& document, Value& holder) {
  holder = list.rules.empty() ? json::array({document}) : value_at(document, list.rules);
  return holder.items();
}

Value with_rules(const EntryList& list, const Value& document, const Value& rules) {
  if (!list.rules.empty()) return with_value(document, list.rules, rules);
  return rules.item(0);
}

/// Members in the order of their names: an entry that was renamed twice has others in another order than before.
Value sorted(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder items;
    for (const Value& item : value.items()) items.add(sorted(item));
    return items.build();
  }
  if (!value.is_object()) return value;
  std::map<std::string, Value> members;
  for (const auto [key, member] : value.members()) members.emplace(key, sorted(member));
  json::ObjectBuilder object;
  for (auto& [key, member] : members) object.add(key, std::move(member));
  return object.build();
}

std::string digest(const Value& value) { return fmt::format("{:08x}", fnv1a_32(json::print(sorted(value)))); }

std::string state_of(const EntryList& list, const Value& rule) {
  return digest(list.rules.empty() ? value_at(rule, list.entries) : rule);
}

}  // namespace

/// Which entries of a list are meant. Either both `source` and `target` (the user's own pair), or `base` alone.
struct Entries::Pair {
  std::optional<std::size_t> base;
  std::optional<std::size_t> source;
  std::optional<std::size_t> target;

  bool is_own() const { return source && target; }
  bool has(std::size_t i) const { return base == i || source == i || target == i; }
};

// --- names

std::string Entries::target() const { return row_.naming == Naming::Revision ? std::string(kLatest) : route_.target_service; }

bool Entries::names_host(const Value& entry, std::string_view service) const {
  const std::string_view host = value_at(entry, "/destination/host").as_string();
  if (host == service) return true;
  const std::string qualified = fmt::format("{}.{}", service, route_.ns);
  return host.starts_with(qualified) && (host.size() == qualified.size() || host[qualified.size()] == '.');
}

bool Entries::names(const Value& entry, std::string_view service) const {
  if (service.empty() || entry["mirror"].as_bool()) return false;
  const std::string_view name = value_at(entry, row_.name_path).as_string();
  const auto is_or_absent = [&](std::string_view member, std::string_view wanted) {
    return !entry.has(member) || entry[member].as_string() == wanted;
  };
  switch (row_.naming) {
    case Naming::Plain:
    case Naming::KumaTag:
      return name == entry_name(row_, route_, service);
    case Naming::Backend:
      return name == service && is_or_absent("kind", "Service") && is_or_absent("group", "") &&
             is_or_absent("namespace", route_.ns);
    case Naming::Host:
      return names_host(entry, service);
    case Naming::Subset:
      return names_host(entry, route_.service) && name == (service == route_.service ? "" : service);
    case Naming::Upstream:
      return name == entry_name(row_, route_, service) ||
             name == fmt::format("{}-{}-{}", route_.ns, service, route_.port.value_or(80));
    case Naming::Revision:
      if (service == kLatest || service == route_.service) return entry["latestRevision"].as_bool();
      return name == service;
  }
  return false;
}

Value Entries::renamed(const Value& entry, std::string_view service) const {
  if (row_.naming == Naming::Revision) {
    return service == kLatest ? entry.without("revisionName").with("latestRevision", true)
                              : entry.without("latestRevision").without("tag").with("revisionName", service);
  }
  std::string name = entry_name(row_, route_, service);
  if (row_.naming == Naming::Host) {
    const std::string_view host = value_at(entry, "/destination/host").as_string();
    name += host.substr(std::min(host.find('.'), host.size()));
  }
  const Value changed = with_value(entry, row_.name_path, name);
  return row_.naming == Naming::Upstream ? with_value(changed, "/destination/upstream/namespace", route_.ns) : changed;
}

std::optional<std::size_t> Entries::find(const Value& entries, std::string_view service) const {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (names(entries.item(i), service)) return i;
  }
  return std::nullopt;
}

std::vector<std::string_view> Entries::touched() const {
  std::vector<std::string_view> paths = {row_.name_path, row_.weight == "percent" ? "/percent" : "/weight"};
  if (row_.naming == Naming::Upstream) paths.push_back("/destination/upstream/namespace");
  if (row_.naming == Naming::Revision) paths.insert(paths.end(), {"/latestRevision", "/tag"});
  return paths;
}

Value Entries::snapshot(const Value& entry) const {
  Value taken = Value::empty_object();
  for (const std::string_view path : touched()) {
    if (const Value& value = value_at(entry, path); !value.is_null()) taken = taken.with(path, value);
  }
  return taken;
}

Value Entries::restored(const Value& entry, const Value& snapshot) const {
  Value back = entry;
  for (const std::string_view path : touched()) {
    if (snapshot.has(path)) {
      back = with_value(back, path, snapshot[path]);
    } else if (!value_at(back, path).is_null()) {
      back = without_value(back, path);
    }
  }
  return back;
}

// --- weights

std::int64_t Entries::units(const Value& entry) const {
  const Value& weight = entry[row_.weight];
  if (!weight.is_string()) return weight.as_int(row_.needs_weight ? 0 : 1);
  const auto quantity = kube::Quantity::parse(weight.as_string());
  return quantity ? quantity->units() : 0;
}

Value Entries::amount(std::int64_t weight) const {
  return row_.codec == TrafficRow::Codec::Quantity ? Value(std::to_string(weight)) : Value(weight);
}

Result<Entries::Weights> Entries::weights(const Value& entries, const Pair& pair, std::int64_t percent) const {
  std::int64_t others = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!pair.has(i) && !entries.item(i)["mirror"].as_bool()) others += units(entries.item(i));
  }
  if (others == 0) return Weights{amount(kWhole - percent), amount(percent)};
  // Other entries keep their share, so the pair gets what its entry had: 80 of 100 at 10 percent are 72 and 8.
  const std::int64_t whole =
      pair.is_own() ? units(entries.item(*pair.source)) + units(entries.item(*pair.target)) : units(entries.item(*pair.base));
  if (whole < kWhole && whole * percent % kWhole != 0) {
    return fail(Reason::Invalid,
                fmt::format("traffic: {} percent of the weight {} that {} has beside other entries is no whole "
                            "number; multiply the weights of that list by 100",
                            percent, whole, route_.service));
  }
  const std::int64_t share = (whole * percent + kWhole / 2) / kWhole;
  return Weights{amount(whole - share), amount(share)};
}

std::optional<std::int64_t> Entries::weight(const Value& document, const Value& record) const {
  if (record["target"].as_string() != target()) return std::nullopt;
  for (const EntryList& list : row_.lists) {
    Value holder;
    for (const Value& rule : rules_of(list, document, holder)) {
      const Value& entries = value_at(rule, list.entries);
      const auto target_at = find(entries, target());
      const auto source_at = find(entries, record["source"].as_string());
      if (!source_at) continue;
      if (!target_at) return 0;
      const std::int64_t share = units(entries.item(*target_at));
      const std::int64_t whole = share + units(entries.item(*source_at));
      return whole == 0 ? 0 : (share * kWhole + whole / 2) / whole;
    }
  }
  return std::nullopt;
}

// --- taking back

std::string Entries::key_of(const EntryList& list, const Value& rule) const {
  if (list.rules.empty()) return "";
  if (const std::string_view name = rule["name"].as_string(); !name.empty()) return std::string(name);
  return digest(without_value(rule, list.entries));
}

bool Entries::is_only_target(const Value& entries, std::string_view target) const {
  return entries.size() == 1 && names(entries.item(0), target);
}

Value Entries::without_pair(const EntryList& list, const Value& rule, const Value& kept, const Value& record, bool target_stays,
                            Value& target) const {
  Value entries = value_at(rule, list.entries);
  const auto source_at = find(entries, record["source"].as_string());
  const auto target_at = find(entries, record["target"].as_string());
  if (!kept.has("was")) {  // the user's own pair
    for (const auto& [at, member] : {std::pair{source_at, "source"}, std::pair{target_at, "target"}}) {
      if (at && !target_stays) entries = entries.with_item(*at, restored(entries.item(*at), kept[member]));
    }
    return with_value(rule, list.entries, entries);
  }
  const std::size_t at = source_at.value_or(target_at.value_or(0));
  if (target_at) target = entries.item(*target_at);
  Value back = restored(entries.item(at), kept["was"]);
  if (target_stays && kept["direct"].as_bool()) back = renamed(back, record["target"].as_string());
  entries = entries.with_item(at, back);
  if (target_at && target_at != at) entries = entries.without_item(*target_at);
  return with_value(rule, list.entries, entries);
}

Entries::Base Entries::take_back(const Value& document, const Value& record, bool target_stays) const {
  Base base{.document = document, .reusable = {}};
  if (record.is_null()) return base;
  const std::string_view source = record["source"].as_string();
  const std::string_view target = record["target"].as_string();
  std::vector<Value> kept(record["rules"].items().begin(), record["rules"].items().end());
  for (std::size_t index = 0; index < row_.lists.size(); ++index) {
    const EntryList& list = row_.lists[index];
    Value holder;
    std::vector<Value> rules;
    for (Value rule : rules_of(list, base.document, holder)) {
      const Value& entries = value_at(rule, list.entries);
      const auto at = find(entries, source) ? find(entries, source) : find(entries, target);
      if (!at || is_only_target(entries, target)) {
        rules.push_back(rule);
        continue;
      }
      rule = without_mirror(row_, list, rule, renamed(entries.item(*at), target));
      const std::string key = key_of(list, rule);
      const auto is_of_list = [&](const Value& one) { return one["list"].as_int() == static_cast<std::int64_t>(index); };
      auto found = std::ranges::find_if(kept, [&](const Value& one) { return is_of_list(one) && one["key"] == Value(key); });
      if (found == kept.end()) found = std::ranges::find_if(kept, is_of_list);
      if (found == kept.end()) {
        rules.push_back(rule);
        continue;
      }
      Reusable own{.list = index, .state = "", .matches = (*found)["matches"], .rules = {}, .target = {}};
      for (auto added = (*found)["added"].as_int(); added > 0 && !rules.empty(); --added) {
        if (!is_only_target(value_at(rules.back(), list.entries), target)) break;
        own.rules.insert(own.rules.begin(), rules.back());
        rules.pop_back();
      }
      rules.push_back(without_pair(list, rule, *found, record, target_stays, own.target));
      own.state = state_of(list, rules.back());
      if ((*found)["state"] == Value(own.state)) base.reusable.push_back(std::move(own));
      kept.erase(found);
    }
    if (!holder.is_null()) base.document = with_rules(list, base.document, json::array(rules));
  }
  return base;
}

// --- writing

Entries::Pair Entries::pair_in(const Value& entries) const {
  const Pair own{.base = std::nullopt, .source = find(entries, route_.source_service), .target = find(entries, target())};
  if (own.is_own() && own.source != own.target) return own;
  const auto base = find(entries, route_.service);
  return {.base = base ? base : own.source, .source = std::nullopt, .target = std::nullopt};
}

Result<Entries::WrittenPair> Entries::write_pair(const Value& entries, const Pair& pair, const Reusable* used,
                                                 std::int64_t percent) const {
  SLIPWAY_TRY(share, weights(entries, pair, percent));
  const Value& own = entries.item(pair.is_own() ? *pair.target : *pair.base);
  WrittenPair written{.entries = entries, .target = renamed(own, target()).without(row_.weight), .record = {}};
  if (pair.is_own()) {
    const Value& source = entries.item(*pair.source);
    written.record = json::object({{"source", snapshot(source)}, {"target", snapshot(own)}});
    written.entries = entries.with_item(*pair.source, source.with(row_.weight, share.source))
                          .with_item(*pair.target, own.with(row_.weight, share.target));
    return written;
  }
  written.record = json::object({{"was", snapshot(own)}});
  if (!names(own, route_.service)) written.record = written.record.with("direct", true);
  if (used != nullptr && covers(used->target, written.target)) written.target = used->target.without(row_.weight);
  Value source = renamed(own, route_.source_service);
  if (percent == 0 && row_.zero == TrafficRow::Zero::EntryLeftOut) {
    if (row_.needs_weight && !own.has(row_.weight)) source = source.with(row_.weight, amount(kWhole));
    written.entries = entries.with_item(*pair.base, source);
  } else {
    written.entries = entries.with_item(*pair.base, source.with(row_.weight, share.source))
                          .inserted(*pair.base + 1, written.target.with(row_.weight, share.target));
  }
  return written;
}

Result<bool> Entries::write_rule(const EntryList& list, const Value& rule, const Base& base, const Split& split,
                                 json::ArrayBuilder& rules, json::ArrayBuilder& records) const {
  const Value& entries = value_at(rule, list.entries);
  const Pair pair = pair_in(entries);
  if (!pair.is_own() && !pair.base) {
    rules.add(rule);
    return false;
  }
  const std::size_t index = static_cast<std::size_t>(&list - row_.lists.data());
  const std::string state = state_of(list, rule);
  const auto found =
      std::ranges::find_if(base.reusable, [&](const Reusable& one) { return one.list == index && one.state == state; });
  const Reusable* used = found == base.reusable.end() ? nullptr : &*found;
  SLIPWAY_TRY(written, write_pair(entries, pair, used, split.weight));
  Value record = written.record.with("list", index).with("key", key_of(list, rule)).with("state", state);
  Value changed = with_value(rule, list.entries, written.entries);
  if (list.is_http) {
    const Value alone = row_.needs_weight ? written.target.with(row_.weight, amount(kWhole)) : written.target;
    SLIPWAY_TRY(added, matched_rules(row_, rule, split));
    const Value matches = digest(json::array({json::array(split.matches), split.request_headers}));
    for (std::size_t i = 0; i < added.size(); ++i) {
      const Value wanted = with_value(added[i], list.entries, json::array({alone}));
      const bool is_there = used != nullptr && used->matches == matches && i < used->rules.size();
      rules.add(is_there && covers(used->rules[i], wanted) ? used->rules[i] : wanted);
    }
    if (!added.empty()) record = record.with("added", added.size()).with("matches", matches);
    if (split.mirror_percent > 0) {
      SLIPWAY_TRY(mirrored, with_mirror(row_, list, changed, written.target, split.mirror_percent));
      changed = mirrored;
    }
  }
  rules.add(changed);
  records.add(record);
  return list.is_http;
}

Result<Entries::Written> Entries::write(const Base& base, const Split& split) const {
  Value document = base.document;
  json::ArrayBuilder records;
  bool takes_http = false;
  for (const EntryList& list : row_.lists) {
    Value holder;
    json::ArrayBuilder rules;
    const std::size_t before = records.size();
    for (const Value& rule : rules_of(list, document, holder)) {
      SLIPWAY_TRY(takes, write_rule(list, rule, base, split, rules, records));
      takes_http = takes_http || takes;
    }
    if (records.size() > before) document = with_rules(list, document, rules.build());
  }
  if (records.empty()) {
    return fail(
        Reason::Invalid,
        fmt::format("traffic: {} \"{}\" has no entry for \"{}\" ({}); add one, or name another object in ingressRef",
                    row_.kind.kind, object_name(row_, route_), entry_name(row_, route_, route_.service), row_.name_path));
  }
  if (!takes_http && (!split.matches.empty() || split.mirror_percent > 0)) {
    return fail(Reason::Invalid, fmt::format("traffic: {} \"{}\" can neither match nor mirror requests; leave matches and "
                                             "mirrorPercent out",
                                             row_.kind.kind, object_name(row_, route_)));
  }
  return Written{document, json::object({{"source", route_.source_service}, {"target", target()}, {"rules", records.build()}})};
}

}  // namespace slipway::delivery::rollout
