#include "delivery/wave/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace slipway::delivery::wave {
namespace {

Status not_an_amount(const std::string& field, const std::string& shown) {
  const Cause cause = field::invalid(field, shown, "must be a whole number of pods, or a percentage such as \"20%\"");
  Status status{};
  status.reason = Reason::Invalid;
  status.message = cause.field + ": " + cause.message;
  status.causes = {cause};
  return status;
}

std::int64_t half_up(std::int64_t percents, std::int64_t of) { return (percents * of + 50) / 100; }

/// What batches up to one ask for together: whole numbers and percents apart, because only percents are rounded.
struct Sum {
  std::int64_t pods = 0;
  std::int64_t percent = 0;
  bool is_rest = false;  // one of them takes what is left

  void add(const Batch& batch) {
    if (!batch.pods.empty()) {
      pods += static_cast<std::int64_t>(batch.pods.size());
    } else if (!batch.amount) {
      is_rest = true;
    } else {
      (batch.amount->is_percent ? percent : pods) += batch.amount->number;
    }
  }
  std::int64_t of(std::int64_t way) const {
    if (is_rest) return way;
    const std::int64_t sum = half_up(percent, way) + pods;
    return sum == 0 && percent > 0 ? std::min<std::int64_t>(1, way) : sum;
  }
};

}  // namespace

Result<Amount> parse_amount(const json::Value& value, const std::string& field) {
  if (value.is_int()) {
    if (value.as_int() < 0) return fail(not_an_amount(field, value.number_text()));
    return Amount{.number = value.as_int()};
  }
  const std::string shown = value.is_string() ? fmt::format("\"{}\"", value.as_string()) : value.number_text();
  std::string digits = value.str();
  std::erase(digits, '%');
  Amount amount{.is_percent = true};
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, amount.number);
  if (read.ec != std::errc{} || read.ptr != end || amount.number < 0) return fail(not_an_amount(field, shown));
  return amount;
}

std::int64_t rounded_down(Amount amount, std::int64_t total) {
  return amount.is_percent ? amount.number * total / 100 : amount.number;
}

std::int64_t rounded_up(Amount amount, std::int64_t total) {
  return amount.is_percent ? (amount.number * total + 99) / 100 : amount.number;
}

std::vector<Batch> equal_batches(std::int64_t pods, std::int64_t count) {
  std::vector<Batch> batches;
  batches.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const bool has_one_more = i >= count - pods % count;
    batches.push_back({.amount = Amount{.number = pods / count + (has_one_more ? 1 : 0)}, .pods = {}});
  }
  return batches;
}

std::vector<std::int64_t> goals(const std::vector<Batch>& batches, std::int64_t from, std::int64_t to) {
  const std::int64_t way = std::abs(to - from);
  std::vector<std::int64_t> result;
  result.reserve(batches.size());
  Sum sum;
  for (const Batch& batch : batches) {
    sum.add(batch);
    const std::int64_t moved = std::min(way, sum.of(way));
    result.push_back(to >= from ? from + moved : from - moved);
  }
  result.back() = to;
  return result;
}

std::vector<Cause> check_batches(const std::vector<Batch>& batches, std::int64_t from, std::int64_t to,
                                 const std::string& field) {
  const std::int64_t way = std::abs(to - from);
  std::vector<Cause> causes;
  Sum sum;
  std::int64_t before_last = 0, percent_batches = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (sum.is_rest) {
      causes.push_back(field::required(fmt::format("{}[{}].replicas", field, i - 1), "only the last batch takes what is left"));
      return causes;
    }
    before_last = sum.of(way);
    sum.add(batches[i]);
    percent_batches += batches[i].amount && batches[i].amount->is_percent ? 1 : 0;
  }
  const auto refuse = [&](const std::string& why) { causes.push_back({"FieldValueInvalid", why, field}); };
  const Batch& last = batches.back();
  const bool last_is_number = !last.pods.empty() || (last.amount && !last.amount->is_percent);
  if (sum.percent > 100) {
    refuse(fmt::format("the percentages add up to {} %, more than 100", sum.percent));
  } else if (before_last > way) {
    refuse(fmt::format("the batches before the last make {} pods, but only {} are to change", before_last, way));
  } else if (const std::int64_t all = sum.of(way);
             last_is_number && std::abs(all - way) > percent_batches) {  // each percentage may be a pod off by rounding
    refuse(fmt::format("the batches make {} pods, but {} are to change", all, way));
  }
  return causes;
}

}  // namespace slipway::delivery::wave
