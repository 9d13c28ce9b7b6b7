// The nonces of signed calls that were taken, kept as an annotation of the Pipeline that they are about: so a call is taken
// once by all processes together and over restarts, for as long as its timestamp is good. Written before the call has its
// effect: who gets no answer calls again with another nonce. Each is kept by a digest of 64 bits with the second until which it
// is kept, "0123456789abcdef@1772359500", blanks between; texts of others in the annotation are left out.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace slipway::delivery::pipeline {

inline constexpr std::string_view kNoncesAnnotation = "pipelines.slipway.dev/used-nonces";

class UsedNonces {
 public:
  /// About 28 bytes each. Twenty calls in 30 seconds, the limit of one process, come to 400.
  static constexpr std::size_t kMost = 1000;

  /// Those of the annotation that count at `now`.
  UsedNonces(std::string_view annotation, Time now);

  bool contains(std::string_view nonce) const;
  /// False when there is no room for another.
  bool add(std::string_view nonce, Time until);
  std::string to_string() const;

 private:
  std::map<std::string, Time> kept_;  // by digest
};

}  // namespace slipway::delivery::pipeline
