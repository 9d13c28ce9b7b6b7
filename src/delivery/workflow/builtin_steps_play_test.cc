#include "delivery/workflow/builtin_steps_play_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cue/cue.h"
#include "cue/schema.h"
#include "cue/section.h"
#include "delivery/workflow/builtin_texts.h"
#include "delivery/workflow/template.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using cue::Cursor;
using json::Value;

std::string text_of(std::string_view path) {
  for (const BuiltinText& one : builtin_texts()) {
    if (one.path == path) return std::string(one.text);
  }
  ADD_FAILURE() << "no text " << path;
  return "";
}

std::optional<cue::Program> compiled(const std::string& name, const std::string& text) {
  auto program = cue::compile({{name, text}}, packages(), compile_options());
  EXPECT_TRUE(program.has_value()) << name << (program ? "" : ": " + cue::describe(program.error()));
  return program ? std::optional(*program) : std::nullopt;
}

struct Play {
  const Answers& answers;
  std::map<std::string, std::size_t> asked;

  Value answer(const std::string& call) {
    auto found = answers.find(call);
    if (found == answers.end() || found->second.empty()) return json::object({});
    const std::size_t turn = std::min(asked[call]++, found->second.size() - 1);
    auto value = json::parse(found->second[turn]);
    EXPECT_TRUE(value.has_value()) << found->second[turn];
    return value ? *value : Value();
  }
};

/// What a call is about, in few words.
std::string gist(const std::string& call, const Value& params) {
  const Value& object = params["value"];
  if (call == "builtin.wait" || call == "op.wait") return params["continue"].as_bool() ? "true" : "false";
  if (call.starts_with("builtin.")) return params["message"].str();
  if (call == "http.do") return params["method"].str() + " " + params["url"].str();
  if (call == "util.string") return "";
  if (call == "op.component-apply" || call == "oam.component-apply")
    return params["cluster"].str() + " " + object["name"].str();
  if (call.starts_with("config.")) return params["namespace"].str() + " " + params["name"].str();
  if (!object["kind"].is_null()) {
    const std::string ns = object["metadata"]["namespace"].str();
    std::string cluster = params["cluster"].str();
    if (!cluster.empty()) cluster += ": ";
    return cluster + object["kind"].str() + " " + (ns.empty() ? "" : ns + "/") + object["metadata"]["name"].str();
  }
  return "";
}

constexpr const char* kContext =
    R"({"name":"app","appName":"app","namespace":"ns","stepName":"step","stepSessionID":"id7","publishVersion":"",)"
    R"("appRevision":"app-v2","appRevisionNum":2})";

/// What is concrete of the fields beside `#do`.
Value flat_params(const Cursor& call) {
  json::ObjectBuilder out;
  for (const cue::FieldCursor& one : call.fields()) {
    if (auto value = one.value.to_json()) out.add(one.name, *value);
  }
  return out.build();
}

}  // namespace

Played play(const std::string& step, const std::string& parameter, const Answers& answers) {
  auto program = compiled(step, cue::section(text_of("step/" + step + ".cue"), "template"));
  if (!program) return {};
  Played out;
  Play answering{.answers = answers, .asked = {}};
  Cursor root = cue::evaluate(*program, {{"parameter", *json::parse(parameter)}, {"context", *json::parse(kContext)}});
  std::set<std::string> done;
  for (int turn = 0; turn < 50; ++turn) {
    if (auto errors = root.validate(); !errors.empty()) {
      out.error = errors.front().path + ": " + errors.front().message;
      return out;
    }
    const std::vector<cue::Call> calls = cue::calls(root);
    auto next = std::ranges::find_if(calls, [&](const cue::Call& one) { return !done.contains(one.path); });
    if (next == calls.end()) return out;
    const std::string name = next->provider + "." + next->function;
    const bool is_flat = next->provider == "op";
    auto params = next->value.field("$params").exists() ? next->value.field("$params").to_json() : Value();
    if (is_flat) params = flat_params(next->value);
    if (!params) {
      out.error = next->path + ": " + params.error().front().message;
      return out;
    }
    const std::string about = gist(name, *params);
    out.trace += (out.trace.empty() ? "" : ", ") + name + (about.empty() ? "" : "(" + about + ")");
    out.params.push_back(*params);
    if (name == "builtin.fail" || name == "builtin.suspend") return out;
    if ((name == "builtin.wait" || name == "op.wait") && !(*params)["continue"].as_bool()) return out;
    done.insert(next->path);
    root = cue::fill(root, {{is_flat ? next->path : next->path + ".$returns", answering.answer(name)}});
  }
  ADD_FAILURE() << step << " never ends";
  return out;
}

}  // namespace slipway::delivery::workflow
