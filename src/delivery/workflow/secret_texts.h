// What a step has read from Secrets, to be left out of what its status says: statuses may be read by those who may not read
// Secrets. Texts are found as they stand, in capitals or not, in base64 and decoded; what a template makes of them beyond
// that is not.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "json/value.h"

namespace slipway::delivery::workflow {

class SecretTexts {
 public:
  /// Notes the texts of `read`: of objects, listed ones too, those of Secrets' data, else all. Those of fewer than four bytes
  /// are left out, since they stand everywhere.
  void add(const json::Value& read);
  /// `text` with "(secret)" in place of each.
  std::string without(std::string text) const;

 private:
  void add_object(const json::Value& object, std::string_view kind);

  struct Longer {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  std::set<std::string, Longer> texts_;
};

}  // namespace slipway::delivery::workflow
