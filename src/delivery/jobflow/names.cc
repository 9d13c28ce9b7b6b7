#include "delivery/jobflow/names.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kHashAndDash = 11;

/// Lower-case letters, digits and single dashes, beginning and ending with a letter or digit; may be empty.
std::string dns_safe(std::string_view text, std::size_t limit) {
  std::string out;
  for (char c : text) {
    if (out.size() >= limit) break;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace

std::string job_name(std::string_view workflow, std::string_view uid, std::string_view step, std::int64_t attempt) {
  const std::string hash = name_hash(fmt::format("{}\n{}\n{}", uid, attempt, step));
  // The step is what tells Jobs apart: it gets at least half of the room.
  std::string safe_step = dns_safe(step, kMaxLabel - kHashAndDash);
  const std::size_t room = kMaxLabel - kHashAndDash;
  const std::size_t for_workflow = room > safe_step.size() + 1 ? room - safe_step.size() - 1 : 0;
  std::string prefix = dns_safe(workflow, std::max(for_workflow, room / 2));
  if (!safe_step.empty()) prefix += "-" + safe_step;
  prefix = dns_safe(prefix, room);
  return prefix.empty() ? "job-" + hash : prefix + "-" + hash;
}

std::string label_value(std::string_view text) {
  if (kube::label_value_faults(text).empty()) return std::string(text);
  const std::string prefix = dns_safe(text, kMaxLabel - kHashAndDash);
  const std::string hash = name_hash(text);
  return prefix.empty() ? hash : prefix + "-" + hash;
}

std::string step_set_name(std::string_view workflow, std::string_view uid, std::int64_t index) {
  std::string prefix(workflow.substr(0, 230));
  while (prefix.ends_with('-') || prefix.ends_with('.')) prefix.pop_back();
  return fmt::format("{}-steps-{}-{}", prefix, index, name_hash(uid));
}

}  // namespace slipway::delivery::jobflow
