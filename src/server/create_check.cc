#include "server/create_check.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "kube/builtin.h"
#include "kube/schema.h"
#include "server/meta_rules.h"

namespace slipway::server {
namespace {

constexpr const char* kUid = "00000000-0000-4000-8000-000000000000";

}  // namespace

CreateCheck::CreateCheck(const kube::GroupVersionKind& kind) {
  const auto registry = std::make_shared<Registry>();
  for (const kube::ResourceType& type : kube::builtin_types()) {
    if (type.kind != kind) continue;
    registry->put(type);
    served_ = registry->served(type.resource).value();
  }
  SLIPWAY_CHECK(served_ != nullptr, kind.kind);
  registry_ = registry;
}

std::vector<Cause> CreateCheck::operator()(const kube::Object& object) const {
  const kube::Schema& schema = *served_->type.schema;
  const Strategy& strategy = *served_->strategy;
  kube::Object whole = schema.prune(object, nullptr);
  whole = with_birth(whole, {std::string(kube::name(object)), kube::ns(object), kUid, Time{}, true, 0});
  whole = schema.fill_defaults(whole);
  if (strategy.fill_defaults != nullptr) whole = strategy.fill_defaults(whole);
  if (strategy.prepare_create != nullptr) {
    whole = strategy.prepare_create(whole, {.registry = *registry_, .now = Time{}, .numbers = nullptr, .user = nullptr});
  }
  std::vector<Cause> causes;
  metadata_causes(whole, json::Value(), {.name = strategy.name_rule}, causes);
  std::ranges::move(schema.validate(whole, nullptr), std::back_inserter(causes));
  if (causes.empty() && strategy.validate != nullptr) strategy.validate(whole, json::Value(), causes);
  return causes;
}

}  // namespace slipway::server
