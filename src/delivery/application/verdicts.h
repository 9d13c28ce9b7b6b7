// Verdicts about health, remembered by what they were reached from: the definition, and what its texts read of live objects,
// context and parameters. Deployments that stand alike are judged once, however many there are, and a change that no text reads
// is no reason to judge again.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "delivery/application/render.h"

namespace slipway::delivery::application {

/// What judge() comes to is the same for the same digest: of the definition, and of what it reads of the rest. A Secret counts
/// as a whole, as verdicts are freed of its texts.
std::string sight_digest(const Definition& definition, const Value& context, const Value& parameter, const Value& output,
                         const Value& outputs);

/// By sight_digest(). For the logic thread.
class Verdicts {
 public:
  /// As many are kept at least, of those that were asked for last; at most twice as many.
  static constexpr std::size_t kKept = 4096;

  /// Null when it is not known. Valid until the next call.
  const HealthVerdict* find(const std::string& digest);
  void put(std::string digest, HealthVerdict verdict);

 private:
  using Known = std::map<std::string, HealthVerdict>;
  Known recent_;  // asked for since `before_` was what is here
  Known before_;
};

}  // namespace slipway::delivery::application
