// What a pod's spec and a pod template's share: defaults and validation (k8s.io/kubernetes pkg/apis/core).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::server {

/// A PodSpec with the defaults that depend on other fields (the schema has the rest); the same value when nothing was missing.
json::Value with_pod_defaults(const json::Value& spec);

/// Every fault of a PodSpec at `path` ("spec", "spec.template.spec"). `claim_templates`: claims that become volumes of each pod
/// under their own names (spec.volumeClaimTemplates of a StatefulSet); null: none.
void pod_spec_causes(const json::Value& spec, const std::string& path, const json::Value& claim_templates,
                     std::vector<Cause>& causes);

/// The spec of a kind that makes pods, with the defaults of spec.template; the same value when nothing was missing.
json::Value with_template_defaults(const json::Value& spec);

/// Every fault of a PodTemplateSpec at `path` ("spec.template").
void pod_template_causes(const json::Value& pod_template, const std::string& path, const json::Value& claim_templates,
                         std::vector<Cause>& causes);

/// How the kind that keeps pods running is named in messages.
struct OwnedTemplate {
  std::string_view owner_word;  // "deployment"
  std::string_view owner_kind;  // "Deployment"
};
/// Every fault of spec.selector and spec.template, and of the two together, in a kind whose pods are to run for ever.
void owned_template_causes(const json::Value& spec, const OwnedTemplate& rules, std::vector<Cause>& causes);

/// status.qosClass of a pod with this spec.
std::string_view qos_class(const json::Value& spec);

}  // namespace slipway::server
