// What measurements of rollouts have in common: the objects that they make, and watching what becomes of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "json/value.h"
#include "kube/object.h"
#include "up_process.h"

namespace slipway::bench {

/// Of the objects of one kind in namespace default.
std::string path_of(const kube::Resource& resource);

json::Value pod_template(const std::string& name, std::string_view image);
json::Value deployment(const std::string& name, int replicas, std::string_view image = "shop");
/// A RolloutTrait; `source` empty: one Deployment goes to the plan's targetSize.
json::Value rollout(const std::string& name, const std::string& target, const std::string& source, std::string_view plan);

/// 's', 7: "s-00007".
std::string name_of(char group, int number);

/// POST; ends this program when the server refuses it.
Task<> create(up::User& user, std::string path, json::Value object);
/// Does `work` with the numbers up to `end`, over `width` connections.
Task<> for_all(up::User& user, std::size_t width, int end, std::function<Task<>(int)> work);

/// Tells `note` each object of a watch, until an event comes after `is_over` is true.
Task<> follow(up::User& user, kube::Resource resource, std::shared_ptr<const bool> is_over,
              std::function<void(const json::Value&)> note);
Task<> until(up::User& user, std::function<bool()> holds);

}  // namespace slipway::bench
