// How many pods are new after each batch: the arithmetic of a plan. The size goes from one number to another in steps, up or
// down. Percents are of the whole way; they are added up before they are rounded (nearest, half up), so that every plan whose
// percents sum to 100 works at every size; whole numbers are added after. Every goal lies between the one before it and the
// end, and the last is the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::delivery::wave {

/// A number of pods, or a share of a whole: 3, "25%".
struct Amount {
  std::int64_t number = 0;  // pods, or percent
  bool is_percent = false;

  bool operator==(const Amount&) const = default;
};
/// Reads 3, "3%" and, as the OAM rollout did, "3" for 3 %. Invalid for what is neither or negative; `field` names the place.
Result<Amount> parse_amount(const json::Value& value, const std::string& field);
/// As the Kubernetes types do it: percents of `total`, rounded down or up.
std::int64_t rounded_down(Amount amount, std::int64_t total);
std::int64_t rounded_up(Amount amount, std::int64_t total);

/// A batch as far as the sizes go.
struct Batch {
  std::optional<Amount> amount;   // absent: what is left
  std::vector<std::string> pods;  // or these old pods, by name
};

/// `count` batches that together make `pods`, the remainder on the last ones: 8 in 5 is 1, 1, 2, 2, 2.
std::vector<Batch> equal_batches(std::int64_t pods, std::int64_t count);
/// The size after each batch on the way from `from` to `to`. The first batch with a share above 0 moves at least one pod.
/// REQUIRES: at least one batch.
std::vector<std::int64_t> goals(const std::vector<Batch>& batches, std::int64_t from, std::int64_t to);
/// What is wrong with batches for that way: whole numbers that do not add up to it, more than 100 %. `field` is the list's.
std::vector<Cause> check_batches(const std::vector<Batch>& batches, std::int64_t from, std::int64_t to,
                                 const std::string& field);

}  // namespace slipway::delivery::wave
