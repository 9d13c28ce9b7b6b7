// Keys of custom resources by the value of a selectable field, so that a list that asks for one value ("spec.repository=edge")
// reads the objects that have it and no others. An index is made when its field is first asked for, from all that is there, and
// is a projection of the log from then on; fields not asked for cost nothing. Only durable state is indexed: what a list
// of the newest state shows.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/list_options.h"
#include "store/store.h"

namespace slipway::server {

/// One field of one resource in one version.
class FieldIndex : public store::Projection {
 public:
  FieldIndex(store::Store& store, ServedPtr served, std::string field);
  FieldIndex(const FieldIndex&) = delete;
  FieldIndex& operator=(const FieldIndex&) = delete;

  void apply(const store::Change& change) override;
  /// Of the objects whose field has that value, sorted.
  const std::set<std::string>& keys(const std::string& value) const;
  /// Whether values are read as this version reads them now.
  bool is_about(const ServedPtr& served) const { return served_ == served; }

 private:
  ServedPtr served_;
  std::string field_;
  std::map<std::string, std::set<std::string>> keys_;  // by value
  std::unique_ptr<store::Following> following_;
};

class FieldIndexes {
 public:
  explicit FieldIndexes(store::Store& store) : store_(store) {}

  /// The keys among which all that a list of the newest state gives are, sorted; nullopt when nothing of the selection can be
  /// looked up, or more than kMostKeys would have to be read.
  std::optional<std::vector<std::string>> find(const ServedPtr& served, const Selection& selection);

  /// What is read in one go, without giving others a turn.
  static constexpr std::size_t kMostKeys = 4096;

 private:
  const FieldIndex& index(const ServedPtr& served, const std::string& field);

  store::Store& store_;
  std::map<std::pair<kube::Resource, std::string>, std::unique_ptr<FieldIndex>> indexes_;
};

}  // namespace slipway::server
