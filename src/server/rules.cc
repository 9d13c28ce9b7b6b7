#include "server/rules.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <utility>

#include "cel/rules.h"

namespace slipway::server {
namespace {

/// Faults after which an object may not even have the types that rules count on.
constexpr std::array<std::string_view, 5> kBlocking{"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong",
                                                    "FieldValueTooMany", "FieldValueTypeInvalid"};

}  // namespace

class Rules {
 public:
  explicit Rules(std::shared_ptr<const cel::SchemaRules> compiled) : compiled_(std::move(compiled)) {}
  explicit Rules(json::Value deferred) : deferred_(std::move(deferred)) {}

  /// nullptr when there are none.
  const cel::SchemaRules* compiled() const {
    std::call_once(once_, [this] {
      if (deferred_.is_null()) return;
      std::vector<Cause> known;
      compiled_ = cel::SchemaRules::compile(std::exchange(deferred_, json::Value()), "", known, true,
                                            cel::SchemaRules::Costs::Estimated);
    });
    return compiled_.get();
  }

 private:
  mutable std::once_flag once_;
  mutable json::Value deferred_;
  mutable std::shared_ptr<const cel::SchemaRules> compiled_;
};

RulesPtr compile_rules(const kube::Schema&, const json::Value& open_api, const std::string& path, std::vector<Cause>& causes) {
  auto compiled = cel::SchemaRules::compile(open_api, path, causes, true, cel::SchemaRules::Costs::Estimated);
  return compiled == nullptr ? nullptr : std::make_shared<const Rules>(std::move(compiled));
}

RulesPtr deferred_rules(json::Value open_api) { return std::make_shared<const Rules>(std::move(open_api)); }

void validate_rules(const Rules& rules, const json::Value& object, const json::Value& old, std::vector<Cause>& causes) {
  const cel::SchemaRules* compiled = rules.compiled();
  if (compiled == nullptr) return;
  const auto is_blocking = [](const Cause& cause) { return std::ranges::find(kBlocking, cause.reason) != kBlocking.end(); };
  if (std::ranges::any_of(causes, is_blocking)) {
    causes.push_back(field::invalid("<nil>", "null",
                                    "some validation rules were not checked because the object was invalid; correct the "
                                    "existing errors to complete validation"));
    return;
  }
  compiled->validate(object, old, causes);
}

}  // namespace slipway::server
