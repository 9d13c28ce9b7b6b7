// Lists with an entry per Service: the form that most providers keep weights in. An entry for the service becomes a pair, one
// for the source and one for the target; a pair that the user has already only gets weights. What entries were before is a
// record, from which take_back() makes the document that the user would have without us; write() then starts from there. So
// each split is written from scratch, whatever stands there now, and edits of users stay where they are.
#pragma once

#include <optional>
#include <vector>

#include "delivery/rollout/traffic_rows.h"

namespace slipway::delivery::rollout {

class Entries {
 public:
  /// Both must outlive it.
  Entries(const TrafficRow& row, const Route& route) : row_(row), route_(route) {}

  /// What stood there of ours for a rule that is unchanged since: used again, as users may have added to it, and servers
  /// add defaults.
  struct Reusable {
    std::size_t list = 0;
    std::string state;    // digest of the rule without ours
    json::Value matches;  // digest of the matches that the rules are for
    std::vector<json::Value> rules;
    json::Value target;
  };
  /// The document without ours.
  struct Base {
    json::Value document;
    std::vector<Reusable> reusable;
  };
  /// `record` is what write() gave; null: nothing of ours is there.
  Base take_back(const json::Value& document, const json::Value& record, bool target_stays) const;

  struct Written {
    json::Value document;
    json::Value record;  // {source, target, rules}
  };
  /// Invalid when no rule sends to the service, or one cannot carry the split.
  Result<Written> write(const Base& base, const Split& split) const;

  /// The target's share of the first pair, in percent; nullopt without a record of this target.
  std::optional<std::int64_t> weight(const json::Value& document, const json::Value& record) const;

 private:
  struct Pair;
  struct Weights {
    json::Value source;
    json::Value target;
  };
  struct WrittenPair {
    json::Value entries;
    json::Value target;  // its entry, without a weight
    json::Value record;
  };

  bool names(const json::Value& entry, std::string_view service) const;
  bool names_host(const json::Value& entry, std::string_view service) const;
  json::Value renamed(const json::Value& entry, std::string_view service) const;
  std::optional<std::size_t> find(const json::Value& entries, std::string_view service) const;
  std::vector<std::string_view> touched() const;
  json::Value snapshot(const json::Value& entry) const;
  json::Value restored(const json::Value& entry, const json::Value& snapshot) const;
  std::string target() const;

  bool is_only_target(const json::Value& entries, std::string_view target) const;
  json::Value without_pair(const EntryList& list, const json::Value& rule, const json::Value& kept, const json::Value& record,
                           bool target_stays, json::Value& target) const;
  std::string key_of(const EntryList& list, const json::Value& rule) const;

  Pair pair_in(const json::Value& entries) const;
  Result<WrittenPair> write_pair(const json::Value& entries, const Pair& pair, const Reusable* used,
                                 std::int64_t percent) const;
  /// Adds what stands in the rule's place and a record, if it sends to the service; true when it takes matches and mirrors.
  Result<bool> write_rule(const EntryList& list, const json::Value& rule, const Base& base, const Split& split,
                          json::ArrayBuilder& rules, json::ArrayBuilder& records) const;
  Result<Weights> weights(const json::Value& entries, const Pair& pair, std::int64_t percent) const;
  std::int64_t units(const json::Value& entry) const;
  json::Value amount(std::int64_t weight) const;

  const TrafficRow& row_;
  const Route& route_;
};

}  // namespace slipway::delivery::rollout
