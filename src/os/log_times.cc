#include "os/log_times.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/pod_record.h"

namespace slipway::os {
namespace {

std::uint64_t length_of(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

}  // namespace

LogTimes::LogTimes() : notify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void LogTimes::begin_run(const std::string& log, const std::string& times, std::int64_t now_us) {
  if (times.empty()) return;
  auto entry = std::ranges::find(entries_, log, &Entry::log);
  if (entry == entries_.end()) {
    const Descriptor made(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    Descriptor file(open(times.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!file) return;
    inotify_add_watch(notify_.get(), log.c_str(), IN_MODIFY);
    entries_.push_back({.log = log, .times = std::move(file)});
    entry = entries_.end() - 1;
  }
  entry->bytes = length_of(log);
  write(*entry, true, now_us);
}

void LogTimes::note(std::int64_t now_us) {
  char events[4096];
  while (notify_ && read(notify_.get(), events, sizeof events) > 0) {
  }
  for (Entry& entry : entries_) {
    const std::uint64_t bytes = length_of(entry.log);
    if (bytes <= entry.bytes) continue;
    entry.bytes = bytes;
    write(entry, false, now_us);
  }
}

void LogTimes::write(Entry& entry, bool begins_run, std::int64_t now_us) const {
  const std::string line = encode_log_mark({.begins_run = begins_run, .at_us = now_us, .bytes = entry.bytes});
  // A full disk loses the time of some lines, nothing else.
  static_cast<void>(!::write(entry.times.get(), line.data(), line.size()));
}

}  // namespace slipway::os
