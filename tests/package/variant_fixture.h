// Packages in virtual time: one cluster with the families' controllers over a real store and server, and real bare repositories
// in a folder of the test. Everything is asked for as a user would, through the API.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../pipeline/landscape.h"
#include "delivery/package/kind.h"
#include "deployment.h"

namespace slipway::package_test {

using json::Value;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Files = std::map<std::string, std::string>;

class Packages : public pipeline_test::Landscape {
 public:
  Packages() { members_.clear(); }

  /// A bare repository with an empty branch main, and the Repository object for it.
  pipeline_test::Repository& add_repository(const std::string& name, Deployment deployment = Deployment::No,
                                            std::string_view labels = "{}");
  /// A published revision; its number.
  std::int64_t publish(const std::string& repository, const std::string& package, const std::string& workspace,
                       const Files& files);
  /// A draft with these files beside those of init, or of the newest published revision. Its name.
  std::string draft(const std::string& repository, const std::string& package, const std::string& workspace,
                    const Files& files);
  void propose(const std::string& revision);
  void approve(const std::string& revision);

  Value revision(const std::string& name) { return get(kHub, delivery::package::kRevisions, name); }
  /// "Draft", "Proposed" …; "" when there is no such revision.
  std::string lifecycle(const std::string& name);
  /// "True NAME": status and reason of a condition of the revision.
  std::string condition(const std::string& name, const std::string& type);
  /// Of any object.
  static std::string condition_in(const Value& object, const std::string& type);
  Files files(const std::string& revision);
  /// An actor writes files of a draft: what `change` makes of them.
  void edit(const std::string& revision, const std::function<void(Files&)>& change);
  /// An actor sets a condition.
  void say(const std::string& revision, const std::string& type, const std::string& status, const std::string& actor = "actor");
  /// Names of revisions in a lifecycle, all when it is empty.
  std::vector<std::string> revisions(const std::string& lifecycle = "");
  void set_spec(const kube::Resource& resource, const std::string& name, std::string_view yaml) {
    patch(kHub, resource, name, yaml);
  }
  void make(std::string_view yaml) { apply(kHub, yaml); }

 protected:
  void change(const std::string& revision, const std::function<Value(const Value&)>& change,
              const std::string& subresource = "");

  std::map<std::string, std::unique_ptr<pipeline_test::Repository>> repositories_;
};

}  // namespace slipway::package_test
