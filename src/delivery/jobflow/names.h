// Names, labels and annotations that a Workflow's controller gives to Jobs and step sets. All are functions of their arguments,
// so that a create that is done again meets the object it made before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::delivery::jobflow {

/// On every Job and its pods: which workflow. The default selector asks for it.
inline constexpr std::string_view kWorkflowLabel = "batch.slipway.dev/workflow";
/// On every Job: which step, as far as a label value can say it.
inline constexpr std::string_view kStepLabel = "batch.slipway.dev/step";
/// On every Job: the full step name and the attempt, from 1.
inline constexpr std::string_view kStepAnnotation = "batch.slipway.dev/step";
inline constexpr std::string_view kAttemptAnnotation = "batch.slipway.dev/attempt";
/// On the pods of attempts after the first: chooses among the exit codes of a simulated pod.
inline constexpr std::string_view kPodAttemptAnnotation = "slipway.dev/attempt";
/// On every Workflow: so that WorkflowDeleted is told whatever happens.
inline constexpr std::string_view kWorkflowFinalizer = "batch.slipway.dev/workflow";
/// On Jobs that delete themselves (ttlSecondsAfterFinished): until their end is recorded.
inline constexpr std::string_view kJobFinalizer = "batch.slipway.dev/recorded";

/// `<workflow>-<step>-<hash>`: a DNS label; the hash is of (uid, step, attempt).
std::string job_name(std::string_view workflow, std::string_view uid, std::string_view step, std::int64_t attempt);
/// The text itself where it is a label value, else a readable prefix and a hash.
std::string label_value(std::string_view text);
/// `<workflow>-steps-<index>-<hash>`, up to 253 bytes.
std::string step_set_name(std::string_view workflow, std::string_view uid, std::int64_t index);

}  // namespace slipway::delivery::jobflow
