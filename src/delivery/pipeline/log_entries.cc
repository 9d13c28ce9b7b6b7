#include "delivery/pipeline/log_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/log_environment.h"

namespace slipway::delivery::pipeline {
namespace {

using kube::Object;

constexpr std::string_view kController = "slipway";

std::string key_of(std::string_view kind, const Object& object, std::string_view what) {
  return fmt::format("{}/{}/{}/{}", kind, kube::name(object), kube::uid(object), what);
}

Time made(const Object& object, Time now) { return kube::creation_time(object).value_or(now); }

/// Adds entries that are new and young enough.
class Teller {
 public:
  Teller(const Told& told, const LogWorld& world) : told_(told), world_(world) {}

  void tell(DeliveryEntry entry) {
    entry.at = std::chrono::floor<std::chrono::seconds>(std::min(entry.at, world_.now));
    if (told_.has(entry.key) || entry.at + world_.keep <= world_.now) return;
    entries_.emplace(entry.at, std::move(entry));
  }
  void look_again(Time when) { look_again_ = std::min(look_again_.value_or(when), when); }

  void releases();
  void promotions();
  void approvals();
  void holds();
  void freezes();
  void ends();
  NewEntries take() {
    NewEntries made{.entries = {}, .look_again = look_again_};
    for (auto& [at, entry] : entries_) made.entries.push_back(std::move(entry));
    return made;
  }

 private:
  /// "" where no user is named, "unknown" where any user may have written the name.
  std::string author(const std::optional<Author>& by) const {
    if (!by || by->user.empty()) return "";
    return world_.acts_as == ActsAs::User ? by->user : "unknown";
  }
  /// Version and digest of the Release of that name.
  void name_release(DeliveryEntry& entry) const;
  void promotion(const Object& object, const PromotionSpec& spec, const PromotionStatus& status);
  void until(const std::string& key, const DeliveryEntry& begun, const std::optional<Time>& end, std::string_view what);

