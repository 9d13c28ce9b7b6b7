#include "store/history.h"

#include "base/check.h"

namespace slipway::store {

std::string_view bucket_of(std::string_view key) {
  std::size_t slash = 0;
  for (int segment = 0; segment < 3; ++segment) {
    slash = key.find('/', slash + 1);
    if (slash == std::string_view::npos) return {};
  }
  return key.substr(0, slash + 1);
}

void History::push(Record record) {
  SLIPWAY_CHECK(record.revision == newest_ + 1);
  newest_ = record.revision;
  bytes_ += record.bytes;
  if (const std::string_view name = bucket_of(record.key); !name.empty()) {
    Bucket& bucket = this->bucket(name);
    bucket.revisions_.push_back(record.revision);
    if (!std::exchange(bucket.is_touched_, true)) touched_.push_back(&bucket);
  }
  everything_.is_touched_ = true;
  records_.push_back(std::move(record));
}

Record& History::prepend(Record record) {
  SLIPWAY_CHECK(record.revision == compacted_);
  --compacted_;
  bytes_ += record.bytes;
  if (const std::string_view name = bucket_of(record.key); !name.empty()) bucket(name).revisions_.push_front(record.revision);
  return records_.emplace_front(std::move(record));
}

void History::drop_front() {
  const Record& record = records_.front();
  compacted_ = record.revision;
  everything_.trimmed_ = record.revision;
  bytes_ -= record.bytes;
  if (const std::string_view name = bucket_of(record.key); !name.empty()) {
    Bucket& bucket = this->bucket(name);
    bucket.revisions_.pop_front();
    bucket.trimmed_ = record.revision;
  }
  records_.pop_front();
}

Bucket& History::bucket(std::string_view prefix) {
  const std::string_view name = bucket_of(prefix);
  if (name.empty()) return everything_;
  const auto at = buckets_.find(name);
  return at != buckets_.end() ? at->second : buckets_[std::string(name)];
}

const Bucket* History::find_bucket(std::string_view prefix) const {
  const auto at = buckets_.find(bucket_of(prefix));
  return at == buckets_.end() ? nullptr : &at->second;
}

void History::notify_changed() {
  for (Bucket* bucket : std::exchange(touched_, {})) {
    bucket->is_touched_ = false;
    bucket->notify();
  }
  if (std::exchange(everything_.is_touched_, false)) everything_.notify();
}

void History::notify_all() {
  for (auto& [name, bucket] : buckets_) bucket.notify();
  everything_.notify();
}

}  // namespace slipway::store
