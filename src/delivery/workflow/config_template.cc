#include "delivery/workflow/config_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cue/cue.h"
#include "delivery/workflow/template.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

constexpr const char* kNamespace = "vela-system";
constexpr std::size_t kMaxTemplateCalls = 20;  // of one template
/// Writers that hand a configuration to a system outside.
constexpr const char* kWriters[] = {"nacos"};

kube::ObjectKey map_key(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {kNamespace, kConfigTemplatePrefix + name};
  return {name.substr(0, slash), kConfigTemplatePrefix + name.substr(slash + 1)};
}

Status invalid(const ConfigTemplate& made_by, const std::string& what) {
  Status error;
  error.reason = Reason::Invalid;
  error.message = fmt::format("config template {}: {}", made_by.name, what);
  return error;
}

/// Evaluates the template with the answers so far, and asks for what it still needs.
class Rendering {
 public:
  Rendering(ProviderCall call, ConfigTemplate made_by) : call_(std::move(call)), made_by_(std::move(made_by)) {
    providers_.add(standard_providers());
  }

  Task<Result<cue::Cursor>> run(kube::ObjectKey key, Value properties) {
    SLIPWAY_CO_TRY(program, templates_.compile(made_by_.name, made_by_.text));
    const Value context = json::object({{"name", key.name}, {"namespace", key.ns}});
    const std::vector<cue::Hole> holes = {{"context", context}, {"template.parameter", properties}};
    cue::Cursor root = cue::evaluate(program->program, holes, cue::Limits::for_template());
    for (std::set<std::string> done; done.size() <= kMaxTemplateCalls;) {
      if (const cue::Errors wrong = root.validate(cue::Demand::Valid); !wrong.empty()) {
        co_return fail(invalid(made_by_, cue::describe(wrong)));
      }
      const std::vector<cue::Call> calls = cue::calls(root);
      const auto next = std::ranges::find_if(calls, [&](const cue::Call& one) { return !done.contains(one.path); });
      if (next == calls.end()) co_return root;
      done.insert(next->path);
      SLIPWAY_CO_TRY(answer, co_await ask(next->provider, next->function, next->path, next->value.field("$params").to_json()));
      root = cue::fill(root, {{next->path + ".$returns", answer}});
    }
    co_return fail(invalid(made_by_, fmt::format("it makes more than {} calls", kMaxTemplateCalls)));
  }

 private:
  Task<Result<Value>> ask(std::string package, std::string function, std::string path,
                          std::expected<Value, cue::Errors> params) {
    const Provider* provider = providers_.find(package, function);
    if (provider == nullptr)
      co_return fail(
          invalid(made_by_, fmt::format("NotImplemented: there is no function {} of provider {}", function, package)));
    if (!params) co_return fail(invalid(made_by_, cue::describe(params.error())));
    const Answer answer = co_await provider->run({.setting = call_.setting, .params = std::move(*params), .path = path});
    if (answer.kind == Answer::Kind::Done) co_return answer.returns;
    co_return fail(invalid(made_by_, fmt::format("{}: {}", path, answer.message)));
  }

  ProviderCall call_;
  ConfigTemplate made_by_;
  Templates templates_;
  Providers providers_;
};

Result<Value> concrete(const ConfigTemplate& made_by, const cue::Cursor& value) {
  auto read = value.to_json();
  if (!read) return fail(invalid(made_by, cue::describe(read.error())));
  return *read;
}

Result<RenderedConfig> made_of(const ConfigTemplate& made_by, const cue::Cursor& shape) {
  for (const char* writer : kWriters) {
    if (!shape.field(writer).exists()) continue;
    return fail(
        Reason::NotImplemented,
        fmt::format("config template {}: the writer {} is not done here; a step `request` can hand the configuration to "
                    "that system",
                    made_by.name, writer));
  }
  const std::string refusal = shape.field("validation").field("$returns").field("message").as_string();
  if (!refusal.empty()) return fail(Reason::Invalid, "failed to validate config: " + refusal);
  RenderedConfig made;
  if (const cue::Cursor output = shape.field("output"); output.exists()) {
    SLIPWAY_TRY(secret, concrete(made_by, output));
    if (secret["kind"].as_string() != "Secret") return fail(invalid(made_by, "the output format must be secret"));
    made.secret = std::move(secret);
  }
  for (const cue::FieldCursor& one : shape.field("outputs").fields()) {
    SLIPWAY_TRY(object, concrete(made_by, one.value));
    made.objects.push_back(std::move(object));
  }
  return made;
}

}  // namespace

Task<Result<ConfigTemplate>> load_config_template(client::Client& hub, std::string name) {
  const kube::ObjectKey key = map_key(name);
  auto found = co_await client::get(hub, kube::kConfigMaps, key);
  if (!found && found.error().reason == Reason::NotFound) co_return fail(Reason::NotFound, "the template does not exist");
  if (!found) co_return fail(std::move(found).error());
  co_return ConfigTemplate{.name = key.name.substr(std::string_view(kConfigTemplatePrefix).size()),
                           .ns = key.ns,
                           .text = (*found)["data"]["template"].str(),
                           .scope = std::string(kube::label(*found, "config.oam.dev/scope")),
                           .is_sensitive = kube::annotation(*found, "config.oam.dev/sensitive") == "true",
                           .object = *found};
}

Task<Result<RenderedConfig>> render_config(ProviderCall call, ConfigTemplate made_by, kube::ObjectKey key, Value properties) {
  if (made_by.text.empty()) co_return RenderedConfig{};
  Rendering rendering(std::move(call), made_by);
  SLIPWAY_CO_TRY(root, co_await rendering.run(std::move(key), std::move(properties)));
  co_return made_of(made_by, root.field("template"));
}

}  // namespace slipway::delivery::workflow
