#include "delivery/pipeline/related.h"

#include <fmt/format.h>

namespace slipway::delivery::pipeline {

using json::Value;

std::vector<std::string> related_to(const kube::Object& application) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view kind, std::string_view ns, std::string_view name) {
    if (!name.empty()) found.push_back(fmt::format("{} {}/{}", kind, ns.empty() ? kube::ns(application) : ns, name));
  };
  const Value& spec = application["spec"];
  const std::string chart = application["status"]["helmChart"].str();
  if (const auto slash = chart.find('/'); slash != std::string::npos)
    add("HelmChart", chart.substr(0, slash), chart.substr(slash + 1));
  for (const Value* ref : {&spec["chart"]["spec"]["sourceRef"], &spec["chartRef"], &spec["sourceRef"]}) {
    add((*ref)["kind"].as_string(), (*ref)["namespace"].as_string(), (*ref)["name"].as_string());
  }
  for (const auto& [kind, group] : {std::pair("Kustomization", "kustomize"), std::pair("HelmRelease", "helm")}) {
    add(kind, kube::label(application, fmt::format("{}.toolkit.fluxcd.io/namespace", group)),
        kube::label(application, fmt::format("{}.toolkit.fluxcd.io/name", group)));
  }
  return found;
}

}  // namespace slipway::delivery::pipeline
