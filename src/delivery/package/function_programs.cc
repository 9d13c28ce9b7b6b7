#include "delivery/package/function_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

bool covers(const FunctionConfigSpec& spec, const std::vector<std::string>& tags, const ImageParts& image) {
  const ImageParts own = parts_of(spec.image);
  if (own.name != image.name) return false;
  const auto is_prefix = [&](std::string prefix) {
    while (prefix.ends_with('/')) prefix.pop_back();
    return prefix == image.registry;
  };
  const bool is_named = spec.prefixes.empty() || image.registry.empty() || std::ranges::any_of(spec.prefixes, is_prefix);
  return is_named && (image.tag.empty() || std::ranges::find(tags, image.tag) != tags.end());
}

}  // namespace

ImageParts parts_of(std::string_view image) {
  ImageParts made;
  image = image.substr(0, image.find('@'));
  const std::size_t slash = image.rfind('/');
  std::string_view name = image;
  if (slash != std::string_view::npos) {
    made.registry = image.substr(0, slash);
    name = image.substr(slash + 1);
  }
  const std::size_t colon = name.find(':');
  made.name = name.substr(0, colon);
  if (colon != std::string_view::npos) made.tag = name.substr(colon + 1);
  return made;
}

std::optional<std::string> FunctionTable::program_for(const std::string& image) const {
  const ImageParts parts = parts_of(image);
  for (const FunctionConfigSpec& one : specs_) {
    if (one.binary && covers(one, one.binary->tags, parts)) return one.binary->path;
  }
  return std::nullopt;
}

std::optional<std::string> FunctionTable::built_in_for(const std::string& image) const {
  const ImageParts parts = parts_of(image);
  for (const FunctionConfigSpec& one : specs_) {
    if (one.builtin && covers(one, one.builtin->tags, parts)) return one.builtin->id.value_or(parts.name);
  }
  return std::nullopt;
}

Task<FunctionTable> function_table(client::Client& client, std::string ns) {
  std::vector<FunctionConfigSpec> specs;
  std::vector<std::string> places{ns};
  if (ns != kFunctionNamespace) places.emplace_back(kFunctionNamespace);
  for (const std::string& place : places) {
    client::ListQuery query;
    query.ns = place;
    const auto list = co_await client::list(client, kFunctionConfigs, query);
    if (!list) continue;
    for (const json::Value& item : (*list)["items"].items()) {
      auto spec = json::decode<FunctionConfigSpec>(item["spec"], "spec", {.allow_unknown = true});
      if (spec) specs.push_back(std::move(*spec));
    }
  }
  co_return FunctionTable(std::move(specs));
}

Task<krm::ProgramAnswer> run_function(Env& env, std::string ns, krm::ProgramCall call) {
  if (env.programs == nullptr) {
    co_return krm::ProgramAnswer{
        .exit_code = 1, .output = "", .errors = fmt::format("{}: this process runs no programs", call.program)};
  }
  const auto end = co_await env.programs->run(
      {.name = call.program, .input = std::move(call.input), .sandbox = ProgramSandbox{}, .tenant = std::move(ns)});
  if (!end) co_return krm::ProgramAnswer{.exit_code = 1, .output = "", .errors = end.error().message};
  co_return krm::ProgramAnswer{.exit_code = end->code, .output = end->output, .errors = end->error};
}

}  // namespace slipway::delivery::package
