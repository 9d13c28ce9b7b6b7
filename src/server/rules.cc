#include "server/rules.h"

namespace slipway::server {

class Rules {};

RulesPtr compile_rules(const kube::Schema&, const json::Value&, const std::string&, std::vector<Cause>&) { return nullptr; }

void validate_rules(const Rules&, const json::Value&, const json::Value&, std::vector<Cause>&) {}

}  // namespace slipway::server
