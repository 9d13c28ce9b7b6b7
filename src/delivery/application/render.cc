#include "delivery/application/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cue/patch/patch.h"
#include "delivery/application/contract.h"
#include "delivery/application/naming.h"
#include "delivery/application/render_error.h"
#include "delivery/application/template_run.h"
#include "kube/object.h"

namespace slipway::delivery::application {

namespace {

constexpr int kOwn = -1;  // in place of a trait's number: the component's own template

/// An object beside the workload, perhaps incomplete.
struct Auxiliary {
  std::string name;
  int trait = kOwn;
  cue::Cursor object;
};

/// A template that was evaluated: what is missing may be a parameter of it.
struct Evaluated {
  int trait = kOwn;
  cue::Cursor root;
};

/// `value` as a cursor, which is what patches work on.
cue::Cursor cursor_of(const Value& value) {
  static const auto kProgram = cue::compile({{"patch", "value: _"}});
  return cue::evaluate(*kProgram, {{"value", value}}).field("value");
}

class Renderer {
 public:
  Renderer(const ComponentSpec& component, const ComponentTemplates& templates, const RenderContext& context,
           const std::map<std::string, Value>& answers, const Value& live)
      : component_(component),
        templates_(templates),
        context_(context),
        answers_(answers),
        live_(live),
        context_value_(component_context(component, context)) {
    out_.name = component.name;
    out_.type = component.type;
  }

  std::expected<Rendering, RenderError> run(const Value& patch) {
    const bool is_done = run_component() && run_traits() && patch_from_step(patch) && export_all();
    if (wrong_) return std::unexpected(std::move(*wrong_));
    if (!is_done) return std::move(*call_);
    return std::move(out_);
  }

 private:
  bool run_component() {
    const Value& properties = component_.properties;
    std::optional<cue::Cursor> root = evaluate(kOwn, properties.is_null() ? json::object({}) : properties, context_holes(kOwn));
    if (!root) return false;
    workload_ = root->field("output");
    collect(kOwn, *root);
    return true;
  }

  /// Those that come after the workload is live come last, so that the others never see what they make.
  bool run_traits() {
    std::vector<std::size_t> after;
    for (std::size_t i = 0; i < component_.traits.size(); ++i) {
      if (templates_.traits[i]->stage == Stage::PostDispatch) {
        after.push_back(i);
      } else if (!run_trait(i, context_holes(static_cast<int>(i)))) {
        return false;
      }
    }
    if (live_.is_null()) {
      out_.pending_traits = std::move(after);
      return true;
    }
    return std::ranges::all_of(after, [&](std::size_t i) { return run_trait(i, live_holes()); });
  }

  bool run_trait(std::size_t index, std::vector<cue::Hole> holes) {
    const int trait = static_cast<int>(index);
    std::optional<cue::Cursor> root = evaluate(trait, component_.traits[index].properties, std::move(holes));
    if (!root) return false;
    collect(trait, *root);
    return patch_from_trait(trait, *root);
  }

  /// Only what the template reads is handed over: else each of many components would take in all of them, and each of many
  /// traits what all others made.
  std::vector<cue::Hole> context_holes(int trait) const {
    Value seen = context_value_;
    if (trait != kOwn) seen = seen.with("componentType", revision_name(component_.type));
    const workflow::TemplatePtr& program = definition(trait).program;
    if (program != nullptr) seen = program->context.part_of(seen);
    std::vector<cue::Hole> holes = {{"context", seen}};
    if (trait == kOwn) return holes;
    const auto sees = [&](std::string_view member) { return program == nullptr || program->context.sees(member); };
    if (workload_.exists() && sees("output")) holes.push_back({"context.output", workload_});
    if (!sees("outputs")) return holes;
    for (const auto& [name, object] : newest_auxiliaries()) holes.push_back({outputs_path(name), object});
    return holes;
  }

