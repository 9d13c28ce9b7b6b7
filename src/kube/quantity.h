// Amounts of resources: "500m", "1.5Gi", "1e3" (k8s.io/apimachinery/pkg/api/resource). Exact down to 10^-9; finer amounts round
// up, away from zero. A quantity remembers in which notation it was written and prints in that notation's canonical form.
// DIVERGES: beyond 10^29 amounts stay at 10^29, where upstream has no bound for decimal notations.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace slipway::kube {

class Quantity {
 public:
  enum class Notation : std::uint8_t { DecimalSI, BinarySI, DecimalExponent };
  /// What a text that is no quantity is told.
  static constexpr std::string_view kRule =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

  Quantity() = default;  // 0
  /// BadRequest with upstream's wording.
  static Result<Quantity> parse(std::string_view text);
  static Quantity of_nanos(__int128 nanos, Notation notation = Notation::DecimalSI) { return Quantity(nanos, notation); }
  static Quantity of_units(std::int64_t units, Notation notation = Notation::DecimalSI) {
    return Quantity(static_cast<__int128>(units) * kNanosPerUnit, notation);
  }

  /// Canonical: no fraction, the largest suffix that keeps the amount exact.
  std::string to_string() const;
  Notation notation() const { return notation_; }
  bool is_zero() const { return nanos_ == 0; }
  /// In steps of 10^`exponent` (0: units, -3: milli), rounded up away from zero; saturates.
  std::int64_t scaled(int exponent) const;
  std::int64_t units() const { return scaled(0); }
  std::int64_t millis() const { return scaled(-3); }

  /// Sums and differences keep the notation of the left side.
  Quantity operator+(const Quantity& other) const { return Quantity(nanos_ + other.nanos_, notation_); }
  Quantity operator-(const Quantity& other) const { return Quantity(nanos_ - other.nanos_, notation_); }
  /// By amount; the notation does not count.
  std::strong_ordering operator<=>(const Quantity& other) const { return nanos_ <=> other.nanos_; }
  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }

 private:
  static constexpr std::int64_t kNanosPerUnit = 1'000'000'000;
  Quantity(__int128 nanos, Notation notation) : nanos_(nanos), notation_(notation) {}

  __int128 nanos_ = 0;
  Notation notation_ = Notation::DecimalSI;
};

}  // namespace slipway::kube
