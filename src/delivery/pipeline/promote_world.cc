#include "delivery/pipeline/promote_world.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "delivery/pipeline/image.h"
#include "delivery/pipeline/version.h"

namespace slipway::delivery::pipeline {
namespace {

std::map<std::string, std::string> tags_of(std::string_view set) {
  std::map<std::string, std::string> tags;
  for (const std::string_view one : split(set, ',')) {
    const Image image = Image::parse(trimmed(one));
    tags[image.name] = image.tag;
  }
  return tags;
}

Order order_of_images(std::string_view a, std::string_view b) {
  const auto left = tags_of(a);
  const auto right = tags_of(b);
  bool has_older = false;
  bool has_newer = false;
  if (left.size() != right.size()) return Order::Unknown;
  for (const auto& [name, tag] : left) {
    const auto other = right.find(name);
    const auto x = Semver::parse(tag);
    const auto y = other == right.end() ? std::nullopt : Semver::parse(other->second);
    if (other != right.end() && tag == other->second) continue;
    if (!x || !y) return Order::Unknown;
    has_older |= *y < *x;
    has_newer |= *y > *x;
  }
  if (has_older == has_newer) return Order::Unknown;
  return has_newer ? Order::Newer : Order::Older;
}

bool is_before(const Release& a, const Release& b) {
  return a.created != b.created ? a.created < b.created : a.revision < b.revision;
}

bool is_out_of_sight(State state) { return state == State::Unreachable || state == State::Stale || state == State::Forbidden; }

/// What the targets of an environment run, each version once; without digests where targets are not listed.
std::vector<VersionStatus> versions_in(const EnvironmentStatus& status) {
  if (status.version) return {*status.version};
  std::vector<VersionStatus> versions;
  std::set<std::string> texts;
  for (const TargetStatus& target : status.targets) {
    if (target.running.text.empty()) continue;
    texts.insert(target.running.text);
    const bool is_known = std::ranges::any_of(versions, [&](const VersionStatus& one) {
      return one.text == target.running.text && one.digest == target.running.digest;
    });
    if (!is_known) versions.push_back(target.running);
  }
  for (const auto& [text, count] : status.versions) {
    if (!text.empty() && !texts.contains(text)) versions.push_back({.text = text, .digest = "", .time = std::nullopt});
  }
  return versions;
}

}  // namespace

Order order_of(std::string_view a, std::string_view b, std::string_view a_digest, std::string_view b_digest) {
  const Order by_version = order(a, b, a_digest, b_digest);
  return by_version == Order::Unknown ? order_of_images(a, b) : by_version;
}

bool has_exit(const Environment& environment) {
  const bool soaks = environment.soak && *environment.soak > Duration::zero();
  return soaks || std::ranges::any_of(environment.gates, [](const gate::GateSpec& one) { return moment_of(one) == "after"; });
}

PromotionWorld::PromotionWorld(const PromotionInput& all) : input(all), promotions(all.promotions) {
  std::ranges::sort(promotions, [](const KnownPromotion& a, const KnownPromotion& b) {
    return std::tuple(a.created, a.spec.attempt, a.name) < std::tuple(b.created, b.spec.attempt, b.name);
  });
  if (input.acts_as == ActsAs::User) return;
  for (KnownPromotion& one : promotions) one.spec.by.reset();
}

std::optional<std::size_t> PromotionWorld::index_of(std::string_view environment) const {
  const auto at = std::ranges::find(input.spec.environments, environment, &Environment::name);
  if (at == input.spec.environments.end()) return std::nullopt;
  return static_cast<std::size_t>(at - input.spec.environments.begin());
}

const EnvironmentStatus& PromotionWorld::status_of(const std::string& environment) const {
  static const EnvironmentStatus kNothing{};
  const auto at = input.status.environments.find(environment);
  return at == input.status.environments.end() ? kNothing : at->second;
}

const Release* PromotionWorld::find_release(std::string_view name) const {
  const auto at = std::ranges::find(input.releases, name, &Release::name);
  return at == input.releases.end() ? nullptr : &*at;
}

const Release* PromotionWorld::release_at(const VersionStatus& version) const {
  const Release* found = nullptr;
  for (const Release& one : input.releases) {
    const bool is_same = order_of(one.spec.version, version.text, one.spec.digest, version.digest) == Order::Same;
    if (is_same && (found == nullptr || is_before(*found, one))) found = &one;
  }
  return found;
}

std::vector<KnownPromotion*> PromotionWorld::into(std::string_view environment) {
  std::vector<KnownPromotion*> found;
  for (KnownPromotion& one : promotions) {
    if (one.spec.environment == environment) found.push_back(&one);
  }
  return found;
}

std::vector<const KnownPromotion*> PromotionWorld::into(std::string_view environment) const {
  std::vector<const KnownPromotion*> found;
  for (const KnownPromotion& one : promotions) {
    if (one.spec.environment == environment) found.push_back(&one);
  }
  return found;
}

std::vector<const KnownPromotion*> PromotionWorld::of(std::string_view environment, std::string_view release) const {
  std::vector<const KnownPromotion*> found = into(environment);
  std::erase_if(found, [&](const KnownPromotion* one) { return one->spec.release != release; });
  return found;
}

Order PromotionWorld::compare(const Release& release, const VersionStatus& version) const {
  const Order by_version = order_of(release.spec.version, version.text, release.spec.digest, version.digest);
  if (by_version != Order::Unknown) return by_version;
  const Release* other = release_at(version);
  return other == nullptr ? Order::Unknown : is_before(release, *other) ? Order::Newer : Order::Older;
}

Order PromotionWorld::compare(const Release& a, const Release& b) const {
  if (a.name == b.name) return Order::Same;
  return compare(a, VersionStatus{.text = b.spec.version, .digest = b.spec.digest, .time = std::nullopt});
}

Standing PromotionWorld::standing(const std::string& environment, const Release& release) const {
  const EnvironmentStatus& status = status_of(environment);
  Standing made;
  const auto count = [&](const VersionStatus& version) {
    const Order found = compare(release, version);
    made.behind += found == Order::Older ? 1 : 0;
    made.at += found == Order::Same ? 1 : 0;
    made.ahead += found == Order::Newer ? 1 : 0;
    made.apart += found == Order::Drifted ? 1 : 0;
    made.unknown += found == Order::Unknown ? 1 : 0;
    const bool is_odd = found == Order::Newer || found == Order::Drifted || found == Order::Unknown;
    if (is_odd && made.example.empty()) made.example = version.text;
  };
  const auto versions = versions_in(status);
  for (const VersionStatus& version : versions) count(version);
  const auto nowhere = status.versions.find("");
  if (nowhere != status.versions.end() && nowhere->second > 0) ++made.behind;
  if (versions.empty() && nowhere == status.versions.end() && status.target_count > 0) ++made.behind;
  for (const TargetStatus& target : status.targets) {
    const bool is_given_up = target.state == State::Failed || target.state == State::RolledBack;
    const auto wanted = Semver::parse(target.specified.text);
    if (is_given_up || is_out_of_sight(target.state) || !wanted || wanted->precision < 3) continue;
    if (compare(release, target.specified) == Order::Newer) count(target.specified);
  }
  return made;
}

bool PromotionWorld::is_settled_at(const std::string& environment, const Release& release) const {
  const EnvironmentStatus& status = status_of(environment);
  const bool is_settled = status.version && status.target_count > 0 && status.ready_count == status.target_count;
  return is_settled &&
         order_of(release.spec.version, status.version->text, release.spec.digest, status.version->digest) == Order::Same;
}

const KnownPromotion* PromotionWorld::rejection(std::string_view environment, std::string_view release) const {
  for (const KnownPromotion* one : of(environment, release)) {
    if (one->status.phase == Phase::Rejected && !one->status.is_lifted) return one;
  }
  return nullptr;
}

bool PromotionWorld::has_passed(std::string_view environment, std::string_view release) const {
  if (rejection(environment, release) != nullptr) return false;
  const auto all = of(environment, release);
  return std::ranges::any_of(all, [](const KnownPromotion* one) { return one->status.phase == Phase::Succeeded; });
}

KnownPromotion* PromotionWorld::rollback_in_force(std::string_view environment) {
  KnownPromotion* last = nullptr;
  for (KnownPromotion* one : into(environment)) {
    const bool has_begun = one->status.started && one->spec.action != PromotionAction::Observe;
    const bool counts = has_begun && one->status.phase != Phase::Superseded;
    if (counts && (last == nullptr || *last->status.started <= *one->status.started)) last = one;
  }
  const bool is_in_force = last != nullptr && last->spec.action == PromotionAction::Rollback && !last->status.is_lifted;
  return is_in_force ? last : nullptr;
}

bool PromotionWorld::is_verified(std::size_t environment, const Release& release) const {
  const Environment& one = input.spec.environments[environment];
  if (!is_settled_at(one.name, release) || rejection(one.name, release.name) != nullptr) return false;
  return !has_exit(one) || has_passed(one.name, release.name);
}

std::vector<Known<ApprovalSpec>> PromotionWorld::words_on(const KnownPromotion& promotion) const {
  std::vector<Known<ApprovalSpec>> words;
  for (const Known<ApprovalSpec>& one : input.approvals) {
    const bool is_about = one.spec.environment == promotion.spec.environment && one.spec.release == promotion.spec.release;
    if (is_about) words.push_back(one);
  }
  std::ranges::sort(words, [](const auto& a, const auto& b) {
    return std::tuple(a.created, a.revision, a.name) < std::tuple(b.created, b.revision, b.name);
  });
  for (const KnownPromotion* earlier : of(promotion.spec.environment, promotion.spec.release)) {
    if (earlier->spec.attempt >= promotion.spec.attempt || earlier->status.lifted_by.empty()) continue;
    const auto lift = std::ranges::find(words, earlier->status.lifted_by, &Known<ApprovalSpec>::name);
    if (lift != words.end()) words.erase(words.begin(), lift + 1);
  }
  std::erase_if(words, [](const auto& one) { return one.spec.decision == "lift"; });
  if (input.acts_as == ActsAs::Controller) {
    for (Known<ApprovalSpec>& one : words) one.spec.by.reset();
  }
  return words;
}

const Zone* PromotionWorld::zone(const std::string& name) const {
  const auto at = input.zones.find(name);
  return at == input.zones.end() ? nullptr : &at->second;
}

}  // namespace slipway::delivery::pipeline
