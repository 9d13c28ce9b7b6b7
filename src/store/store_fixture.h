// For the tests of this room: a store on a simulated disk in a ManualEnv, and short ways to say what is written and seen.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_env.h"
#include "json/text.h"
#include "store/memory_vfs.h"
#include "store/store.h"

namespace slipway::store {

class StoreTest : public testing::Test {
 protected:
  static constexpr const char* kPath = "/data/state.db";

  StoreTest() : env_(ManualEnv::Options{.vfs = disk_.vfs()}) { options_.path = kPath; }
  ~StoreTest() override {
    env_.drop_all();
    store_.reset();
  }

  Result<void> try_open() {
    auto store = Store::open(env_, options_);
    if (!store) return fail(store.error());
    store_ = std::move(*store);
    return {};
  }
  Store& open() {
    const auto opened = try_open();
    EXPECT_TRUE(opened) << opened.error().message;
    return *store_;
  }
  Store& reopen() {
    env_.run(store_->close());
    store_.reset();
    return open();
  }
  /// The power fails, comes back, and the store is opened again.
  Store& crash(std::uint64_t seed) {
    disk_.crash(seed);
    drop();
    return open();
  }
  void drop() {
    env_.drop_all();
    store_.reset();
  }

  Result<Revision> append(std::vector<Write> writes) { return env_.run(store_->append(std::move(writes))); }
  /// Writes a value on whatever is there.
  Revision put(const std::string& key, json::Value value) {
    const auto head = store_->get_head(key);
    const auto revision = append({{key, std::move(value), head ? head->modified : 0}});
    EXPECT_TRUE(revision) << revision.error().message;
    return revision.value_or(0);
  }
  Revision remove(const std::string& key) {
    const auto head = store_->get_head(key);
    const auto revision = append({{key, std::nullopt, head ? head->modified : 0}});
    EXPECT_TRUE(revision) << revision.error().message;
    return revision.value_or(0);
  }
  Result<std::vector<Change>> take(Watcher& watcher, std::size_t limit = 1000) {
    return env_.run(watcher.next_until(limit, env_.steady()));
  }

  MemoryVfs disk_;
  ManualEnv env_;
  Options options_;
  std::unique_ptr<Store> store_;
};

/// "/a=1@2 /b=2@3"
inline std::string text_of(const Range& range) {
  std::string text;
  for (const auto& [key, entry] : range.entries) {
    if (!text.empty()) text += ' ';
    text += key + "=" + json::print(entry.value) + "@" + std::to_string(entry.modified);
  }
  return text;
}

/// "2:/a=1 3:/a=2<1 4:/a=-<2": revision, key, value ("-": deleted) and what it was before.
inline std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    if (!text.empty()) text += ' ';
    text += std::to_string(change.revision) + ":" + change.key + "=" + (change.value ? json::print(*change.value) : "-");
    if (change.previous) text += "<" + json::print(*change.previous);
  }
  return text;
}

inline std::string text_of(const Result<Range>& range) { return range ? text_of(*range) : range.error().message; }
inline std::string text_of(const Result<std::vector<Change>>& changes) {
  return changes ? text_of(*changes) : changes.error().message;
}

}  // namespace slipway::store
