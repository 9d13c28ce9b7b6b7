#include "delivery/family/identity.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "control/author_right.h"
#include "delivery/family/annotation.h"
#include "json/members.h"
#include "json/text.h"

namespace slipway::delivery {
namespace {

std::vector<std::string> groups_in(std::string_view list) {
  std::vector<std::string> groups;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) groups.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return groups;
}

}  // namespace

kube::Object record_identity(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& old,
                             const kube::Asker& asker) {
  if (asker.user == nullptr) return object;
  if (!old.is_null() && object["spec"] == old["spec"]) {
    return with_identity_of(in, object, old);
  }
  return with_identity(in, object, *asker.user);
}

kube::Object record_author(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& old,
                           const kube::Asker& asker, std::string_view steering) {
  if (asker.user == nullptr) return object;
  const auto steers = [&](const kube::Object& one) {
    return json::members_where(one["metadata"]["annotations"], [&](std::string_view key) {
      const bool is_stamp = key == in.user || key == in.groups;
      return key.starts_with(steering) && !is_stamp;
    });
  };
  const bool is_same = !old.is_null() && object["spec"] == old["spec"] && steers(object) == steers(old);
  return is_same ? with_identity_of(in, object, old) : with_identity(in, object, *asker.user);
}

kube::Object with_identity(const IdentityAnnotations& in, const kube::Object& object, const kube::UserInfo& user) {
  std::vector<std::string> groups;
  std::ranges::copy_if(user.groups, std::back_inserter(groups), [](const std::string& group) { return !group.contains(','); });
  const json::Value narrowing = user.narrowing ? json::Value(json::print(identity_list(user.narrowing->by))) : json::Value();
  return with_annotation(with_annotation(with_annotation(object, in.user, user.name), in.groups, joined(groups, ",")),
                         kContentAuthors, narrowing);
}

kube::Object with_identity_of(const IdentityAnnotations& in, const kube::Object& object, const kube::Object& from) {
  const json::Value& said = from["metadata"]["annotations"];
  return with_annotation(with_annotation(with_annotation(object, in.user, said[in.user]), in.groups, said[in.groups]),
                         kContentAuthors, said[kContentAuthors]);
}

std::shared_ptr<const kube::UserInfo> recorded_identity(const IdentityAnnotations& in, const kube::Object& object) {
  auto user = std::make_shared<kube::UserInfo>();
  user->name = std::string(kube::annotation(object, in.user));
  if (user->name.empty()) return nullptr;
  user->groups = groups_in(kube::annotation(object, in.groups));
  const std::string_view narrowing = kube::annotation(object, kContentAuthors);
  if (narrowing.empty()) return user;
  return std::make_shared<const kube::UserInfo>(narrowed(*user, kube::ns(object), read_identities(narrowing)));
}

json::Value identity_list(const std::vector<kube::UserInfo>& users) {
  json::ArrayBuilder list;
  for (const kube::UserInfo& one : users) list.add(json::object({{"user", one.name}, {"groups", json::array(one.groups)}}));
  return list.build();
}

std::vector<kube::UserInfo> read_identities(std::string_view text) {
  std::vector<kube::UserInfo> users;
  const auto list = json::parse(text);
  for (const json::Value& one : list ? list->items() : std::span<const json::Value>()) {
    kube::UserInfo user;
    user.name = one["user"].str();
    for (const json::Value& group : one["groups"].items()) user.groups.push_back(group.str());
    if (!user.name.empty()) users.push_back(std::move(user));
  }
  if (users.empty()) users.emplace_back().name = control::kUnknownAuthor;
  return users;
}

kube::UserInfo narrowed(kube::UserInfo user, std::string_view ns, const std::vector<kube::UserInfo>& by) {
  const auto is_same = [](const kube::UserInfo& one, const kube::UserInfo& other) {
    return one.name == other.name && one.groups == other.groups;
  };
  auto narrowing = std::make_shared<kube::Narrowing>(user.narrowing ? *user.narrowing : kube::Narrowing{std::string(ns), {}});
  for (const kube::UserInfo& one : by) {
    const auto is_known = [&](const kube::UserInfo& other) { return is_same(one, other); };
    if (!is_same(one, user) && std::ranges::none_of(narrowing->by, is_known)) narrowing->by.push_back(one);
  }
  if (narrowing->ns.empty()) narrowing->ns = ns;
  if (!narrowing->by.empty()) user.narrowing = std::move(narrowing);
  return user;
}

std::shared_ptr<const kube::UserInfo> author_of(const IdentityAnnotations& in, const kube::Object& object, ActsAs acts_as) {
  return acts_as == ActsAs::User ? recorded_identity(in, object) : nullptr;
}

}  // namespace slipway::delivery
