// Keys of custom resources by the value of a selectable field, so that a list that asks for one value ("spec.repository=edge")
// reads the objects that have it and no others. An index is made when its field is first asked for, from all that is there in
// fair turns, and is a projection of the log from then on; fields not asked for cost nothing. Only durable state is indexed:
// what a list of the newest state shows.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/task.h"
#include "server/list_options.h"
#include "store/store.h"

namespace slipway::server {

/// One field of one resource in one version.
class FieldIndex : public store::Projection {
 public:
  FieldIndex(store::Store& store, ServedPtr served, std::string field);
  FieldIndex(const FieldIndex&) = delete;
  FieldIndex& operator=(const FieldIndex&) = delete;

  /// Reads what was there when it was made: to be called once, at once, and to its end before keys(). Expired when history is
  /// compacted meanwhile.
  Task<Result<void>> fill(Env& env, const store::Store& store);
  void apply(const store::Change& change) override;
  /// Of the objects whose field has that value, sorted.
  const std::set<std::string>& keys(const std::string& value) const;
  /// Whether values are read as this version reads them now.
  bool is_about(const ServedPtr& served) const { return served_ == served; }

 private:
  ServedPtr served_;
  std::string field_;
  std::map<std::string, std::set<std::string>> keys_;  // by value
  std::set<std::string, std::less<>> changed_;         // keys that were written since fill() began, until it ends
  bool is_filled_ = false;
  std::unique_ptr<store::Following> following_;
};

class FieldIndexes {
 public:
  FieldIndexes(Env& env, store::Store& store) : env_(env), store_(store) {}

  /// The keys among which all that a list of the newest state gives are, sorted, as of the moment of the answer; nullopt when
  /// nothing of the selection can be looked up, or there are more than kMostKeys. `served` and `selection` must outlive the
  /// call.
  Task<std::optional<std::vector<std::string>>> find(const ServedPtr& served, const Selection& selection);

  /// Of more, each looked up by itself, reading all in order is no slower.
  static constexpr std::size_t kMostKeys = 4096;

 private:
  /// Makes the indexes of the fields that the selection asks for; false where one could not be read.
  Task<bool> prepare(const ServedPtr& served, const Selection& selection);
  FieldIndex* ready(const ServedPtr& served, const std::string& field) const;

  Env& env_;
  store::Store& store_;
  std::map<std::pair<kube::Resource, std::string>, std::unique_ptr<FieldIndex>> indexes_;
};

}  // namespace slipway::server