  std::vector<cue::Hole> live_holes() const {
    Value seen = context_value_.with("componentType", revision_name(component_.type)).with("output", live_["output"]);
    std::vector<cue::Hole> holes = {{"context", seen}};
    for (const auto& [name, object] : newest_auxiliaries()) {
      if (!live_["outputs"].has(name)) holes.push_back({outputs_path(name), object});
    }
    for (auto [name, object] : live_["outputs"].members()) holes.push_back({outputs_path(std::string(name)), object});
    return holes;
  }

  /// By name; of several of one name the last.
  std::map<std::string, cue::Cursor> newest_auxiliaries() const {
    std::map<std::string, cue::Cursor> out;
    for (const Auxiliary& one : auxiliaries_) out[one.name] = one.object;
    return out;
  }

  static std::string outputs_path(const std::string& name) { return fmt::format("context.outputs.\"{}\"", name); }

  std::optional<cue::Cursor> evaluate(int trait, Value parameter, std::vector<cue::Hole> holes) {
    const std::string place = trait == kOwn ? "component" : fmt::format("trait {}", trait);
    auto made = run_template({place, definition(trait), std::move(parameter), std::move(holes), answers_, context_.limits});
    if (auto* root = std::get_if<cue::Cursor>(&made)) {
      evaluated_.push_back({trait, *root});
      return *root;
    }
    if (auto* call = std::get_if<TemplateCall>(&made)) call_ = std::move(*call);
    if (auto* wrong = std::get_if<RenderError>(&made)) stop(trait, std::move(*wrong));
    return std::nullopt;
  }

  void collect(int trait, const cue::Cursor& root) {
    for (const cue::FieldCursor& one : root.field("outputs").fields()) auxiliaries_.push_back({one.name, trait, one.value});
  }

  bool patch_from_trait(int trait, const cue::Cursor& root) {
    if (cue::Cursor change = root.field("patch"); change.exists()) {
      if (!workload_.exists()) return stop(trait, {.message = "it patches a component without `output`"});
      if (!apply(workload_, change, cue::patch_strategy(change), trait, "output")) return false;
    }
    const cue::Cursor changes = root.field("patchOutputs");
    for (Auxiliary& one : auxiliaries_) {
      const cue::Cursor change = changes.field(one.name);
      if (change.exists() && !apply(one.object, change, cue::PatchStrategy::Unify, trait, "outputs." + one.name)) return false;
    }
    return true;
  }

  /// {workload, traits: {NAME: …}}, by names of outputs.
  bool patch_from_step(const Value& patch) {
    if (const Value& change = patch["workload"]; !change.is_null() && workload_.exists()) {
      if (!apply(workload_, cursor_of(change), cue::PatchStrategy::Unify, kOwn, "output")) return false;
    }
    for (Auxiliary& one : auxiliaries_) {
      const Value& change = patch["traits"][one.name];
      if (change.is_null()) continue;
      if (!apply(one.object, cursor_of(change), cue::PatchStrategy::Unify, kOwn, "outputs." + one.name)) return false;
    }
    return true;
  }

  bool apply(cue::Cursor& base, const cue::Cursor& change, cue::PatchStrategy strategy, int trait, const std::string& what) {
    auto patched = cue::apply_patch(base, change, strategy);
    if (!patched) {
      RenderError wrong = describe_errors(patched.error(), definition(trait), Places::Hidden);
      if (are_incomplete(patched.error())) wrong = incomplete(trait, patched.error());
      wrong.message = fmt::format("the patch of {} does not apply: {}", what, wrong.message);
      return stop(trait, std::move(wrong));
    }
    base = *patched;
    return true;
  }

  bool export_all() {
    if (workload_.exists()) {
      auto object = exported(workload_, kOwn, "output");
      if (!object) return false;
      out_.workload = Contract(component_, context_).workload(*object);
    }
    for (const Auxiliary& one : auxiliaries_) {
      auto object = exported(one.object, one.trait, "outputs." + one.name);
      if (!object) return false;
      add_other(one, *object);
    }
    auto manages = [](const DefinitionPtr& trait) { return trait->manages_workload; };
    out_.is_workload_managed = std::ranges::any_of(templates_.traits, manages);
    if (out_.is_workload_managed) out_.workload = Value();
    return true;
  }

