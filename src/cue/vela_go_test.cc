// The tables of upstream's own tests: templates with the objects they render, health policies, status messages.
#include <gtest/gtest.h>

#include "cue/application_test.h"

namespace slipway::cue {
namespace {

// What the traits of those tests are applied to.
constexpr const char* kBase = R"(
output: {
	apiVersion: "apps/v1"
	kind:       "Deployment"
	spec: {
		replicas: 2
		selector: matchLabels: "app.oam.dev/component": context.name
		template: {
			metadata: labels: "app.oam.dev/component": context.name
			spec: containers: [{
				name:  "main"
				image: "website:0.1"
				ports: [{containerPort: 443}]
				envFrom: [{configMapRef: name: context.name + "game-config"}]
			}]
		}
	}
}
outputs: gameconfig: {
	apiVersion: "v1"
	kind:       "ConfigMap"
	metadata: name: context.name + "game-config"
	data: {
		enemies: "enemies-data"
		lives:   "lives-data"
	}
}
)";

json::Value context_of_tests() {
  return json::object({{"name", "test"},
                       {"appName", "myapp"},
                       {"appRevision", "myapp-v1"},
                       {"namespace", "default"},
                       {"clusterVersion", json::object({{"major", "1"}, {"minor", 19}})}});
}

// "AuxiliaryWorkloadgameconfig" and "t2service" are called gameconfig and service here.
std::string plain_name(std::string_view key) {
  constexpr std::string_view kPrefix = "AuxiliaryWorkload";
  if (key.starts_with(kPrefix)) return std::string(key.substr(kPrefix.size()));
  bool is_numbered = key.size() > 2 && key[0] == 't' && key[1] >= '0' && key[1] <= '9';
  return std::string(is_numbered ? key.substr(2) : key);
}

std::string compare_objects(const testing::Outcome& outcome, const json::Value& row) {
  if (outcome.workload != row["expect_output"]) return "output is " + json::print(outcome.workload);
  json::Value found = json::Value::empty_object();
  for (const json::Value& one : outcome.auxiliaries.items()) found = found.with(one["name"].as_string(), one["object"]);
  json::Value expected = json::Value::empty_object();
  for (auto [key, object] : row["expect_outputs"].members()) expected = expected.with(plain_name(key), object);
  return found == expected ? "" : "outputs are " + json::print(found) + " instead of " + json::print(expected);
}

std::string render(const json::Value& row) {
  bool is_trait = row["area"].as_string() == "vela-go-trait";
  bool is_error = row["expect_compile_error"].as_bool();
  auto program = compile({{"template.cue", row["template"].str()}}, {}, {.open_names = {"context", "parameter"}});
  if (!program) return is_error ? "" : describe(program.error());
  testing::Definitions definitions;
  definitions.add("base", kBase);
  definitions.add("tested", row["template"].str());
  // Go writes an empty map as it finds it.
  json::Value params = row["params"].is_object() ? row["params"] : json::Value::empty_object();
  json::Value tested = json::object({{"Name", "tested"}, {"Params", params}});
  json::Value base = json::object({{"Name", "base"}, {"Params", json::Value::empty_object()}});
  json::Value application = json::object({{"component", is_trait ? base : tested},
                                          {"traits", is_trait ? json::array({tested}) : json::Value::empty_array()},
                                          {"context", context_of_tests()}});
  testing::Outcome outcome = testing::Application(definitions, application).render();
  bool has_failed = !outcome.stage.empty();
  if (is_error) return has_failed ? "" : "renders " + json::print(outcome.workload);
  return has_failed ? outcome.stage + ": " + describe(outcome.errors) : compare_objects(outcome, row);
}

std::string judge_status(const json::Value& row) {
  bool is_health = row.has("healthTemp");
  std::string text = row[is_health ? "healthTemp" : "statusTemp"].str();
  auto program = compile({{"status.cue", text}}, {}, {.open_names = {"context", "parameter"}});
  if (!program) return describe(program.error());
  std::vector<Hole> holes = {{"context", row["tpContext"]}};
  if (row["parameter"].is_object()) holes.push_back({"parameter", row["parameter"]});
  Cursor root = evaluate(*program, holes);
  if (is_health) return root.field("isHealth").as_bool() == row["exp"].as_bool() ? "" : "another verdict";
  std::string message = root.field("message").as_string();
  return message == row["expMessage"].as_string() ? "" : "message is " + message;
}

TEST(DefinitionsConformance, tables_of_upstream_render_and_judge) {
  auto rows = testing::corpus_rows("vela_go.jsonl");
  if (rows.empty()) GTEST_SKIP() << "no corpus";
  testing::Suite suite("vela_go");
  for (const json::Value& row : rows) {
    const json::Value& table = row["row"];
    if (row.has("template")) {
      if (row["complete"].as_bool()) suite.record(row["id"].str(), render(row));
    } else if (table["healthTemp"].is_string() || table["statusTemp"].is_string()) {
      suite.record(row["id"].str(), judge_status(table));
    }
    // The rest was not written out: parts of it are Go expressions.
  }
}

}  // namespace
}  // namespace slipway::cue
