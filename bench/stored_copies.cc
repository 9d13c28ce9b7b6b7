#include "stored_copies.h"

#include "base/check.h"
#include "json/text.h"

namespace slipway::bench {
namespace {

constexpr std::size_t kBatch = 512;

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

StoredCopies StoredCopies::of(const store::Store& store, store::Revision since) {
  StoredCopies made;
  const auto range = store.range({.prefix = "/registry/"});
  SLIPWAY_CHECK(range.has_value(), "the store cannot be read");
  for (const auto& [key, entry] : range->entries) {
    if (entry.modified <= since) continue;
    made.originals_.push_back({key, json::print(entry.value), std::string(kube::uid(entry.value))});
  }
  return made;
}

Task<> StoredCopies::write(Env& env, store::Store& store, std::vector<Replacements> all) const {
  for (std::size_t at = 0; at < all.size();) {
    std::vector<store::Write> batch;
    for (; at < all.size() && batch.size() < kBatch; ++at) {
      for (const Original& original : originals_) {
        std::string key = original.key;
        std::string text = original.text;
        if (!original.uid.empty()) replace(text, original.uid, uuid(env.random));
        for (const auto& [from, to] : all[at]) {
          replace(key, from, to);
          replace(text, from, to);
        }
        const auto value = json::parse(text);
        SLIPWAY_CHECK(value.has_value(), text);
        const auto revision = store.next_revision() + static_cast<store::Revision>(batch.size());
        batch.push_back({key, value->with_path({"metadata", "resourceVersion"}, std::to_string(revision)), 0});
      }
    }
    const auto written = co_await store.append(std::move(batch));
    SLIPWAY_CHECK(written.has_value(), written ? "" : written.error().message);
  }
}

}  // namespace slipway::bench