  const Told& told_;
  const LogWorld& world_;
  std::multimap<Time, DeliveryEntry> entries_;  // those of one moment in the order of their telling
  std::optional<Time> look_again_;
};

void Teller::name_release(DeliveryEntry& entry) const {
  for (const Object& release : world_.releases) {
    if (kube::name(release) != entry.release) continue;
    entry.version = release["spec"]["version"].str();
    entry.digest = release["spec"]["digest"].str();
  }
}

void Teller::releases() {
  for (const Object& object : world_.releases) {
    const auto spec = json::decode<ReleaseSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    std::string text = spec->environment.empty() ? "announced" : fmt::format("first seen in {}", spec->environment);
    if (!spec->commit.empty()) text += fmt::format(", commit {}", spec->commit);
    const auto announcer = spec->notes.find("announced-by");
    tell({.at = made(object, world_.now),
          .what = "released",
          .environment = spec->environment,
          .release = std::string(kube::name(object)),
          .version = spec->version,
          .digest = spec->digest,
          .by = announcer == spec->notes.end() ? std::string(kController) : announcer->second,
          .text = text,
          .key = key_of("Release", object, "released"),
          .artifact_created = spec->artifact_created});
  }
}

void Teller::promotions() {
  for (const Object& object : world_.promotions) {
    const auto spec = json::decode<PromotionSpec>(object["spec"], "spec", {.allow_unknown = true});
    const auto status = json::decode<PromotionStatus>(object["status"], "status", {.allow_unknown = true});
    if (spec && status) promotion(object, *spec, *status);
  }
}

void Teller::promotion(const Object& object, const PromotionSpec& spec, const PromotionStatus& status) {
  DeliveryEntry entry{.environment = spec.environment, .release = spec.release, .by = author(spec.by)};
  if (entry.by.empty()) entry.by = kController;
  name_release(entry);
  const auto told = [&](std::string what, Time at, std::string text) {
    entry.what = std::move(what);
    entry.at = at;
    entry.text = std::move(text);
    entry.key = key_of("Promotion", object, entry.what);
    tell(entry);
  };
  const bool is_back = spec.action == PromotionAction::Rollback;
  if (status.started && spec.action != PromotionAction::Observe) {
    std::string text = fmt::format("{}, attempt {}", status.strategy.empty() ? "no strategy" : status.strategy, spec.attempt);
    if (!spec.comment.empty()) text += fmt::format(": {}", spec.comment);
    told(is_back ? "rolled back" : "promoted", *status.started, text);
  }
  if (status.change_in) {
    told("changed", *status.change_in, status.pull_request.empty() ? status.commit : status.pull_request);
  }
  const Time ended = status.ended.value_or(status.since.value_or(world_.now));
  const std::string why = status.text.empty() ? status.reason : fmt::format("{}: {}", status.reason, status.text);
  switch (status.phase) {
    case Phase::Waiting:
    case Phase::Running:
    case Phase::Settling:
      return;
    case Phase::Succeeded:
      return told("succeeded", ended, why);
    case Phase::Rejected:
      return told("rejected", ended, why);
    case Phase::Superseded:
      return told("superseded", ended, why);
  }
}

void Teller::approvals() {
  for (const Object& object : world_.approvals) {
    const auto spec = json::decode<ApprovalSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    const std::string what = spec->decision == "approve" ? "approved" : spec->decision == "reject" ? "refused" : "lifted";
    std::string text = spec->gate.empty() ? "" : fmt::format("gate {}", spec->gate);
    if (!spec->comment.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", spec->comment);
    DeliveryEntry entry{.at = spec->by && spec->by->time ? *spec->by->time : made(object, world_.now),
                        .what = what,
                        .environment = spec->environment,
                        .release = spec->release,
                        .by = author(spec->by),
                        .text = text,
                        .key = key_of("Approval", object, what)};
    if (entry.by.empty()) entry.by = "unknown";
    name_release(entry);
    tell(entry);
  }
}

/// The end of a hold or freeze that is still there.
void Teller::until(const std::string& key, const DeliveryEntry& begun, const std::optional<Time>& end, std::string_view what) {
  if (!end) return;
  if (*end > world_.now) return look_again(*end);
  tell({.at = *end, .what = std::string(what), .environment = begun.environment, .text = "its time is over", .key = key});
}

std::string environment_list(const std::vector<std::string>& names) {
  if (names.empty()) return "all environments";
  return fmt::format("{}", fmt::join(names, ", "));
}

void Teller::holds() {
  for (const Object& object : world_.holds) {
    const auto spec = json::decode<HoldSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    const DeliveryEntry entry{
        .at = made(object, world_.now),
        .what = "held",
        .environment = spec->environments.size() == 1 ? spec->environments.front() : "",
        .by = author(spec->by),
        .text = fmt::format("{}{}{}", environment_list(spec->environments), spec->comment.empty() ? "" : ": ", spec->comment),
        .key = key_of("Hold", object, "held")};
    tell(entry);
    until(key_of("Hold", object, "resumed"), entry, spec->until, "resumed");
  }
}

void Teller::freezes() {
  for (const Object& object : world_.freezes) {
    const auto spec = json::decode<FreezeSpec>(object["spec"], "spec", {.allow_unknown = true});
    if (!spec) continue;
    const Time begin = std::max(spec->from.value_or(Time::min()), made(object, world_.now));
    if (begin > world_.now) {
      look_again(begin);
      continue;
    }
    std::string text = environment_list(spec->environments);
    if (spec->window) text += fmt::format(", window {} {}", spec->window->rrule, spec->window->time_zone);
    if (!spec->comment.empty()) text += ": " + spec->comment;
    const DeliveryEntry entry{.at = begin,
                              .what = "frozen",
                              .environment = spec->environments.size() == 1 ? spec->environments.front() : "",
                              .by = author(spec->by),
                              .text = text,
                              .key = key_of("Freeze", object, "frozen")};
    tell(entry);
    until(key_of("Freeze", object, "thawed"), entry, spec->until, "thawed");
  }
}

/// Of holds and freezes that were deleted.
void Teller::ends() {
  const auto is_there = [](const std::vector<Object>& objects, std::string_view kind, std::string_view what,
                           const std::string& key) {
    return std::ranges::any_of(objects, [&](const Object& one) { return key_of(kind, one, what) == key; });
  };
  for (const auto& [key, begun] : told_.open()) {
    const bool is_hold = begun.what == "held";
    if (is_hold ? is_there(world_.holds, "Hold", "held", key) : is_there(world_.freezes, "Freeze", "frozen", key)) continue;
    const std::string what = is_hold ? "resumed" : "thawed";
    tell({.at = world_.now,
          .what = what,
          .environment = begun.environment,
          .text = "it was deleted",
          .key = key.substr(0, key.rfind('/') + 1) + what});
  }
}

}  // namespace

void Told::take(const DeliveryEntry& entry) {
  const std::optional target = target_of(entry);
  const bool is_of_state = target || entry.what == "observed" || entry.what == "departed" || entry.what == "failed";
  if (!is_of_state) keys_.insert(digest(entry.key));
  if (entry.what == "held" || entry.what == "frozen") open_[entry.key] = entry;
  if (entry.what == "resumed" || entry.what == "thawed") {
    open_.erase(entry.key.substr(0, entry.key.rfind('/') + 1) + (entry.what == "resumed" ? "held" : "frozen"));
  }
  if (target) {
    targets_[digest(target->first)] = target->second;
  } else if (is_of_state) {
    take_environment(entry);
  }
}

void Told::take_environment(const DeliveryEntry& entry) {
  Environment& of = environments_[entry.environment];
  of.at = entry.at;
  if (entry.what == "observed") {
    of = {.version = entry.version, .digest = entry.digest, .is_there = true, .at = entry.at};
    return;
  }
  of.is_failing = true;
  if (entry.what == "departed") of.is_there = false;
  of.failed.insert(entry.version);
}

NewEntries new_entries(const Told& told, const LogWorld& world) {
  Teller teller(told, world);
  teller.releases();
  teller.promotions();
  teller.approvals();
  teller.holds();
  teller.freezes();
  teller.ends();
  NewEntries seen = environment_entries(told, world);
  for (DeliveryEntry& entry : seen.entries) teller.tell(std::move(entry));
  if (seen.look_again) teller.look_again(*seen.look_again);
  return teller.take();
}

DeliveryEntry removed_entry(std::string_view uid, Time now) {
  return {.at = std::chrono::floor<std::chrono::seconds>(now),
          .what = "removed",
          .text = "the pipeline was deleted",
          .key = fmt::format("Pipeline/{}/removed", uid)};
}

}  // namespace slipway::delivery::pipeline
