#include "sim/fault.h"

#include <fmt/format.h>

#include <array>

#include "base/manual_env.h"

namespace slipway::sim {
namespace {

constexpr std::array<std::string_view, 15> kNames{"None",         "CrashControllers", "CrashServer", "CrashBoth",
                                                  "LostAnswer",   "Unavailable",      "Conflict",    "CutWatches",
                                                  "StaleCache",   "DiskFails",        "DiskFull",    "WallForwardHour",
                                                  "WallBackHour", "WallForwardDay",   "WallBackDay"};
/// The first so many after None may strike at random.
constexpr std::uint64_t kRandomKinds = static_cast<std::uint64_t>(FaultKind::DiskFull);

}  // namespace

std::string_view to_string(FaultKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<Duration> wall_step(FaultKind kind) {
  const auto hours = [](int count) { return Duration{std::chrono::hours{count}}; };
  switch (kind) {
    case FaultKind::WallForwardHour:
      return hours(1);
    case FaultKind::WallBackHour:
      return hours(-1);
    case FaultKind::WallForwardDay:
      return hours(24);
    case FaultKind::WallBackDay:
      return hours(-24);
    case FaultKind::None:
    case FaultKind::CrashControllers:
    case FaultKind::CrashServer:
    case FaultKind::CrashBoth:
    case FaultKind::LostAnswer:
    case FaultKind::Unavailable:
    case FaultKind::Conflict:
    case FaultKind::CutWatches:
    case FaultKind::StaleCache:
    case FaultKind::DiskFails:
    case FaultKind::DiskFull:
      return std::nullopt;
  }
  return std::nullopt;
}

bool applies(FaultKind kind, Moment moment, bool is_write) {
  switch (kind) {
    case FaultKind::None:
      return false;
    case FaultKind::CrashControllers:
    case FaultKind::CrashServer:
    case FaultKind::CrashBoth:
      return true;
    case FaultKind::LostAnswer:
      return moment == Moment::AfterEffect && is_write;
    case FaultKind::Conflict:
      return moment == Moment::BeforeSend && is_write;
    case FaultKind::Unavailable:
    case FaultKind::CutWatches:
    case FaultKind::StaleCache:
    case FaultKind::WallForwardHour:
    case FaultKind::WallBackHour:
    case FaultKind::WallForwardDay:
    case FaultKind::WallBackDay:
      return moment == Moment::BeforeSend;
    case FaultKind::DiskFails:
    case FaultKind::DiskFull:
      return moment == Moment::BeforeSend && is_write;
  }
  return false;
}

std::string FaultPlan::to_string() const {
  std::string text;
  for (const Fault& fault : exact)
    text += fmt::format("{}{}@{}", text.empty() ? "" : ",", sim::to_string(fault.kind), fault.point);
  if (random_rate > 0) text += fmt::format("{}random(seed={},rate={})", text.empty() ? "" : ",", seed, random_rate);
  return text.empty() ? "clean" : text;
}

FaultInjector::FaultInjector(FaultPlan plan) : plan_(std::move(plan)), random_state_(plan_.seed) {
  for (const Fault& fault : plan_.exact) exact_[fault.point] = fault.kind;
}

FaultKind FaultInjector::at(Moment moment, std::string_view who, std::string_view what, bool is_write) {
  const std::uint64_t index = next_++;
  ++by_controller_[std::string(who)];
  if (is_recording_) recorded_.push_back({index, moment, std::string(who), std::string(what), is_write});
  FaultKind kind = FaultKind::None;
  if (const auto at = exact_.find(index); at != exact_.end() && applies(at->second, moment, is_write)) kind = at->second;
  if (kind == FaultKind::None && plan_.random_rate > 0) kind = random_fault(moment, is_write);
  if (kind != FaultKind::None) struck_.push_back({index, kind});
  return kind;
}

FaultKind FaultInjector::random_fault(Moment moment, bool is_write) {
  if (struck_.size() >= plan_.random_limit) return FaultKind::None;
  SeededRandom random(random_state_);
  const std::uint64_t dice = random.next();
  random_state_ = random.next();
  if (static_cast<double>(dice >> 11) >= plan_.random_rate * static_cast<double>(std::uint64_t{1} << 53))
    return FaultKind::None;
  const auto kind = static_cast<FaultKind>(1 + random.next() % kRandomKinds);
  return applies(kind, moment, is_write) ? kind : FaultKind::None;
}

}  // namespace slipway::sim
