#include "delivery/gate/log.h"

#include <algorithm>
#include <numeric>

#include "delivery/gate/condition.h"
#include "delivery/gate/window.h"
#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

using Log = std::vector<LogEntry>;

constexpr std::size_t kMostTextBytes = 120;

std::size_t bytes_of(const LogEntry& entry) { return json::print(json::encode(entry)).size() + 1; }

std::int64_t measured(const std::vector<Sample>& samples) {
  std::int64_t count = 0;
  for (const Sample& sample : samples) count += sample.count;
  return count;
}

/// The samples of `all` after the first `known` measurements.
std::vector<Sample> after(const std::vector<Sample>& all, std::int64_t known) {
  std::vector<Sample> out;
  for (Sample sample : all) {
    const std::int64_t skipped = std::min(known, sample.count);
    known -= skipped;
    sample.count -= skipped;
    if (sample.count > 0) out.push_back(std::move(sample));
  }
  return out;
}

/// Puts the inputs of an older entry at the same gate before those of a newer one.
void join(const LogEntry& older, LogEntry& newer) {
  std::vector<Sample> samples = older.samples;
  for (const Sample& sample : newer.samples) add(samples, sample);
  newer.samples = std::move(samples);
}

/// Joins the oldest entry that has a later one at its gate, `bytes` along with it; false when there is none.
bool join_oldest(Log& log, std::vector<std::size_t>& bytes) {
  for (std::size_t i = 0; i < log.size(); ++i) {
    const auto same = [&](const LogEntry& one) { return one.gate == log[i].gate; };
    const auto later = std::find_if(log.begin() + static_cast<std::ptrdiff_t>(i) + 1, log.end(), same);
    if (later == log.end() || later->is_deadline) continue;
    join(log[i], *later);
    bytes[static_cast<std::size_t>(later - log.begin())] = bytes_of(*later);
    log.erase(log.begin() + static_cast<std::ptrdiff_t>(i));
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

void shrink(Log& log) {
  std::vector<std::size_t> bytes;
  for (const LogEntry& entry : log) bytes.push_back(bytes_of(entry));
  const auto is_too_big = [&] {
    return log.size() > kMostLogEntries || std::accumulate(bytes.begin(), bytes.end(), std::size_t{2}) > kMostLogBytes;
  };
  while (log.size() > 1 && is_too_big()) {
    if (join_oldest(log, bytes)) continue;
    const std::string gate = log.front().gate;
    for (std::size_t i = log.size(); i-- > 0;) {
      if (log[i].gate != gate) continue;
      log.erase(log.begin() + static_cast<std::ptrdiff_t>(i));
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

/// A single sample whose value is whole, judged by the gate as it is now.
Sample judged_anew(const MetricGate& gate, Sample sample) {
  const bool has_verdict = sample.phase != Sample::Phase::NoData && sample.phase != Sample::Phase::Error;
  const auto value = json::parse(sample.value);
  if (sample.count == 1 && has_verdict && value && gate.baseline_query.empty()) {
    sample.phase = phase_of(gate, {.value = *value}, sample.text);
  }
  return sample;
}

Verdict decide(const LogEntry& entry, const GateSpec& gate, const std::vector<Sample>& samples,
               const std::map<std::string, Zone>& zones) {
  if (gate.metric) {
    return assess(*gate.metric, samples, gate.at == "throughout" ? Length::Endless : Length::AtCount);
  }
  if (gate.webhook)
    return entry.status ? webhook_verdict(*gate.webhook, *entry.status, entry.text)
                        : Verdict{Verdict::Kind::Unknown, entry.text, ""};
  if (gate.approval) return judge(*gate.approval, entry.approvals, entry.approvable.value_or(Approvable{}));
  if (!gate.window) return {Verdict::Kind::Unknown, "the gate asks nothing", ""};
  const auto zone = zones.find(gate.window->time_zone);
  const bool is_utc = gate.window->time_zone == "UTC";
  if (zone == zones.end() && !is_utc) return {Verdict::Kind::Unknown, "the time zone is not at hand", ""};
  return look(*gate.window, is_utc ? Zone() : zone->second, entry.at).verdict;
}

Verdict by_deadline(const GateSpec& gate, Verdict::Kind last) {
  const std::string_view what = at_deadline(gate, last);
  return {what == "pass" ? Verdict::Kind::Pass : what == "fail" ? Verdict::Kind::Fail : Verdict::Kind::Wait, "deadline", ""};
}

}  // namespace

void append(Log& log, LogEntry entry) {
  entry.text = cut(std::move(entry.text), kMostTextBytes);
  std::int64_t known = 0;
  auto before = log.end();
  for (auto one = log.begin(); one != log.end(); ++one) {
    if (one->gate != entry.gate) continue;
    known += measured(one->samples);
    before = one;
  }
  if (entry.approvable) std::erase_if(entry.approvals, [&](const Approval& one) { return !is_about(one, *entry.approvable); });
  const bool has_samples = !entry.samples.empty();
  entry.samples = after(entry.samples, known);
  if (has_samples && entry.verdict == Verdict::Kind::Pass) entry.text.clear();
  const bool repeats = before != log.end() && before->verdict == entry.verdict && !entry.is_deadline && !before->is_deadline;
  if (repeats) {
    join(*before, entry);
    log.erase(before);
  }
  log.push_back(std::move(entry));
  shrink(log);
}

std::vector<Replayed> replay(const Log& log, const std::map<std::string, GateSpec>& gates,
                             const std::map<std::string, Zone>& zones) {
  std::vector<Replayed> out;
  std::map<std::string, std::vector<Sample>> samples;
  std::map<std::string, Verdict::Kind> last;
  for (const LogEntry& entry : log) {
    const auto gate = gates.find(entry.gate);
    if (gate == gates.end()) continue;
    std::vector<Sample>& so_far = samples[entry.gate];
    for (const Sample& sample : entry.samples) {
      add(so_far, gate->second.metric ? judged_anew(*gate->second.metric, sample) : sample);
    }
    Verdict verdict =
        entry.is_deadline ? by_deadline(gate->second, last[entry.gate]) : decide(entry, gate->second, so_far, zones);
    last[entry.gate] = verdict.kind;
    out.push_back({entry, std::move(verdict)});
  }
  return out;
}

}  // namespace slipway::delivery::gate
