// Edits that fill in what is missing, and the checks that most kinds share: small words for the tables and functions of the
// kinds' rules (k8s.io/kubernetes pkg/apis/*/defaults.go and validation.go).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/text.h"
#include "json/value.h"
#include "kube/object.h"

namespace slipway::server {

/// Edits that are made only where something is missing, so that a complete object stays the same value.
class Defaults {
 public:
  explicit Defaults(const json::Value& from) : value_(from) {}

  Defaults& absent(std::string_view key, const json::Value& value) {
    if (value_[key].is_null()) value_ = value_.with(key, value);
    return *this;
  }
  /// Edits a member that is there.
  template <class Edit>
  Defaults& present(std::string_view key, Edit edit) {
    const json::Value old = value_[key];
    if (old.is_null()) return *this;
    json::Value next = edit(old);
    if (!next.is_same(old)) value_ = value_.with(key, std::move(next));
    return *this;
  }
  /// Edits the items of a list that is there.
  template <class Edit>
  Defaults& each(std::string_view key, Edit edit) {
    return present(key, [&](const json::Value& list) {
      json::ArrayBuilder next;
      bool is_same = true;
      for (const json::Value& old : list.items()) {
        json::Value item = edit(old);
        is_same = is_same && item.is_same(old);
        next.add(std::move(item));
      }
      return is_same ? list : next.build();
    });
  }
  const json::Value& value() const { return value_; }

 private:
  json::Value value_;
};

/// A value as error messages show it.
inline std::string quoted(const json::Value& value) { return json::print(value); }

/// owner[key] is absent or at least zero.
inline void not_negative(const json::Value& owner, const std::string& path, std::string_view key, std::vector<Cause>& causes) {
  if (owner[key].as_int() >= 0) return;
  causes.push_back(field::invalid(path + "." + std::string(key), quoted(owner[key]), "must be greater than or equal to 0"));
}

/// owner[key] is what it was.
inline void immutable(const json::Value& owner, const json::Value& old, const std::string& path, std::string_view key,
                      std::vector<Cause>& causes) {
  if (owner[key].is_same(old[key]) || owner[key] == old[key]) return;
  const std::string at = path.empty() ? std::string(key) : path + "." + std::string(key);
  causes.push_back(field::invalid(at, quoted(owner[key]), "field is immutable"));
}

/// A cause for each fault of the value at `path`.
inline void add_faults(const std::vector<std::string>& faults, const std::string& path, const json::Value& value,
                       std::vector<Cause>& causes) {
  for (const std::string& fault : faults) causes.push_back(field::invalid(path, quoted(value), fault));
}

}  // namespace slipway::server
