#include <fmt/format.h>

#include <charconv>

#include "delivery/rollout/admission.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/plan.h"
#include "delivery/rollout/workload.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using wave::Shape;

constexpr const char* kUnknownSize =
    "the size is not known: give --size N (pods before the rollout), or its workloads' manifests in the files";

bool is_rollout_object(const kube::Object& object) {
  return std::ranges::any_of(
      std::initializer_list<kube::GroupVersionKind>{kTraitKind, kRolloutKind, kAppRolloutKind},
      [&](const kube::GroupVersionKind& kind) { return kube::refers_to(object, kind.group, kind.kind); });
}

/// The kinds' rows, and the files' manifests by reference.
class Files {
 public:
  explicit Files(const CommandCall& call) : call_(call) {}

  std::optional<std::int64_t> size_of(const Value& reference) const {
    for (const SourceObject& one : call_.objects) {
      const auto kind = kube::GroupVersionKind::of(one.object);
      if (!kind || one.object["apiVersion"] != reference["apiVersion"] || kind->kind != reference["kind"].as_string()) continue;
      if (kube::name(one.object) != reference["name"].as_string()) continue;
      const WorkloadRow* row = find_row(workload_rows(), *kind);
      if (row == nullptr || row->size.empty()) return std::nullopt;
      return field_at(one.object, row->size).as_int(1);
    }
    return std::nullopt;
  }

  /// Pods before the rollout.
  std::optional<std::int64_t> size_before(const kube::Object& rollout) const {
    const Value& spec = rollout["spec"];
    if (spec["sourceRef"].size() == 0) return size_of(spec["targetRef"]);
    std::int64_t sum = 0;
    for (const Value& source : spec["sourceRef"].items()) {
      const auto size = size_of(source);
      if (!size) return std::nullopt;
      sum += *size;
    }
    return sum;
  }

 private:
  const CommandCall& call_;
};

Shape shape_of(const kube::Object& rollout, const Subject& subject) {
  const auto kind = kube::GroupVersionKind::of(rollout["spec"]["targetRef"]);
  const WorkloadRow* row = kind ? find_row(workload_rows(), *kind) : nullptr;
  if (row == nullptr) return subject.sources.empty() ? Shape::Scale : Shape::Pair;
  return subject.sources.empty() ? row->alone : row->with_sources;
}

Result<std::string> plan_text(const SourceObject& source, const Files& files, std::optional<std::int64_t> size) {
  const kube::Object rollout = mutate(source.object, {});
  const auto refused = [&](const std::string& field, const std::string& message) {
    const bool is_named = field.empty() || message.contains(field);
    return fail(Reason::Invalid, fmt::format("{}: {}{}", source.at(field), is_named ? "" : field + ": ", message));
  };
  for (const Cause& cause : check_spec(rollout)) return refused(cause.field, cause.message);
  const auto read = read_subject(rollout, {.allow_unknown = false});
  if (!read && !read.error().causes.empty()) {
    const Cause& cause = read.error().causes.front();
    return refused(cause.field, cause.message);
  }
  SLIPWAY_TRY(subject, read);
  SLIPWAY_TRY(plan, read_plan(subject.plan, shape_of(rollout, subject)));
  const std::optional<std::int64_t> whole = plan.settings.shape == Shape::Fields ? std::optional(kWholeOfFields) : size;
  const std::optional<std::int64_t> before = whole ? whole : files.size_before(rollout);
  const bool is_scale = plan.settings.shape == Shape::Scale;
  if (is_scale && !plan.settings.target_size) {
    return refused("spec.rolloutPlan.targetSize", "a scale needs it: there is no source, so it is the size to go to");
  }
  if (!before && (is_scale || !plan.settings.target_size)) return refused("spec.rolloutPlan.targetSize", kUnknownSize);
  const std::int64_t from = before.value_or(*plan.settings.target_size);
  const std::int64_t to = plan.settings.target_size.value_or(from);
  for (const std::string& wrong : wave::check_settings(plan.settings, is_scale ? from : 0, to)) return refused("", wrong);
  return fmt::format("{}/{}: {}", kube::kind(rollout), kube::name(rollout), print(forecast(plan, from), subject));
}

Task<Result<CommandAnswer>> run_plan(CommandCall call) {
  std::optional<std::int64_t> size;
  if (const auto given = call.options.find("size"); given != call.options.end()) {
    const std::string& text = given->second;
    std::int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || number < 0) {
      co_return fail(Reason::BadRequest, fmt::format("--size {}: must be a number of pods", text));
    }
    size = number;
  }
  CommandAnswer answer;
  const Files files(call);
  for (const SourceObject& source : call.objects) {
    if (!is_rollout_object(source.object)) continue;
    SLIPWAY_CO_TRY(text, plan_text(source, files, size));
    answer.text += (answer.text.empty() ? "" : "\n") + text;
  }
  if (answer.text.empty()) co_return fail(Reason::BadRequest, "the files hold no RolloutTrait, Rollout or AppRollout");
  co_return answer;
}

}  // namespace

Command plan_command() {
  return {.verb = "rollout plan",
          .help = "print what a rollout in files would do, batch by batch; no cluster is asked",
          .options = {{.name = "size", .help = "pods before the rollout (default: as the manifests in the files say)"}},
          .run = run_plan};
}

}  // namespace slipway::delivery::rollout
