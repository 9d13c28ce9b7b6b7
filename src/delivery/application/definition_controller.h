// Keeps the definitions of one kind as KubeVela's clients know them: each has a DefinitionRevision `<name>-v<N>` per content, a
// ConfigMap with the schema of its parameters, and both named in its status. When it starts, built-in definitions that are not
// in the cluster are created in the namespace of those for all; those that are there stay, but one that Slipway made and that
// is unedited since is brought to the program's version.
#pragma once

#include <map>
#include <set>
#include <string>

#include "control/controller.h"
#include "delivery/application/definition.h"
#include "delivery/application/kind.h"

namespace slipway::delivery::application {

/// On a built-in definition: digest of the spec that Slipway wrote.
inline constexpr const char* kBuiltIn = "slipway.dev/built-in";
/// Revisions that are kept of one definition.
inline constexpr std::size_t kDefinitionRevisionLimit = 20;
inline constexpr const char* kSchemaKey = "openapi-v3-json-schema";

class DefinitionController : public control::Controller {
 public:
  /// `ns`: the namespace of the definitions that all may use.
  DefinitionController(Env& env, DefinitionKind kind, std::string ns = kDefinitionNamespace);

  std::string name() const override;
  control::ControllerOptions options() const override { return {.workers = 2}; }
  void watch(control::Watches& watches) override;
  Task<control::Outcome> reconcile(control::Reconcile& run) override;

 private:
  /// What the revisions of a definition come to.
  struct Revisions {
    std::int64_t highest = 0;                  // number in use, of whatever kind: names are shared
    std::map<std::int64_t, kube::Object> own;  // by number
  };

  Revisions revisions_of(const kube::Object& definition) const;
  /// The built-in definition that replaces one of an older version of Slipway, or null.
  kube::Object newer_built_in(const kube::Object& definition) const;
  Task<Result<void>> install(client::Client& client, std::string name);
  /// The DefinitionRevision of the content as it is now.
  Task<Result<kube::Object>> record(client::Client& client, kube::Object definition, std::string hash);
  /// Name of the ConfigMap with the schema; empty when there is none to publish.
  Task<Result<std::string>> publish_schema(client::Client& client, kube::Object definition, std::string schema);
  Task<Result<void>> limit_revisions(client::Client& client, kube::Object definition);
  Task<Result<void>> make_namespaces(client::Client& client);

  Env& env_;
  DefinitionKind kind_;
  const std::string ns_;
  std::string manager_;
  std::map<std::string, kube::Object> built_in_;  // by name
  std::set<std::string> missing_;                 // built-in ones that have not been looked for yet
  bool has_namespaces_ = false;
  bool has_views_;  // or another controller keeps them
  control::Informer* definitions_ = nullptr;
  control::Informer* revisions_ = nullptr;
};

}  // namespace slipway::delivery::application
