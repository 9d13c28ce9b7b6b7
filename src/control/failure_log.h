// What a controller logs about reconciles that fail: a warning with key and cause at the first failure of an object, and again
// at most once a minute while it goes on failing. A controller writes at most `kMaxLinesAMinute` of them; the next line after
// that says how many were left out. The first two conflicts in a row are ordinary (another writer was faster) and are not
// logged.
#pragma once

#include <map>
#include <string>

#include "base/env.h"
#include "kube/object.h"

namespace slipway::control {

class FailureLog {
 public:
  static constexpr int kMaxLinesAMinute = 20;

  FailureLog(Env& env, std::string controller) : env_(env), controller_(std::move(controller)) {}

  void record(const kube::ObjectKey& key, const Status& cause);
  /// True after three failures in a row.
  bool is_lasting(const kube::ObjectKey& key) const;
  /// Whether the object itself is to tell of its failure now: from the third in a row on, once a minute.
  bool is_due_on_object(const kube::ObjectKey& key);
  /// Number of such objects.
  std::size_t lasting() const { return lasting_; }
  /// The object was reconciled.
  void forget(const kube::ObjectKey& key);

 private:
  struct Failing {
    int in_a_row = 0;
    Steady next_line = Steady::min();
    Steady next_on_object = Steady::min();
  };

  bool takes_a_line();

  Env& env_;
  std::string controller_;
  std::map<kube::ObjectKey, Failing> failing_;
  Steady minute_ends_ = Steady::min();
  int lines_ = 0;     // in this minute
  int left_out_ = 0;  // since the last line
  std::size_t lasting_ = 0;
};

}  // namespace slipway::control
