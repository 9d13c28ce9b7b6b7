#include "store/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace slipway::store {
namespace {

/// A record's own memory beside its value.
constexpr std::size_t kRecordBytes = sizeof(Record) + 64;

/// Reads the log backwards: the first row met of a key is its newest state, later ones are what history needs or not needed.
class Loader {
 public:
  Loader(const Options& options, History& history, const LogFile& file) : options_(options), history_(history), file_(file) {}

  Result<void> visit(const LogRow& row) {
    if (newer_.empty()) history_.start(row.revision());
    is_in_window_ = is_in_window_ && row.revision() > file_.compacted() && history_.size() < options_.history_changes &&
                    history_.bytes() < options_.history_bytes;
    const auto known = newer_.find(name_of(row.key()));
    return known == newer_.end() ? visit_newest(row) : visit_older(row, known->second);
  }

  KeyMap take_newest() {
    std::vector<KeyMap::Item*> order;
    order.reserve(items_.size());
    for (KeyMap::Item& item : items_) order.push_back(&item);
    std::ranges::sort(order, {}, [](const KeyMap::Item* item) { return std::string_view(item->key); });
    std::vector<KeyMap::Item> sorted;
    sorted.reserve(order.size());
    newer_.clear();  // its keys are views of the items'
    for (KeyMap::Item* item : order) sorted.push_back(std::move(*item));
    return KeyMap(std::move(sorted));
  }
  /// Ascending.
  std::deque<Revision> take_superseded() { return {superseded_.rbegin(), superseded_.rend()}; }

 private:
  /// A key behind its sum: keys have long beginnings in common, their sums differ at once.
  using Name = std::pair<std::int64_t, std::string_view>;
  static Name name_of(std::string_view key) { return {row_sum(0, key, std::nullopt), key}; }

  Result<void> visit_newest(const LogRow& row) {
    if (row.is_deletion()) {
      newer_.emplace(name_of(deleted_.emplace_back(row.key())), remember(row, LazyValue(), 0));
      if (!is_in_window_) superseded_.push_back(row.revision());
      return {};
    }
    SLIPWAY_TRY(text, row.text());
    const auto value = LazyValue::from_text(text);
    const KeyMap::Item& item = items_.emplace_back(KeyMap::Item{std::string(row.key()), value, row.revision()});
    newer_.emplace(name_of(item.key), remember(row, value, text.size()));
    return {};
  }

  /// `newer` is the record that this row precedes; nullptr when that is not in the window.
  Result<void> visit_older(const LogRow& row, Record*& newer) {
    Record* const successor = std::exchange(newer, nullptr);
    if (!is_in_window_ && (successor == nullptr || row.is_deletion())) superseded_.push_back(row.revision());
    if (!is_in_window_ && successor == nullptr) return {};
    LazyValue value;
    std::size_t bytes = 0;
    if (!row.is_deletion()) {
      SLIPWAY_TRY(text, row.text());
      bytes = text.size();
      value = LazyValue::from_text(text);
    }
    if (successor != nullptr && !row.is_deletion()) {
      successor->previous = value;
      successor->previous_revision = row.revision();
    }
    newer = remember(row, std::move(value), bytes);
    return {};
  }

  /// The row's record in the window; nullptr when it is not in it.
  Record* remember(const LogRow& row, LazyValue value, std::size_t bytes) {
    if (!is_in_window_) return nullptr;
    bytes += kRecordBytes + row.key().size();
    return &history_.prepend({row.revision(), 0, std::string(row.key()), std::move(value), {}, bytes});
  }

  const Options& options_;
  History& history_;
  const LogFile& file_;
  bool is_in_window_ = true;
  std::map<Name, Record*> newer_;
  std::deque<KeyMap::Item> items_;
  std::deque<std::string> deleted_;
  std::vector<Revision> superseded_;
};

template <class Value>
Value checked(Result<Value> value) {
  SLIPWAY_CHECK(value.has_value(), "a row whose sum is right is no JSON");
  return std::move(*value);
}

Change change_of(const Record& record) {
  return {record.revision, record.key, checked(record.value.get_optional()), checked(record.previous.get_optional()),
          record.previous_revision};
}

}  // namespace

Result<void> State::load(LogFile& file) {
  Loader loader(options_, history_, file);
  SLIPWAY_TRY_VOID(file.read([&](const LogRow& row) { return loader.visit(row); }));
  newest_ = loader.take_newest();
  superseded_ = loader.take_superseded();
  // All that was left may have been deleted with the newest revision itself.
  if (history_.newest() < file.compacted()) history_.start(file.compacted());
  return {};
}

void State::apply(std::vector<PendingWrite> writes) {
  for (PendingWrite& write : writes) {
    Record record{write.revision, 0, std::move(write.key), {}, {}, kRecordBytes + write.bytes};
    if (const KeyMap::Item* before = newest_.find(record.key)) {
      record.previous = before->value;
      record.previous_revision = before->modified;
    }
    if (write.value) {
      newest_.put(record.key, *write.value, write.revision);
    } else {
      newest_.erase(record.key);
    }
    record.value = std::move(write.value);
    followers_->tell(record.key, [&] { return change_of(record); });
    history_.push(std::move(record));
  }
  trim();
  history_.notify_changed();
  advanced_.notify();
}

void State::each(std::string_view prefix, const std::function<void(std::string_view key, Entry entry)>& visit) const {
  const KeyMap::Position end = newest_.end_of(prefix);
  for (KeyMap::Position at = newest_.lower_bound(prefix); at < end; at = newest_.next(at)) {
    const KeyMap::Item& item = newest_.at(at);
    visit(item.key, {checked(item.value.get()), item.modified});
  }
}

void State::trim() {
  const auto is_beyond = [&] {
    return history_.size() > options_.history_changes || history_.bytes() > options_.history_bytes;
  };
  while (history_.size() > 0 && is_beyond()) compact(history_.compacted() + 1);
}

void State::compact(Revision revision) {
  history_.trim(revision, [&](const Record& record) { forget(record); });
}

void State::forget(const Record& record) {
  if (record.previous_revision != 0) superseded_.push_back(record.previous_revision);
  if (!record.value.has_value()) superseded_.push_back(record.revision);
}

std::optional<Entry> State::get(std::string_view key) const {
  const KeyMap::Item* item = newest_.find(key);
  if (item == nullptr) return std::nullopt;
  return Entry{checked(item->value.get()), item->modified};
}

Revision State::modified(std::string_view key) const {
  const KeyMap::Item* item = newest_.find(key);
  return item == nullptr ? 0 : item->modified;
}

std::size_t State::count(std::string_view prefix) const {
  return newest_.distance(newest_.lower_bound(prefix), newest_.end_of(prefix));
}

Result<void> State::check_revision(Revision revision) const {
  if (revision > history_.newest()) {
    Status status{};
    status.reason = Reason::Timeout;
    status.message = fmt::format("Too large resource version: {}, current: {}", revision, history_.newest());
    status.causes = {{"ResourceVersionTooLarge", "Too large resource version", ""}};
    status.retry_after_seconds = 1;
    return fail(std::move(status));
  }
  if (revision < history_.compacted())
    return fail(Reason::Expired, fmt::format("too old resource version: {} ({})", revision, history_.compacted()));
  return {};
}

void State::close() {
  is_closed_ = true;
  history_.notify_all();
  advanced_.notify();
}

}  // namespace slipway::store