  void add_other(const Auxiliary& one, const Value& object) {
    const Definition* trait = one.trait == kOwn ? nullptr : &definition(one.trait);
    RenderedObject made{.name = one.name, .object = object};
    if (trait != nullptr) {
      made.trait = component_.traits[static_cast<std::size_t>(one.trait)].type;
      made.stage = trait->stage;
      made.is_control_plane_only = trait->is_control_plane_only;
    }
    made.is_name_made_up = kube::name(object).empty();
    made.object = Contract(component_, context_).other(made, trait, out_.workload);
    out_.others.push_back(std::move(made));
  }

  std::optional<Value> exported(const cue::Cursor& value, int trait, const std::string& what) {
    auto object = value.to_json();
    if (!object) {
      RenderError wrong = are_incomplete(object.error()) ? incomplete(trait, object.error())
                                                         : describe_errors(object.error(), definition(trait));
      if (!wrong.is_user_error && !wrong.message.starts_with(what)) wrong.message = fmt::format("{}: {}", what, wrong.message);
      stop(blamed_, std::move(wrong));
      return std::nullopt;
    }
    for (const char* name : {"apiVersion", "kind"}) {
      if (!(*object)[name].as_string().empty()) continue;
      stop(trait, {.message = fmt::format("{}.{}: required, this is no Kubernetes object", what, name)});
      return std::nullopt;
    }
    return *object;
  }

  /// A value that is not known: of the templates that took part the first with a missing parameter is to blame, else `trait`.
  RenderError incomplete(int trait, const cue::Errors& errors) {
    blamed_ = trait;
    for (const Evaluated& one : evaluated_) {
      if (trait != kOwn && one.trait != trait && one.trait != kOwn) continue;
      std::vector<ParameterFault> missing = missing_parameters(one.root, definition(one.trait));
      if (missing.empty()) continue;
      blamed_ = one.trait;
      RenderError wrong = error_about(std::move(missing));
      wrong.is_incomplete = true;
      return wrong;
    }
    RenderError wrong = describe_errors(errors, definition(trait));
    wrong.is_incomplete = true;
    return wrong;
  }

  const Definition& definition(int trait) const {
    return trait == kOwn ? *templates_.component : *templates_.traits[static_cast<std::size_t>(trait)];
  }

  bool stop(int trait, RenderError wrong) {
    wrong.component = component_.name;
    if (trait != kOwn) {
      wrong.trait_index = static_cast<std::size_t>(trait);
      wrong.trait = component_.traits[*wrong.trait_index].type;
    }
    wrong_ = std::move(wrong);
    return false;
  }

  const ComponentSpec& component_;
  const ComponentTemplates& templates_;
  const RenderContext& context_;
  const std::map<std::string, Value>& answers_;
  const Value& live_;
  Value context_value_;
  cue::Cursor workload_;
  std::vector<Auxiliary> auxiliaries_;
  std::vector<Evaluated> evaluated_;
  int blamed_ = kOwn;
  RenderedComponent out_;
  std::optional<TemplateCall> call_;
  std::optional<RenderError> wrong_;
};

}  // namespace

std::expected<Rendering, RenderError> render_component(const ComponentSpec& component, const ComponentTemplates& templates,
                                                       const RenderContext& context,
                                                       const std::map<std::string, Value>& answers, const Value& patch,
                                                       const Value& live) {
  if (templates.component == nullptr || templates.traits.size() != component.traits.size())
    return std::unexpected(RenderError{.component = component.name, .message = "a definition is not there"});
  return Renderer(component, templates, context, answers, live).run(patch);
}

}  // namespace slipway::delivery::application
