#include "outside_plane.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

Value reference(const std::string& version, const std::string& kind, const std::string& name, const std::string& ns) {
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", ns}, {"name", name}});
}

Value application_reference(const std::string& name) {
  return reference("core.oam.dev/v1beta1", "Application", name, kNamespace);
}

}  // namespace

OutsidePlane::OutsidePlane(const std::map<std::string, std::map<std::string, std::string>>& clusters) {
  PlaneOptions options;
  for (const auto& [name, labels] : clusters) options.clusters.push_back(name);
  options.prepare = [this](Env& env) {
    git_ = std::make_unique<git::Repositories>(env, std::vector<Lane*>{&env.compute}, std::vector<Lane*>{&env.compute},
                                               git::RepositoriesOptions{.folder = mirrors_ / "git"});
    env.git = git_.get();
    env.programs = &programs_;
  };
  plane_ = std::make_unique<Plane>(&image(), std::move(options));
  for (const auto& [name, labels] : clusters) plane_->fleet().set_labels(name, labels);
  plane_->make_namespace(kNamespace);
}

std::string OutsidePlane::apply(const std::string& yaml, const std::shared_ptr<const kube::UserInfo>& user) {
  const auto parsed = json::parse_yaml_all(yaml);
  if (!parsed) return parsed.error().message;
  std::string refusals;
  for (const json::YamlDocument& one : *parsed) refusals += plane_->apply(one.value, kNamespace, user);
  plane_->pass(std::chrono::seconds{3});
  return refusals;
}

std::string OutsidePlane::apply_seed(const std::string& file, const std::vector<std::pair<std::string, std::string>>& changes) {
  std::ifstream in(std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/seed000" / file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  std::string whole = text.str();
  for (const auto& [from, to] : changes) {
    const std::size_t at = whole.find(from);
    EXPECT_NE(at, std::string::npos) << file << ": " << from;
    if (at != std::string::npos) whole.replace(at, from.size(), to);
  }
  return apply(whole);
}

std::string OutsidePlane::end(const std::string& application) {
  const End end = await_end(*plane_, application_reference(application));
  std::string text = phase_of(end.target);
  for (const Value& step : steps_of(end.target).items()) {
    text += fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
    if (step.has("reason")) text += "/" + step["reason"].str();
  }
  return text;
}

Value OutsidePlane::application(const std::string& name) { return plane_->find(kHub, application_reference(name)); }

Value OutsidePlane::find(const std::string& version, const std::string& kind, const std::string& name,
                         const std::string& cluster, const std::string& ns) {
  return plane_->find(cluster, reference(version, kind, name, ns.empty() ? kNamespace : ns));
}

std::string OutsidePlane::message(std::size_t step, const std::string& name) {
  return application(name)["status"]["workflow"]["steps"].item(step)["message"].str();
}

std::string OutsidePlane::patch(const std::string& yaml, const std::string& name) {
  const auto body = json::parse_yaml(yaml);
  if (!body) return body.error().message;
  return plane_->merge(application_reference(name), *body);
}

std::vector<std::string> OutsidePlane::log(const std::string& branch) const {
  std::vector<std::string> subjects;
  const std::string text = repository_.bare("log --format=%s " + branch);
  for (const std::string_view line : split(text, '\n')) {
    if (line != "root") subjects.emplace_back(line);
  }
  return subjects;
}

}  // namespace slipway::oracle_test
