#include "delivery/rollout/traffic_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/rollout/http_match.h"
#include "json/text.h"

namespace slipway::delivery::rollout {

namespace {

using json::Value;
using TrafficType = HttpMatch::Type;
using Values = std::vector<Value>;

std::unexpected<Status> cannot(const TrafficRow& row, std::string_view what) {
  return fail(Reason::Invalid, fmt::format("traffic.matches: {} cannot match {}; leave it out or use another provider",
                                           row.providers.front(), what));
}

std::unexpected<Status> contradicts(std::string_view what, std::string_view has) {
  return fail(Reason::Invalid,
              fmt::format("traffic.matches: the {} contradicts what the rule itself asks for ({}); leave it out", what, has));
}

/// Where a provider compares prefixes as text, "/a" would also take "/ab": {exact /a} and {prefix /a/} say it right.
std::vector<std::pair<std::string_view, std::string>> text_paths(const HttpMatch& match) {
  if (!match.path) return {};
  std::string value = match.path->value;
  if (match.path->type == TrafficType::Exact) return {{"exact", value}};
  if (match.path->type == TrafficType::RegularExpression) return {{"regex", value}};
  while (value.size() > 1 && value.ends_with('/')) value.pop_back();
  if (value == "/") return {{"prefix", value}};
  return {{"exact", value}, {"prefix", value + "/"}};
}

std::string_view text_type(TrafficType type) { return type == TrafficType::RegularExpression ? "regex" : "exact"; }

/// An alternative of a rule (an object of conditions that must all hold) with one member more.
Result<Value> with_condition(const Value& alternative, std::string_view member, const Value& wanted) {
  const Value& has = alternative[member];
  const bool is_open = has.is_null() || has["prefix"] == Value("/") || has["value"] == Value("/");
  if (!is_open && has != wanted) return contradicts(member, json::print(has));
  return alternative.with(member, wanted);
}

// --- Gateway API: every pair of a match of the rule and one of the split.

Value gateway_field(const HttpMatch::Field& field) {
  return json::object({{"type", to_string(field.type)}, {"name", field.name}, {"value", field.value}});
}

Result<Value> gateway_fields(const Value& present, const std::vector<HttpMatch::Field>& wanted) {
  Value all = present;
  for (const auto& field : wanted) {
    const auto same = std::ranges::find_if(
        present.items(), [&](const Value& item) { return lower(item["name"].as_string()) == lower(field.name); });
    if (same == present.items().end()) {
      all = all.appended(gateway_field(field));
    } else if ((*same)["value"].as_string() != field.value) {
      return contradicts(field.name, (*same)["value"].as_string());
    }
  }
  return all;
}

Result<Value> gateway_alternative(Value alternative, const HttpMatch& match) {
  if (match.path) {
    const Value path = json::object({{"type", to_string(match.path->type)}, {"value", match.path->value}});
    SLIPWAY_TRY(with_path, with_condition(alternative, "path", path));
    alternative = with_path;
  }
  if (!match.method.empty()) {
    SLIPWAY_TRY(with_method, with_condition(alternative, "method", match.method));
    alternative = with_method;
  }
  for (const auto& [member, fields] : {std::pair{"headers", &match.headers}, std::pair{"queryParams", &match.params}}) {
    if (fields->empty()) continue;
    SLIPWAY_TRY(all, gateway_fields(alternative[member], *fields));
    alternative = alternative.with(member, all);
  }
  return alternative;
}

Values alternatives_of(const Value& list) {
  if (list.empty()) return {Value::empty_object()};
  return {list.items().begin(), list.items().end()};
}

Result<Values> gateway_rules(const Value& rule, const std::vector<HttpMatch>& matches, const Value& request_headers) {
  constexpr std::size_t kMostMatches = 64;  // of a rule, by the schema of HTTPRoute
  Values all;
  for (const Value& own : alternatives_of(rule["matches"])) {
    for (const HttpMatch& match : matches) {
      SLIPWAY_TRY(alternative, gateway_alternative(own, match));
      all.push_back(alternative);
    }
  }
  if (all.size() > kMostMatches) return fail(Reason::Invalid, "traffic.matches: together with the rule's own more than 64");
  Value added = rule.without("name").with("matches", json::array(all));
  if (!request_headers.is_null()) {
    added = added.with("filters", added["filters"].appended(json::object(
                                      {{"type", "RequestHeaderModifier"}, {"requestHeaderModifier", request_headers}})));
  }
  return Values{added};
}

// --- Istio: a rule per match, the later first.

Result<Value> istio_fields(Value alternative, std::string_view member, const std::vector<HttpMatch::Field>& fields) {
  for (const auto& field : fields) {
    const std::string name = member == "headers" ? lower(field.name) : field.name;
    SLIPWAY_TRY(all, with_condition(alternative[member], name, json::object({{text_type(field.type), field.value}})));
    alternative = alternative.with(member, all);
  }
  return alternative;
}

Result<Values> istio_alternatives(const Value& own, const HttpMatch& match) {
  SLIPWAY_TRY(with_headers, istio_fields(own, "headers", match.headers));
  SLIPWAY_TRY(base, istio_fields(with_headers, "queryParams", match.params));
  if (!match.method.empty()) {
    SLIPWAY_TRY(with_method, with_condition(base, "method", json::object({{"exact", match.method}})));
    base = with_method;
  }
  if (!match.path) return Values{base};
  Values all;
  for (const auto& [kind, value] : text_paths(match)) {
    SLIPWAY_TRY(alternative, with_condition(base, "uri", json::object({{kind, value}})));
    all.push_back(alternative);
  }
  return all;
}

Value istio_headers(const Value& request_headers) {
  Value request;
  for (const std::string_view verb : {"set", "add"}) {
    for (const Value& header : request_headers[verb].items()) {
      request = request.with_path({verb, header["name"].as_string()}, header["value"]);
    }
  }
  return request_headers.has("remove") ? request.with("remove", request_headers["remove"]) : request;
}

Result<Values> istio_rules(const Value& rule, const std::vector<HttpMatch>& matches, const Value& request_headers) {
  Values rules;
  for (const HttpMatch& match : matches) {
    Values all;
    for (const Value& own : alternatives_of(rule["match"])) {
      SLIPWAY_TRY(some, istio_alternatives(own, match));
      all.insert(all.end(), some.begin(), some.end());
    }
    Value added = rule.without("name").with("match", json::array(all));
    if (!request_headers.is_null()) added = added.with_path({"headers", "request"}, istio_headers(request_headers));
    rules.insert(rules.begin(), added);
  }
  return rules;
}

// --- Contour: a route per match and path; conditions are a list of which all must hold.

Result<Value> contour_conditions(const TrafficRow& row, Value conditions, const HttpMatch& match) {
  if (!match.method.empty()) return cannot(row, "the method");
  for (const auto& [kind, fields] : {std::pair{"header", &match.headers}, std::pair{"queryParameter", &match.params}}) {
    for (const auto& field : *fields) {
      conditions = conditions.appended(
          json::object({{kind, json::object({{"name", field.name}, {text_type(field.type), field.value}})}}));
    }
  }
  return conditions;
}

Result<Values> contour_rules(const TrafficRow& row, const Value& rule, const std::vector<HttpMatch>& matches) {
  Values rules;
  for (const HttpMatch& match : matches) {
    Value own = rule["conditions"];
    if (match.path) {
      for (std::size_t i = own.size(); i-- > 0;) {
        const Value& condition = own.item(i);
        if (condition["prefix"] == Value("/")) {
          own = own.without_item(i);
        } else if (condition.has("prefix") || condition.has("exact") || condition.has("regex")) {
          return contradicts("path", json::print(condition));
        }
      }
      const std::string_view kind = match.path->type == TrafficType::PathPrefix ? "prefix" : text_type(match.path->type);
      own = own.appended(json::object({{kind, match.path->value}}));
    }
    SLIPWAY_TRY(conditions, contour_conditions(row, own, match));
    rules.push_back(rule.with("conditions", conditions));
  }
  return rules;
}

// --- Gloo: one route, a matcher per alternative.

Result<Values> gloo_matchers(const Value& own, const HttpMatch& match) {
  Value base = own;
  for (const auto& [member, fields] : {std::pair{"headers", &match.headers}, std::pair{"queryParameters", &match.params}}) {
    for (const auto& field : *fields) {
      base = base.with(member, base[member].appended(json::object({{"name", field.name},
                                                                   {"value", field.value},
                                                                   {"regex", field.type == TrafficType::RegularExpression}})));
    }
  }
  if (!match.method.empty()) {
    SLIPWAY_TRY(with_method, with_condition(base, "methods", json::array({Value(match.method)})));
    base = with_method;
  }
  if (!match.path)
    return Values{base.has("prefix") || base.has("exact") || base.has("regex") ? base : base.with("prefix", "/")};
  const bool has_path = base.has("exact") || base.has("regex") || (base.has("prefix") && base["prefix"] != Value("/"));
  if (has_path) return contradicts("path", json::print(own));
  Values all;
  for (const auto& [kind, value] : text_paths(match)) all.push_back(base.without("prefix").with(kind, value));
  return all;
}

Result<Values> gloo_rules(const Value& rule, const std::vector<HttpMatch>& matches) {
  Values all;
  for (const Value& own : alternatives_of(rule["matchers"])) {
    for (const HttpMatch& match : matches) {
      SLIPWAY_TRY(some, gloo_matchers(own, match));
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return Values{rule.without("name").with("matchers", json::array(all))};
}

// --- App Mesh and APISIX: a named, more important route per alternative.

Value as_extra_route(const Value& route, std::size_t index, const Value& priority) {
  return route.with("name", fmt::format("{}-match-{}", route["name"].as_string(), index)).with("priority", priority);
}

Result<Value> appmesh_match(const TrafficRow& row, Value own, const HttpMatch& match) {
  for (const auto& field : match.headers) {
    own = own.with("headers", own["headers"].appended(json::object(
                                  {{"name", field.name}, {"match", json::object({{text_type(field.type), field.value}})}})));
  }
  for (const auto& field : match.params) {
    if (field.type != TrafficType::Exact) return cannot(row, "a query parameter by a regular expression");
    own = own.with("queryParameters", own["queryParameters"].appended(json::object(
                                          {{"name", field.name}, {"match", json::object({{"exact", field.value}})}})));
  }
  return match.method.empty() ? Result<Value>(own) : with_condition(own, "method", match.method);
}

Result<Values> appmesh_rules(const TrafficRow& row, const Value& rule, const std::vector<HttpMatch>& matches) {
  const std::string_view protocol = rule.has("httpRoute") ? "httpRoute" : "http2Route";
  constexpr std::int64_t kLeastImportant = 1000;
  const Value priority = std::max<std::int64_t>(rule["priority"].as_int(kLeastImportant) - 1, 0);
  Values rules;
  for (const HttpMatch& match : matches) {
    SLIPWAY_TRY(base, appmesh_match(row, rule[protocol]["match"], match));
    Values all = {base};
    if (match.path) {
      const bool is_open = !base.has("path") && (!base.has("prefix") || base["prefix"] == Value("/"));
      if (!is_open) return contradicts("path", json::print(base));
      all.clear();
      for (const auto& [kind, value] : text_paths(match)) {
        all.push_back(kind == "prefix" ? base.with("prefix", value)
                                       : base.without("prefix").with("path", json::object({{kind, value}})));
      }
    }
    for (const Value& one : all) {
      rules.push_back(as_extra_route(rule.with_path({protocol, "match"}, one), rules.size(), priority));
    }
  }
  return rules;
}

Result<Values> apisix_rules(const TrafficRow& row, const Value& rule, const std::vector<HttpMatch>& matches) {
  Values rules;
  for (const HttpMatch& match : matches) {
    Value own = rule["match"];
    for (const auto& [scope, fields] : {std::pair{"Header", &match.headers}, std::pair{"Query", &match.params}}) {
      for (const auto& field : *fields) {
        const std::string_view op = field.type == TrafficType::Exact ? "Equal" : "RegexMatch";
        const Value expression = json::object(
            {{"subject", json::object({{"scope", scope}, {"name", field.name}})}, {"op", op}, {"value", field.value}});
        own = own.with("exprs", own["exprs"].appended(expression));
      }
    }
    if (!match.method.empty()) {
      SLIPWAY_TRY(with_method, with_condition(own, "methods", json::array({Value(match.method)})));
      own = with_method;
    }
    if (match.path) {
      if (match.path->type == TrafficType::RegularExpression) return cannot(row, "a path by a regular expression");
      if (own.has("paths") && own["paths"] != json::array({"/*"})) return contradicts("path", json::print(own["paths"]));
      Value paths;
      for (const auto& [kind, value] : text_paths(match)) paths = paths.appended(kind == "prefix" ? value + "*" : value);
      own = own.with("paths", paths);
    }
    rules.push_back(as_extra_route(rule.with("match", own), rules.size(), rule["priority"].as_int() + 1));
  }
  return rules;
}

Result<std::vector<HttpMatch>> decoded(const Split& split) {
  std::vector<HttpMatch> matches;
  for (std::size_t i = 0; i < split.matches.size(); ++i) {
    SLIPWAY_TRY(match, HttpMatch::of(split.matches[i], fmt::format("traffic.matches[{}]", i)));
    matches.push_back(std::move(match));
  }
  return matches;
}

}  // namespace

Result<Values> matched_rules(const TrafficRow& row, const Value& rule, const Split& split) {
  if (split.matches.empty()) return Values{};
  SLIPWAY_TRY(matches, decoded(split));
  const bool has_headers = !split.request_headers.is_null();
  if (has_headers && row.dialect != TrafficRow::Dialect::Gateway && row.dialect != TrafficRow::Dialect::Istio) {
    return fail(Reason::Invalid, fmt::format("traffic: {} cannot change request headers", row.providers.front()));
  }
  switch (row.dialect) {
    case TrafficRow::Dialect::Gateway:
      return gateway_rules(rule, matches, split.request_headers);
    case TrafficRow::Dialect::Istio:
      return istio_rules(rule, matches, split.request_headers);
    case TrafficRow::Dialect::Contour:
      return contour_rules(row, rule, matches);
    case TrafficRow::Dialect::Gloo:
      return gloo_rules(rule, matches);
    case TrafficRow::Dialect::AppMesh:
      return appmesh_rules(row, rule, matches);
    case TrafficRow::Dialect::Apisix:
      return apisix_rules(row, rule, matches);
    case TrafficRow::Dialect::None:
    case TrafficRow::Dialect::NginxAnnotations:
      break;
  }
  return cannot(row, "requests");
}

Result<std::vector<std::pair<std::string, std::string>>> canary_annotations(const Split& split) {
  SLIPWAY_TRY(matches, decoded(split));
  std::vector<std::pair<std::string, std::string>> annotations;
  bool has_header = false;
  bool has_cookie = false;
  for (const HttpMatch& match : matches) {
    if (match.path || !match.params.empty() || !match.method.empty() || match.headers.size() != 1) {
      return fail(Reason::Invalid, "traffic.matches: a canary Ingress can match one header, and nothing else, in each match");
    }
    const HttpMatch::Field& header = match.headers.front();
    const bool is_cookie = lower(header.name) == "cookie";
    if (std::exchange(is_cookie ? has_cookie : has_header, true)) {
      return fail(Reason::Invalid, "traffic.matches: a canary Ingress can match one header and one cookie, not several");
    }
    if (is_cookie) {
      const std::size_t equals = header.value.find("=always");
      if (header.type != TrafficType::Exact || equals == std::string::npos || equals + 7 != header.value.size()) {
        return fail(Reason::Invalid, "traffic.matches: of cookies a canary Ingress can match \"NAME=always\" alone (Exact)");
      }
      annotations.emplace_back("canary-by-cookie", header.value.substr(0, equals));
    } else {
      annotations.emplace_back("canary-by-header", header.name);
      annotations.emplace_back(header.type == TrafficType::Exact ? "canary-by-header-value" : "canary-by-header-pattern",
                               header.value);
    }
  }
  return annotations;
}

}  // namespace slipway::delivery::rollout
