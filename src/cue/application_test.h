// A component with a chain of traits, rendered the way the controller will: evaluate, check, patch the workload, collect what
// stands beside it, and hand the result to the next trait.
#pragma once

#include "cue/definitions_test.h"
#include "cue/patch/patch.h"

namespace slipway::cue::testing {

struct Auxiliary {
  std::string name;
  std::string type;
  Cursor object;
};

/// What became of an application, or where it stopped.
struct Outcome {
  std::string stage;  // empty: rendered
  Errors errors;
  json::Value user_errors;
  json::Value workload;
  json::Value auxiliaries;
};

class Application {
 public:
  Application(Definitions& definitions, const json::Value& row) : definitions_(definitions), row_(row) {}

  Outcome render() {
    const json::Value& component = row_["component"];
    if (!run(component, "component-validate", "WORKLOAD")) return outcome_;
    for (const json::Value& trait : row_["traits"].items()) {
      std::string name = trait["Name"].str();
      if (!run(trait, "trait-validate:" + name, name)) return outcome_;
    }
    collect();
    return outcome_;
  }

 private:
  bool fail(std::string stage, Errors errors) {
    outcome_.stage = std::move(stage);
    outcome_.errors = std::move(errors);
    return false;
  }

  bool run(const json::Value& definition, const std::string& stage, const std::string& type) {
    std::string name = definition["Name"].str();
    const Program* program = definitions_.find(name);
    if (program == nullptr) return fail("no program", {});
    std::vector<Hole> holes = {{"parameter", definition["Params"]}, {"context", row_["context"]}};
    if (workload_.exists()) holes.push_back({"context.output", workload_});
    for (const Auxiliary& one : auxiliaries_) holes.push_back({"context.outputs.\"" + one.name + "\"", one.object});
    Cursor root = evaluate(*program, holes);
    if (!check(root, stage)) return false;
    if (!workload_.exists()) workload_ = root.field("output");
    for (const FieldCursor& one : root.field("outputs").fields()) auxiliaries_.push_back({one.name, type, one.value});
    return patch(root, name);
  }

  bool check(const Cursor& root, const std::string& stage) {
    auto told = root.field("errs").to_json();
    Errors errors = root.validate(Demand::Valid);
    bool has_told = told && !told->items().empty();
    if (has_told) outcome_.user_errors = *told;
    return !has_told && errors.empty() ? true : fail(stage, std::move(errors));
  }

  bool patch(const Cursor& root, const std::string& name) {
    if (Cursor change = root.field("patch"); change.exists()) {
      auto patched = apply_patch(workload_, change, patch_strategy(change));
      if (!patched) return fail("trait-patch:" + name, patched.error());
      workload_ = *patched;
    }
    for (const FieldCursor& one : root.field("patchOutputs").fields()) {
      for (Auxiliary& other : auxiliaries_) {
        if (other.name != one.name) continue;
        auto patched = apply_patch(other.object, one.value, PatchStrategy::Unify);
        if (!patched) return fail("trait-patch:" + name, patched.error());
        other.object = *patched;
      }
    }
    return true;
  }

  void collect() {
    json::ArrayBuilder auxiliaries;
    for (const Auxiliary& one : auxiliaries_) {
      auto object = one.object.to_json();
      if (!object) fail("auxiliary-final:" + one.name, object.error());
      auxiliaries.add(json::object({{"name", one.name}, {"type", one.type}, {"object", object ? *object : json::Value()}}));
    }
    if (!auxiliaries_.empty()) outcome_.auxiliaries = auxiliaries.build();
    auto workload = workload_.to_json();
    if (!workload) fail("workload-final", workload.error());
    if (workload) outcome_.workload = *workload;
  }

  Definitions& definitions_;
  const json::Value& row_;
  Cursor workload_;
  std::vector<Auxiliary> auxiliaries_;
  Outcome outcome_;
};

}  // namespace slipway::cue::testing
