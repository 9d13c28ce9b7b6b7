// Applications on a plane with the built-in definitions and simulated pods, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "../application/oracle_plane.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::seeds_test {

using json::Value;
using std::chrono::minutes;
using std::chrono::seconds;

class ApplicationWorld : public testing::Test {
 protected:
  void SetUp() override { restart_with({}); }
  /// A new plane, with options of the family.
  void restart_with(std::map<std::string, std::string> options);

  oracle_test::Plane& plane() { return *plane_; }
  /// Applies the documents of a YAML text in namespace default; three seconds pass.
  void apply(const std::string& yaml);
  void pass(Duration time) { plane_->pass(time); }
  /// {apiVersion, kind, namespace default, name}.
  static Value reference(const std::string& version, const std::string& kind, const std::string& name);
  Value find(const std::string& version, const std::string& kind, const std::string& name);
  Value application(const std::string& name = "a") { return find("core.oam.dev/v1beta1", "Application", name); }
  std::string phase(const std::string& name = "a") { return application(name)["status"]["status"].str(); }
  Value run(const std::string& name = "a") { return application(name)["status"]["workflow"]; }
  /// "running a:succeeded b:skipped/Skip": the phase and the steps with their sub-steps, now.
  std::string shown(const std::string& name = "a");
  /// The same once nothing changes any more.
  std::string end(const std::string& name = "a");
  std::string message(std::size_t step, const std::string& name = "a");
  /// Names of all objects of a kind in namespace default, with spaces between.
  std::string names(const std::string& kind);
  /// "web-v1 4/4, web-v2 0/0": ready pods of those asked for, of each Deployment.
  std::string sizes();
  /// Merges into the status of the application as another client does.
  void write_status(const std::string& yaml, const std::string& name = "a");

 private:
  std::unique_ptr<oracle_test::Plane> plane_;
};

/// A step definition in vela-system; `text` is its CUE.
std::string step_definition(const std::string& name, const std::string& text);
/// Application NAME with one component `web` (a webservice with one replica) and these steps in flow style.
std::string application_of(const std::string& steps, const std::string& image = "web:1", const std::string& name = "a");

}  // namespace slipway::seeds_test
