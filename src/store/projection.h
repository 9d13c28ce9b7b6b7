// State that is derived from the log: an index, a registry, a table of what is taken. The store feeds it every change below a
// prefix in the order of revisions, object by object, so it is never made anew and never depends on which request wrote what,
// or on how that request ended. A projection of durable state sees a change after the file has it and before any that waits
// for it (the writer, watchers, readers that wait for a revision) runs. A projection of head state sees a write when it is
// appended; when a commit fails, it sees each key go back to what is durable.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "store/change.h"

namespace slipway::store {

class Projection {
 public:
  virtual ~Projection() = default;
  /// One key has gone from `previous` to `value`. An undone write comes as a change of its own, with the revision that the key
  /// has again (0: it is absent). Must not throw, suspend or write; may read the store.
  virtual void apply(const Change& change) = 0;
};

/// What a projection follows.
enum class Sight : std::uint8_t {
  Durable,  // what reads and watches see
  Head,     // what the next write is based on
};

/// Ends the feeding of a projection when destroyed. May outlive the store.
class Following {
 public:
  virtual ~Following() = default;
};

/// The projections of one sight.
class Followers : public std::enable_shared_from_this<Followers> {
 public:
  std::unique_ptr<Following> add(std::string prefix, Projection& projection);
  /// Calls `change()` at most once, and only when a projection follows the key. Costs a comparison per projection.
  template <class MakeChange>
  void tell(std::string_view key, MakeChange change) const;
  bool has_any_for(std::string_view key) const;

 private:
  class Member;
  struct Entry {
    std::string prefix;
    Projection* projection = nullptr;
  };

  std::list<Entry> entries_;
};

template <class MakeChange>
void Followers::tell(std::string_view key, MakeChange change) const {
  if (!has_any_for(key)) return;
  const Change made = change();
  for (const Entry& entry : entries_) {
    if (key.starts_with(entry.prefix)) entry.projection->apply(made);
  }
}

}  // namespace slipway::store
