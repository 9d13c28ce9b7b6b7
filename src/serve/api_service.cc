#include "serve/api_service.h"

#include <fmt/format.h>

#include <charconv>

#include "base/digest.h"

namespace slipway::serve {
namespace {

constexpr const char* kManagedBy = "app.kubernetes.io/managed-by";
constexpr const char* kUs = "slipway";
// As samples of upstream have them: they only order groups and versions in discovery.
constexpr int kGroupPriority = 1000;
constexpr int kVersionPriority = 15;

}  // namespace

Result<void> read_service(ApiServiceTarget& target, const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::size_t colon = text.find(':');
  const std::size_t end = std::min(colon, text.size());
  if (colon != std::string::npos) {
    const auto [rest, fault] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), target.service_port);
    if (fault != std::errc() || rest != text.data() + text.size()) target.service_port = 0;
  }
  const bool is_whole = slash != std::string::npos && slash > 0 && slash + 1 < end && target.service_port != 0;
  if (!is_whole) return fail(Reason::BadRequest, fmt::format("{} is NAMESPACE/NAME or NAMESPACE/NAME:PORT", option));
  target.service_ns = text.substr(0, slash);
  target.service_name = text.substr(slash + 1, end - slash - 1);
  return {};
}

kube::Object api_service(const ApiServiceTarget& target) {
  const json::Value service = json::object({{"namespace", json::Value(target.service_ns)},
                                            {"name", json::Value(target.service_name)},
                                            {"port", json::Value(std::int64_t{target.service_port})}});
  const json::Value spec = json::object({{"group", json::Value(target.group)},
                                         {"version", json::Value(target.version)},
                                         {"groupPriorityMinimum", json::Value(kGroupPriority)},
                                         {"versionPriority", json::Value(kVersionPriority)},
                                         {"caBundle", json::Value(base64_encode(target.authority_pem))},
                                         {"service", service}});
  return json::object({{"apiVersion", json::Value("apiregistration.k8s.io/v1")},
                       {"kind", json::Value("APIService")},
                       {"metadata", json::object({{"name", json::Value(target.name())},
                                                  {"labels", json::object({{kManagedBy, json::Value(kUs)}})}})},
                       {"spec", spec}});
}

Result<void> check_owner(const json::Value& found, const ApiServiceTarget& target) {
  if (found.is_null() || kube::label(found, kManagedBy) == kUs) return {};
  const json::Value& service = found["spec"]["service"];
  const bool is_given = !target.service_name.empty() && service["namespace"].as_string() == target.service_ns &&
                        service["name"].as_string() == target.service_name;
  if (is_given) return {};
  const std::string who = service.is_null()
                              ? std::string("the cluster itself, by a CustomResourceDefinition")
                              : fmt::format("Service {}/{}", service["namespace"].as_string(), service["name"].as_string());
  return fail(Reason::Conflict,
              fmt::format("APIService {} is answered by {}: two servers of the same packages would work against each other. "
                          "Remove that server and its APIService first, or run without this listener",
                          target.name(), who));
}

}  // namespace slipway::serve
