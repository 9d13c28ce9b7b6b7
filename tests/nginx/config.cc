#include "config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"

namespace slipway::nginx {

namespace {

using json::Value;

struct Weighted {
  std::string service;
  std::int64_t weight = 1;
};

/// A variable and the map key that it must match.
struct Condition {
  std::string variable;
  std::string key;
};

/// One way for a request to a backend.
struct Way {
  std::tuple<bool, std::size_t, bool, std::size_t, bool, std::size_t, std::size_t> rank;  // greater wins
  std::string place;                                                                      // host and path, of Ingresses
  std::vector<Condition> conditions;
  std::vector<Weighted> backends;
  std::vector<std::pair<Condition, std::string>> overrides;  // what wins over the weights, last first: condition, service
  std::vector<Weighted> mirrors;                             // weight in percent
};

/// Text that a regular expression takes as it is.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(".+*?()[]{}|$").contains(c)) {
      out += fmt::format("[{}]", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string exactly(std::string_view text) { return "~^" + literal(text) + "$"; }

std::string field(std::string_view prefix, std::string_view name) {
  std::string variable = lower(name);
  std::ranges::replace(variable, '-', '_');
  return fmt::format("${}_{}", prefix, variable);
}

std::string path_key(std::string_view type, std::string_view path) {
  if (type == "Exact") return exactly(path);
  if (type == "RegularExpression") return "~^" + std::string(path) + "$";
  while (path.ends_with('/')) path.remove_suffix(1);
  return "~^" + literal(path) + "(/|$)";
}

std::string host_key(std::string_view host) {
  return host.starts_with("*.") ? "~[.]" + literal(host.substr(2)) + "$" : exactly(host);
}

Way way_to(std::string_view host, std::string_view type, std::string_view path) {
  Way way;
  if (!host.empty()) way.conditions.push_back({"$host", host_key(host)});
  way.conditions.push_back({"$uri", path_key(type, path)});
  way.rank = {!host.starts_with("*"), host.size(), type == "Exact", path.size(), false, 0, 0};
  way.place = fmt::format("{} {} {}", host, type, path);
  return way;
}

// --- Ingress

std::vector<Way> ways_of(const Value& ingress) {
  std::vector<Way> ways;
  const auto add = [&](std::string_view host, std::string_view type, std::string_view path, const Value& backend) {
    Way way = way_to(host, type, path);
    way.backends = {{backend["service"]["name"].str(), 1}};
    ways.push_back(std::move(way));
  };
  const Value& spec = ingress["spec"];
  if (spec.has("defaultBackend")) add("", "Prefix", "/", spec["defaultBackend"]);
  for (const Value& rule : spec["rules"].items()) {
    for (const Value& path : rule["http"]["paths"].items()) {
      const bool is_exact = path["pathType"].as_string() == "Exact";
      add(rule["host"].as_string(), is_exact ? "Exact" : "Prefix", path.has("path") ? path["path"].as_string() : "/",
          path["backend"]);
    }
  }
  return ways;
}

constexpr std::string_view kPrefix = "nginx.ingress.kubernetes.io/canary";

std::string_view canary(const Value& ingress, std::string_view name) {
  return ingress["metadata"]["annotations"][std::string(kPrefix) + std::string(name)].as_string();
}

/// Precedence is header, cookie, weight.
void add_canary(Way& way, const Value& ingress, const std::string& service) {
  const std::string main = way.backends.front().service;
  if (const std::string_view weight = canary(ingress, "-weight"); !weight.empty()) {
    const std::int64_t percent = std::stoll(std::string(weight));
    way.backends = {{main, 100 - percent}, {service, percent}};
  }
  if (const std::string_view cookie = canary(ingress, "-by-cookie"); !cookie.empty()) {
    const std::string variable = fmt::format("$cookie_{}", cookie);
    way.overrides.push_back({{variable, exactly("never")}, main});
    way.overrides.push_back({{variable, exactly("always")}, service});
  }
  if (const std::string_view header = canary(ingress, "-by-header"); !header.empty()) {
    const std::string variable = field("http", header);
    const std::string_view value = canary(ingress, "-by-header-value");
    const std::string_view pattern = canary(ingress, "-by-header-pattern");
    if (!value.empty()) {
      way.overrides.push_back({{variable, exactly(value)}, service});
    } else if (!pattern.empty()) {
      way.overrides.push_back({{variable, "~" + std::string(pattern)}, service});
    } else {
      way.overrides.push_back({{variable, exactly("never")}, main});
      way.overrides.push_back({{variable, exactly("always")}, service});
    }
  }
}

Result<std::vector<Way>> ingress_ways(const std::vector<Value>& objects) {
  std::vector<Way> ways;
  for (const bool is_canary : {false, true}) {
    for (const Value& object : objects) {
      if (object["kind"].as_string() != "Ingress" || (canary(object, "") == "true") != is_canary) continue;
      for (Way& way : ways_of(object)) {
        if (!is_canary) {
          ways.push_back(std::move(way));
          continue;
        }
        const auto main = std::ranges::find(ways, way.place, &Way::place);
        if (main != ways.end()) add_canary(*main, object, way.backends.front().service);
      }
    }
  }
  return ways;
}

// --- HTTPRoute

Result<Way> match_way(std::string_view host, const Value& match, std::size_t order) {
  const Value& path = match["path"];
  const std::string_view type = path.has("type") ? path["type"].as_string() : "PathPrefix";
  Way way = way_to(host, type, path.has("value") ? path["value"].as_string() : "/");
  const auto add = [&](std::string_view prefix, const Value& list) {
    for (const Value& item : list.items()) {
      const bool is_pattern = item["type"].as_string() == "RegularExpression";
      const std::string value = item["value"].str();
      way.conditions.push_back({field(prefix, item["name"].as_string()), is_pattern ? "~" + value : exactly(value)});
    }
  };
  if (match.has("method")) way.conditions.push_back({"$request_method", exactly(match["method"].as_string())});
  add("http", match["headers"]);
  add("arg", match["queryParams"]);
  std::get<4>(way.rank) = match.has("method");
  std::get<5>(way.rank) = match["headers"].size() * 100 + match["queryParams"].size();
  std::get<6>(way.rank) = 1000 - order;
  return way;
}

Result<std::vector<Way>> route_ways(const Value& route) {
  std::vector<Way> ways;
  std::vector<std::string> hosts;
  for (const Value& host : route["spec"]["hostnames"].items()) hosts.push_back(host.str());
  if (hosts.empty()) hosts.emplace_back();
  std::size_t order = 0;
  for (const Value& rule : route["spec"]["rules"].items()) {
    std::vector<Weighted> backends;
    std::vector<Weighted> mirrors;
    for (const Value& backend : rule["backendRefs"].items())
      backends.push_back({backend["name"].str(), backend["weight"].as_int(1)});
    for (const Value& filter : rule["filters"].items()) {
      const Value& mirror = filter["requestMirror"];
      if (mirror.is_null()) return fail(Reason::Invalid, fmt::format("filter {} is not known", filter["type"].as_string()));
      mirrors.push_back({mirror["backendRef"]["name"].str(), mirror["percent"].as_int(100)});
    }
    std::vector<Value> matches(rule["matches"].items().begin(), rule["matches"].items().end());
    if (matches.empty()) matches.push_back(Value::empty_object());
    for (const Value& match : matches) {
      for (const std::string& host : hosts) {
        SLIPWAY_TRY(way, match_way(host, match, order));
        way.backends = backends;
        way.mirrors = mirrors;
        ways.push_back(std::move(way));
      }
      ++order;
    }
  }
  return ways;
}

// --- text

class Text {
 public:
  /// A new variable that is 1 where the condition holds.
  std::string flag(const Condition& condition) { return map(condition.variable, condition.key, "1", "0"); }

  /// A new variable: `then` where `subject` matches `key`, else `otherwise`.
  std::string map(std::string_view subject, std::string_view key, std::string_view then, std::string_view otherwise) {
    const std::string name = fresh();
    text_ += fmt::format("  map \"{}\" {} {{ default \"{}\"; \"{}\" \"{}\"; }}\n", subject, name, otherwise, key, then);
    return name;
  }

  /// A service by weight: its upstream, or a new variable; `rest` where all weights are 0.
  std::string split(const std::vector<Weighted>& all, std::string_view rest, std::string_view salt) {
    std::vector<Weighted> some;
    std::int64_t sum = 0;
    for (const Weighted& one : all) {
      if (one.weight > 0) some.push_back(one);
      sum += std::max<std::int64_t>(one.weight, 0);
      services_.insert(one.service);
    }
    if (some.empty()) return std::string(rest);
    if (some.size() == 1) return "svc-" + some.front().service;
    const std::string name = fresh();
    text_ += fmt::format("  split_clients \"${{split_key}}{}\" {} {{\n", salt, name);
    for (std::size_t i = 0; i + 1 < some.size(); ++i) {
      const std::int64_t hundredths = (some[i].weight * 10000 + sum / 2) / sum;
      text_ += fmt::format("    {}.{:02}% \"svc-{}\";\n", hundredths / 100, hundredths % 100, some[i].service);
    }
    text_ += fmt::format("    * \"svc-{}\";\n  }}\n", some.back().service);
    return name;
  }

  std::string mirror(const Weighted& one) {
    services_.insert(one.service);
    if (one.weight >= 100) return "svc-" + one.service;
    const std::string name = fresh();
    text_ += fmt::format("  split_clients \"${{split_key}}mirror\" {} {{ {}% \"svc-{}\"; * \"\"; }}\n", name, one.weight,
                         one.service);
    return name;
  }

  const std::string& text() const { return text_; }
  const std::set<std::string>& services() const { return services_; }

 private:
  std::string fresh() { return fmt::format("$v{}", ++count_); }

  std::string text_;
  std::set<std::string> services_;
  int count_ = 0;
};

std::string upstream(const std::string& service, const Site& site) {
  std::string text = fmt::format("  upstream svc-{} {{\n", service);
  const auto found = site.endpoints.find(service);
  if (found == site.endpoints.end() || found->second.empty()) return text + "    server 127.0.0.1:1 down;\n  }\n";
  for (const std::string& endpoint : found->second) text += fmt::format("    server {};\n", endpoint);
  return text + "    keepalive 64;\n  }\n";
}

constexpr std::string_view kServer = R"(  server {{
    listen 127.0.0.1:{0};
    keepalive_requests 1000000;
    location = /-/version {{ return 200 "{1}"; }}
    location / {{
      if ({2} = "none") {{ return 404; }}
      mirror /-/mirror;
      proxy_next_upstream off;
      proxy_pass http://{2};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
    }}
    location = /-/mirror {{
      internal;
      if ({3} = "") {{ return 204; }}
      proxy_pass http://{3}$request_uri;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }}
  }}
)";

}  // namespace

Result<std::string> site_config(const Site& site, unsigned short port, const std::string& version) {
  SLIPWAY_TRY(ways, ingress_ways(site.objects));
  for (const Value& object : site.objects) {
    const std::string_view kind = object["kind"].as_string();
    if (kind == "Ingress") continue;
    if (kind != "HTTPRoute") return fail(Reason::Invalid, fmt::format("{} is neither an Ingress nor an HTTPRoute", kind));
    SLIPWAY_TRY(more, route_ways(object));
    std::ranges::move(more, std::back_inserter(ways));
  }
  std::ranges::sort(ways, std::less<>(), &Way::rank);
  Text text;
  std::string backend = "none";
  std::string mirror;
  for (const Way& way : ways) {
    std::string chosen = text.split(way.backends, "none", "");
    for (const auto& [condition, service] : way.overrides) {
      chosen = text.map(condition.variable, condition.key, "svc-" + service, chosen);
    }
    std::string flags;
    std::string ones = "~^";
    for (const Condition& condition : way.conditions) {
      flags += text.flag(condition);
      ones += "1";
    }
    backend = text.map(flags, ones + "$", chosen, backend);
    mirror = text.map(flags, ones + "$", way.mirrors.empty() ? "" : text.mirror(way.mirrors.front()), mirror);
  }
  backend = text.map(backend, "~^$", "none", backend);  // a variable, also when nothing is written
  mirror = text.map(mirror, "~^$", "", mirror);
  std::string config = "  map $http_x_request_id $split_key { default $http_x_request_id; \"\" $request_id; }\n" + text.text();
  for (const std::string& service : text.services()) config += upstream(service, site);
  return config + fmt::format(kServer, port, version, backend, mirror);
}

std::string backend_config(unsigned short port, const std::string& text, const std::string& log) {
  return fmt::format(
      "  server {{ listen 127.0.0.1:{}; keepalive_requests 1000000; access_log {}; location / {{ return 200 \"{}\"; }} }}\n",
      port, log, text);
}

}  // namespace slipway::nginx
