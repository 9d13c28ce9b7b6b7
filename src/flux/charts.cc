#include "flux/charts.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "delivery/family/semver.h"
#include "flux/kinds.h"

namespace slipway::flux {
namespace {

using delivery::Range;
using delivery::Semver;
using json::Value;
using kube::Object;

/// What is wrong keeps the artifact that was there.
Value with_ready(const Object& object, Value status, bool is_ready, std::string reason, std::string text, Time now) {
  const Value conditions = kube::set_condition(status["conditions"],
                                               {"Ready", is_ready ? "True" : "False", std::move(reason), std::move(text)}, now);
  std::vector<Value> stamped;
  for (const Value& one : conditions.items()) stamped.push_back(one.with("observedGeneration", kube::generation(object)));
  return status.with("conditions", json::array(stamped)).with("observedGeneration", kube::generation(object));
}

Value with_artifact(Value status, const std::string& revision, const std::string& digest, Time now) {
  if (status["artifact"]["revision"].as_string() == revision) return status;
  return status.with("artifact",
                     json::object({{"revision", revision}, {"digest", digest}, {"lastUpdateTime", to_rfc3339(now)}}));
}

/// What a version of a chart consists of, as a digest.
std::string digest_of(std::string_view chart, std::string_view version) {
  return "sha256:" + sha256_hex(fmt::format("{} {}", chart, version));
}

}  // namespace

Result<std::string> find_version(const Object& source, std::string_view chart, std::string_view wanted) {
  const std::string said(kube::annotation(source, fmt::format("{}{}", kChartVersions, chart)));
  const auto exact = Semver::parse(wanted);
  const bool is_exact = exact && exact->precision == 3;
  if (said.empty() && is_exact) return std::string(wanted);
  const auto range = Range::parse(wanted);
  if (!range) return fail(Reason::NotFound, fmt::format("{:?} is neither a version nor a range", wanted));
  if (said.empty()) {
    return fail(
        Reason::NotFound,
        fmt::format("which versions of '{}' there are is said by the annotation {}{} of {} '{}/{}', and it is not there", chart,
                    kChartVersions, chart, kube::kind(source), kube::ns(source), kube::name(source)));
  }
  std::string best;
  std::optional<Semver> newest;
  for (const std::string_view one : split(said, ' ')) {
    const auto version = Semver::parse(one);
    if (!version || (is_exact ? one != wanted : !range->is_satisfied_by(*version))) continue;
    if (newest && !(*newest < *version)) continue;
    newest = version;
    best = one;
  }
  if (!newest) return fail(Reason::NotFound, fmt::format("no '{}' chart with version matching '{}' found", chart, wanted));
  return best;
}

Object chart_object(const Object& release) {
  const Value& wanted = release["spec"]["chart"]["spec"];
  const Value& ref = wanted["sourceRef"];
  const std::string_view ns = ref["namespace"].as_string().empty() ? kube::ns(release) : ref["namespace"].as_string();
  const Value& interval = wanted["interval"].is_null() ? release["spec"]["interval"] : wanted["interval"];
  Value spec = json::object({{"chart", wanted["chart"]},
                             {"version", wanted["version"].as_string().empty() ? Value("*") : wanted["version"]},
                             {"reconcileStrategy", "ChartVersion"},
                             {"sourceRef", json::object({{"kind", ref["kind"]}, {"name", ref["name"]}})}});
  if (!interval.is_null()) spec = spec.with("interval", interval);
  return json::object({{"apiVersion", std::string(kSourceGroup) + "/v1"},
                       {"kind", "HelmChart"},
                       {"metadata", json::object({{"name", fmt::format("{}-{}", kube::ns(release), kube::name(release))},
                                                  {"namespace", ns},
                                                  {"labels", json::object({{kReleaseName, kube::name(release)},
                                                                           {kReleaseNamespace, kube::ns(release)}})}})},
                       {"spec", spec}});
}

std::string chart_of_url(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string(url.substr(url.rfind('/') + 1));
}

Value chart_status(const Object& chart, const Object& source, Time now) {
  const Value& spec = chart["spec"];
  const std::string name = spec["chart"].str();
  Value status = chart["status"];
  // A release may name a repository that nobody has made: there is none to ask for the chart here.
  const auto version = find_version(source, name, spec["version"].as_string());
  if (!version) return with_ready(chart, status, false, "InvalidChartReference", version.error().message, now);
  status = with_artifact(status, *version, digest_of(name, *version), now).with("observedChartName", name);
  return with_ready(chart, status, true, "ChartPullSucceeded",
                    fmt::format("pulled '{}' chart with version '{}'", name, *version), now);
}

Value oci_status(const Object& repository, Time now) {
  const Value& ref = repository["spec"]["ref"];
  const std::string name = chart_of_url(repository["spec"]["url"].as_string());
  Value status = repository["status"];
  if (ref.has("digest")) {
    return with_ready(repository, status, false, "OCIArtifactPullFailed",
                      "spec.ref.digest: the simulated Flux takes tag or semver", now);
  }
  const auto version = find_version(repository, name, (ref.has("semver") ? ref["semver"] : ref["tag"]).as_string());
  if (!version) return with_ready(repository, status, false, "OCIArtifactPullFailed", version.error().message, now);
  const std::string digest = digest_of(name, *version), revision = fmt::format("{}@{}", *version, digest);
  status = with_artifact(status, revision, digest, now);
  return with_ready(repository, status, true, "Succeeded", fmt::format("stored artifact for digest '{}'", revision), now);
}

bool is_ready(const Object& source) {
  return kube::is_true(source, "Ready") && source["status"]["observedGeneration"].as_int() == kube::generation(source) &&
         !source["status"]["artifact"].is_null();
}

}  // namespace slipway::flux
