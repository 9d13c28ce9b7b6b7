#include "delivery/workflow/template.h"

#include "base/digest.h"

namespace slipway::delivery::workflow {
namespace {

constexpr std::string_view kMissingPackage =
    "; NotImplemented: packages of Package objects are stored and not imported, whatever their protocol: there are vela/* and "
    "CUE's own packages; call a service by HTTP with http.#Do of vela/http or the step request";

}  // namespace

Result<TemplatePtr> Templates::compile(const std::string& name, const std::string& text) {
  std::string digest = sha256_hex(text);
  if (auto known = by_digest_.find(digest); known != by_digest_.end()) {
    recent_.splice(recent_.begin(), recent_, known->second.used);
    return known->second.made;
  }
  auto program = cue::compile({{name + ".cue", text}}, packages(), compile_options());
  if (!program) return fail(Reason::Invalid, cue::describe(program.error()));
  const bool may_call = text.contains("#do") || text.contains("\"vela/");
  const cue::Reads context(program->data(), "context");
  const cue::Reads parameter(program->data(), "parameter");
  auto made = std::make_shared<const Template>(Template{
      .program = std::move(*program), .digest = digest, .may_call = may_call, .context = context, .parameter = parameter});
  recent_.push_front(digest);
  by_digest_.emplace(std::move(digest), Entry{.made = made, .used = recent_.begin()});
  while (by_digest_.size() > capacity_) {
    by_digest_.erase(recent_.back());
    recent_.pop_back();
  }
  return made;
}

cue::CompileOptions compile_options() {
  return {.open_names = {"context", "parameter", "inputs", "status"},
          .allows_unused_imports = true,
          .is_legacy = true,
          .checks_members = true,
          .missing_package_hint = kMissingPackage};
}

}  // namespace slipway::delivery::workflow
