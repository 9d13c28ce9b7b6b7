// The order in which groups and versions are told: groups as kube-apiserver ranks them, others after them by name; versions
// newest first, stable before beta before alpha (k8s.io/apimachinery/pkg/version CompareKubeAwareVersionStrings).
#pragma once

#include <string_view>

namespace slipway::serve {

struct NewerVersionFirst {
  bool operator()(std::string_view a, std::string_view b) const;
};

struct GroupOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace slipway::serve
