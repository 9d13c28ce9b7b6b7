// Steps that make the Application from a template and write it back (helm-template, kustomize-patch): what of the rendered
// Application goes into the spec, and when writing back must end. Pure. After design/vela-core/workflow_policy.md of KubeVela,
// case 5.
//
// DIVERGES: there, objects HelmTemplate and KustomizePatch have a controller of their own; here the step does it.
//
// The annotation kPreRender says what each step has written. It is written together with the spec, so that a crash cannot part
// them. A step that finds nothing to write marks its record settled. It stops when it would have to write what it wrote last
// although that was never settled (a user sets it back at once, or the server changes it), and after ten writes from the same
// inputs (rendering that differs each time, or a user who sets it back later).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"
#include "delivery/workflow/run_status.h"
#include "delivery/workflow/step.h"
#include "json/value.h"

namespace slipway::delivery::application {

using json::Value;

inline constexpr const char* kPreRender = "slipway.dev/pre-render";
inline constexpr std::int64_t kMostWriteBacks = 10;

struct PreRenderRecord {
  std::string inputs;  // digest of the step's properties and the source's commit
  std::string digest;  // of the spec that was written
  std::int64_t writes = 0;
  bool is_settled = false;

  bool operator==(const PreRenderRecord&) const = default;
};

using PreRenderRecords = std::map<std::string, PreRenderRecord>;  // by step

/// From the annotation; what is no record is none.
PreRenderRecords read_records(std::string_view annotation);
std::string print_records(const PreRenderRecords& records);

struct WriteBack {
  enum class Kind : std::uint8_t {
    Done,    // nothing to write
    Settle,  // only the record
    Write,   // the spec and the record
    Stop,    // no more: `message`
  };
  Kind kind = Kind::Done;
  PreRenderRecord record{};
  std::string message{};
};

/// `known` null: the step has written nothing yet. `is_same`: the spec says already what was rendered.
WriteBack decide_write_back(const PreRenderRecord* known, const std::string& inputs, const std::string& digest, bool is_same);

/// The one Application among the documents that a program printed (YAML); others are an error, since nothing would apply them.
Result<Value> rendered_application(const std::string& text);

/// The spec with what the rendered one says: its fields replace those of the same name. Of `workflow` the steps of stage
/// pre-render stay those of `spec`, all others are the rendered one's when it has steps. Errors: Invalid when both name a
/// workflow in ways that do not go together.
Result<Value> merged_spec(const Value& spec, const Value& rendered);

/// Whether there are steps of that stage, and whether all of them have succeeded or were skipped: then the rest is rendered.
bool has_pre_render(const workflow::Steps& steps);
bool has_pre_render_succeeded(const workflow::Steps& steps, const workflow::RunStatus& run);
/// What a failed step of that stage says; empty: none has failed.
std::string pre_render_failure(const workflow::Steps& steps, const workflow::RunStatus& run);

}  // namespace slipway::delivery::application
