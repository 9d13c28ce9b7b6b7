// Whether a Repository is one that clusters read (spec.deployment).
#pragma once

namespace slipway::package_test {

enum class Deployment : bool { No, Yes };

}  // namespace slipway::package_test
