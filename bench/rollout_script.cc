#include "rollout_script.h"

#include <fmt/format.h>

#include <chrono>

#include "base/check.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"

namespace slipway::bench {

using delivery::rollout::kTraitKind;
using json::Value;
using up::User;

std::string path_of(const kube::Resource& resource) {
  return fmt::format("/apis/{}/{}/namespaces/default/{}", resource.group, resource.version, resource.plural);
}

Value pod_template(const std::string& name, std::string_view image) {
  const Value container = json::object({{"name", "main"}, {"image", Value(image)}});
  return json::object({{"metadata", json::object({{"labels", json::object({{"set", name}})}})},
                       {"spec", json::object({{"containers", json::array({container})}})}});
}

Value deployment(const std::string& name, int replicas, std::string_view image) {
  return Value()
      .with("apiVersion", "apps/v1")
      .with("kind", "Deployment")
      .with_path({"metadata", "name"}, name)
      .with_path({"spec", "replicas"}, replicas)
      .with_path({"spec", "selector", "matchLabels", "set"}, name)
      .with_path({"spec", "template"}, pod_template(name, image));
}

Value rollout(const std::string& name, const std::string& target, const std::string& source, std::string_view plan) {
  const auto reference = [](const std::string& of) {
    return json::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", of}});
  };
  Value made = Value()
                   .with("apiVersion", kTraitKind.api_version())
                   .with("kind", kTraitKind.kind)
                   .with_path({"metadata", "name"}, name)
                   .with_path({"spec", "targetRef"}, reference(target))
                   .with_path({"spec", "rolloutPlan"}, json::parse(plan).value());
  if (!source.empty()) made = made.with_path({"spec", "sourceRef"}, json::array({reference(source)}));
  return made;
}

std::string name_of(char group, int number) { return fmt::format("{}-{:05}", group, number); }

Task<> create(User& user, std::string path, Value object) {
  const auto answer = co_await user.client().send(user.post(path, json::print(object)));
  SLIPWAY_CHECK(answer.has_value(), answer.error().message);
  SLIPWAY_CHECK(answer->status == 201, answer->body);
}

Task<> for_all(User& user, std::size_t width, int end, std::function<Task<>(int)> work) {
  auto next = std::make_shared<int>(0);
  auto some = [](int until, std::function<Task<>(int)> by, std::shared_ptr<int> at) -> Task<> {
    while (*at < until) co_await by((*at)++);
  };
  Tasks tasks(user.env());
  for (std::size_t i = 0; i < width; ++i) tasks.spawn(some(end, work, next));
  co_await tasks.join();
}

Task<> follow(User& user, kube::Resource resource, std::shared_ptr<const bool> is_over,
              std::function<void(const Value&)> note) {
  HttpCall call = user.get(path_of(resource) + "?watch=true&resourceVersion=0");
  call.is_streaming = true;
  auto answer = co_await user.client().send(std::move(call));
  SLIPWAY_CHECK(answer.has_value() && answer->status == 200, "watch refused");
  std::string rest;
  while (!*is_over) {
    auto piece = co_await answer->stream->next();
    if (*is_over) break;
    SLIPWAY_CHECK(piece.has_value() && piece->has_value(), "watch ended early");
    rest += **piece;
    std::size_t line = 0;
    for (std::size_t end; (end = rest.find('\n', line)) != std::string::npos; line = end + 1) {
      const auto event = json::parse(std::string_view(rest).substr(line, end - line));
      SLIPWAY_CHECK(event.has_value(), "no JSON in a watch");
      note((*event)["object"]);
    }
    rest.erase(0, line);
  }
  answer->stream->close();
}

Task<> until(User& user, std::function<bool()> holds) {
  while (!holds()) co_await sleep_for(user.env(), std::chrono::milliseconds{5});
}

}  // namespace slipway::bench
