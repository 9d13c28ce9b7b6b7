#include "delivery/application/template_run.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "cue/patch/patch.h"
#include "delivery/application/render_error.h"
#include "json/text.h"

namespace slipway::delivery::application {

namespace {

constexpr std::size_t kMostCalls = 100;  // of one template
constexpr std::string_view kProcessing = "processing";

struct Asked {
  TemplateCall call;
  std::string answer_path;  // where the answer is filled in
};

/// What is concrete of the parameters: `$params`, or in flat style the fields beside `#do`. Nullopt: they are not known yet.
std::optional<Value> params_of(const cue::Cursor& call) {
  if (cue::Cursor given = call.field("$params"); given.exists()) {
    auto value = given.to_json();
    return value ? std::optional(*value) : std::nullopt;
  }
  json::ObjectBuilder out;
  for (const cue::FieldCursor& one : call.fields()) {
    if (one.name == "$returns") continue;
    if (auto value = one.value.to_json()) out.add(one.name, *value);
  }
  return out.build();
}

bool is_flat(const cue::Call& call) {
  return !call.value.field("$params").exists() && (call.provider.empty() || call.provider == "op");
}

RenderError without_program(const Definition& definition) {
  const std::string name = fmt::format("{} {}", kind_of(definition.kind), definition.name);
  if (!definition.fault.empty()) return {.message = fmt::format("{} does not compile: {}", name, definition.fault)};
  return {.message = name + " has no CUE template, and nothing else is rendered"};
}

class Runner {
 public:
  explicit Runner(TemplateRun run) : run_(std::move(run)) {}

  std::variant<cue::Cursor, TemplateCall, RenderError> run() {
    std::vector<cue::Hole> holes = run_.context;
    if (!run_.parameter.is_null()) holes.push_back({run_.definition.parameter_field, run_.parameter});
    root_ = cue::evaluate(run_.definition.program->program, holes, run_.limits);
    while (auto asked = next()) {
      if (done_.size() >= kMostCalls) return fault(fmt::format("it makes more than {} calls", kMostCalls));
      if (is_unification(asked->call)) {
        if (auto wrong = unify(*asked)) return std::move(*wrong);
        continue;
      }
      auto known = run_.answers.find(asked->call.key);
      if (known == run_.answers.end()) return std::move(asked->call);
      done_.insert(asked->call.key);
      if (auto wrong = fill(*asked, known->second)) return std::move(*wrong);
    }
    if (auto wrong = wrong_in_root()) return std::move(*wrong);
    return root_;
  }

 private:
  /// The first call that was not done and whose parameters are known.
  std::optional<Asked> next() {
    if (!run_.definition.program->may_call) return processing();
    for (const cue::Call& one : cue::calls(root_)) {
      const std::string key = run_.place + "/" + one.path;
      if (done_.contains(key)) continue;
      auto params = params_of(one.value);
      if (!params) continue;
      return Asked{{key, one.provider, one.function, *params}, is_flat(one) ? one.path : one.path + ".$returns"};
    }
    return processing();
  }

  /// cue.#StrategyUnify needs the comments in the template; no other reader does.
  static bool is_unification(const TemplateCall& call) { return call.provider == "cue" && call.function == "strategyUnify"; }

  std::optional<RenderError> unify(const Asked& asked) {
    done_.insert(asked.call.key);
    const std::string path = asked.call.key.substr(run_.place.size() + 1);
    const cue::Cursor params = root_.lookup(path + ".$params");
    const auto unified = cue::apply_patch(params.field("value"), params.field("patch"), cue::PatchStrategy::Unify);
    if (!unified) return describe_errors(unified.error(), run_.definition);
    const auto value = unified->to_json();
    if (!value) return describe_errors(value.error(), run_.definition);
    return fill(asked, *value);
  }

  std::optional<Asked> processing() {
    const std::string key = run_.place + "/processing.http";
    const cue::Cursor http = root_.field(kProcessing).field("http");
    if (!http.exists() || done_.contains(key)) return std::nullopt;
    auto params = http.to_json();
    if (!params) return std::nullopt;
    return Asked{{key, "http", "do", *params}, "processing.output"};
  }

  std::optional<RenderError> fill(const Asked& asked, const Value& answer) {
    Value filled = answer;
    if (asked.answer_path == "processing.output" && answer["body"].is_string()) {
      auto body = json::parse(answer["body"].as_string());
      if (!body || !body->is_object()) return fault("processing.http: the answer is no JSON object");
      filled = *body;
    }
    root_ = cue::fill(root_, {{asked.answer_path, filled}});
    return std::nullopt;
  }

  std::optional<RenderError> wrong_in_root() {
    std::vector<std::string> told;
    for (const cue::Cursor& one : root_.field("errs").items()) {
      if (std::string text = one.as_string(); !text.empty()) told.push_back(text);
    }
    if (!told.empty()) return RenderError{.message = joined(told, "; "), .is_user_error = true};
    const cue::Errors wrong = root_.validate(cue::Demand::Valid);
    if (wrong.empty()) return std::nullopt;
    return describe_errors(wrong, run_.definition);
  }

  static RenderError fault(std::string message) { return {.message = std::move(message)}; }

  TemplateRun run_;
  cue::Cursor root_;
  std::set<std::string> done_;
};

}  // namespace

std::variant<cue::Cursor, TemplateCall, RenderError> run_template(TemplateRun run) {
  if (run.definition.program == nullptr) return without_program(run.definition);
  return Runner(std::move(run)).run();
}

}  // namespace slipway::delivery::application
