#include "application_world.h"

#include <fmt/format.h>

#include "../application/oracle_status.h"

namespace slipway::seeds_test {

using oracle_test::kHub;

void ApplicationWorld::restart_with(std::map<std::string, std::string> options) {
  plane_.reset();
  plane_ = std::make_unique<oracle_test::Plane>(&oracle_test::image(),
                                                oracle_test::PlaneOptions{.family_options = std::move(options)});
  plane_->make_namespace("default");
}

void ApplicationWorld::apply(const std::string& yaml) {
  const auto objects = json::parse_yaml_all(yaml);
  ASSERT_TRUE(objects) << objects.error().message << "\n" << yaml;
  for (const json::YamlDocument& one : *objects) EXPECT_EQ(plane_->apply(one.value, "default"), "") << yaml;
  plane_->pass(seconds{3});
}

Value ApplicationWorld::reference(const std::string& version, const std::string& kind, const std::string& name) {
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
}

Value ApplicationWorld::find(const std::string& version, const std::string& kind, const std::string& name) {
  return plane_->find(kHub, reference(version, kind, name));
}

std::string ApplicationWorld::shown(const std::string& name) {
  const Value now = application(name);
  std::string text = oracle_test::phase_of(now);
  for (const Value& step : oracle_test::steps_of(now).items()) {
    text += fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
    if (step.has("reason")) text += "/" + step["reason"].str();
  }
  return text;
}

std::string ApplicationWorld::end(const std::string& name) {
  oracle_test::await_end(*plane_, reference("core.oam.dev/v1beta1", "Application", name));
  return shown(name);
}

std::string ApplicationWorld::message(std::size_t step, const std::string& name) {
  return run(name)["steps"].item(step)["message"].str();
}

std::string ApplicationWorld::names(const std::string& kind) {
  std::string text;
  for (const Value& object : plane_->all(kHub, "default")) {
    if (object["kind"].as_string() != kind) continue;
    text += (text.empty() ? "" : " ") + std::string(kube::name(object));
  }
  return text;
}

std::string ApplicationWorld::sizes() {
  std::string text;
  for (const Value& object : plane_->all(kHub, "default")) {
    if (object["kind"].as_string() != "Deployment") continue;
    text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(object), object["status"]["readyReplicas"].as_int(),
                        object["spec"]["replicas"].as_int());
  }
  return text;
}

void ApplicationWorld::write_status(const std::string& yaml, const std::string& name) {
  const auto patch = json::parse_yaml(fmt::format("{{status: {}}}", yaml));
  ASSERT_TRUE(patch);
  EXPECT_EQ(plane_->write_status(reference("core.oam.dev/v1beta1", "Application", name), client::PatchType::Merge, *patch), "");
  plane_->pass(seconds{5});
}

std::string step_definition(const std::string& name, const std::string& text) {
  return json::print(
      json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                    {"kind", "WorkflowStepDefinition"},
                    {"metadata", json::object({{"name", name}, {"namespace", "vela-system"}})},
                    {"spec", json::object({{"schematic", json::object({{"cue", json::object({{"template", text}})}})}})}}));
}

std::string application_of(const std::string& steps, const std::string& image, const std::string& name) {
  return fmt::format(
      "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: {}}}, spec: {{components: [{{name: web, type: "
      "webservice, properties: {{image: '{}'}}}}], workflow: {{steps: {}}}}}}}",
      name, image, steps);
}

}  // namespace slipway::seeds_test
