// Many objects that differ in a name only, written into the store of an embedded cluster beside its API server: as the server
// has stored the first of them, byte for byte, with another namespace, other uids and revisions. A hundred thousand targets are
// prepared in a minute so, where requests would take an hour.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "store/store.h"

namespace slipway::bench {

class StoredCopies {
 public:
  /// What the server has written after `since`.
  static StoredCopies of(const store::Store& store, store::Revision since);

  /// Texts that are replaced wherever they occur, in keys and values.
  using Replacements = std::vector<std::pair<std::string, std::string>>;
  /// Writes a copy for each of `all`, in batches.
  Task<> write(Env& env, store::Store& store, std::vector<Replacements> all) const;

 private:
  struct Original {
    std::string key{};
    std::string text{};
    std::string uid{};
  };
  std::vector<Original> originals_{};
};

}  // namespace slipway::bench
