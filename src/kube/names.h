// What may be a name, a label key, a label value: the rules of k8s.io/apimachinery/pkg/util/validation, with their wordings,
// which clients and tests rely on. Each function gives what is wrong, one message per rule broken; nothing when the text is
// right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::kube {

using Faults = std::vector<std::string>;

/// "my-name", up to 63 bytes.
Faults dns1123_label_faults(std::string_view text);
/// "example.com", up to 253 bytes: names of most objects.
Faults dns1123_subdomain_faults(std::string_view text);
/// "*.example.com".
Faults wildcard_dns1123_subdomain_faults(std::string_view text);
/// As a label, but begins with a letter: names of services.
Faults dns1035_label_faults(std::string_view text);
/// "[prefix/]name": label and annotation keys, finalizers.
Faults qualified_name_faults(std::string_view text);
Faults label_value_faults(std::string_view text);
/// Keys of ConfigMap and Secret data.
Faults config_key_faults(std::string_view text);
/// Names of environment variables: any printable ASCII but '='.
Faults env_name_faults(std::string_view text);
/// Names of ports: up to 15 bytes, at least one letter.
Faults port_name_faults(std::string_view text);
Faults port_number_faults(std::int64_t port);
/// "12%".
Faults percent_faults(std::string_view text);

/// Causes for a map of labels, annotations or a list of finalizers at `path` ("metadata.labels"). Null counts as empty; values
/// that are no strings are left to the schema.
std::vector<Cause> label_causes(const json::Value& labels, const std::string& path);
std::vector<Cause> annotation_causes(const json::Value& annotations, const std::string& path);
std::vector<Cause> finalizer_causes(const json::Value& finalizers, const std::string& path);

/// Joined by "; ".
std::string joined(const Faults& faults);

}  // namespace slipway::kube
