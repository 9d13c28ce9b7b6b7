// Policies that change the Application itself before it is read: those whose PolicyDefinition says `scope: Application`. Their
// template's `output` may have labels and annotations (added to the application's), components, workflow and policies (in place
// of the application's), and ctx (added to `context.custom` of what is rendered); with `config: enabled: false` it changes
// nothing. They are applied in the order of spec.policies, each to what the ones before left. What they make of an application
// is frozen in its revision; the stored Application stays as its user wrote it. As whom it acts they cannot say (identity.h).
// Before them come the global ones (DefinitionStore::global_policies), with empty parameters: a global policy that the
// application names is applied where it is named only, and the annotation `policy.oam.dev/skip-global: "true"` leaves all of
// them out. Pure. Follows kubevela/kubevela 1.11 (application-scoped policies). DIVERGES: the global policies of an application
// are frozen in its revision, as its definitions are; another one counts from the next revision on.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "delivery/application/parsed.h"
#include "delivery/application/status.h"

namespace slipway::delivery::application {

struct Scoped {
  kube::Object application;  // as it is to be delivered
  Value custom;              // `context.custom`; null: nothing
  std::vector<AppliedPolicy> policies;
  Value record;  // what each policy made, by its name; null: there is none
};

struct ScopedPolicy {
  Value policy;  // {name, type, properties}
  DefinitionPtr definition;
  std::string path;  // "spec.policies[0]"; empty: it is a global one
};

bool is_application_scoped(const Definition& definition);
/// Those that the application names and that are there, and the global ones, in the order in which they apply.
std::vector<ScopedPolicy> scoped_policies(const kube::Object& application, const Lookup& lookup);
/// The application itself when there are none. Errors: Invalid, which names the policy. Runs templates: for the compute pool.
/// `cancelled`: ends soon once it is true.
Result<Scoped> with_scoped_policies(const kube::Object& application, const std::vector<ScopedPolicy>& policies,
                                    const std::atomic<bool>* cancelled = nullptr);

/// What policies made, with the metadata of what is stored but for labels and annotations; those annotations that say as whom
/// it acts are the stored ones, too. Part of with_scoped_policies().
kube::Object with_metadata_of(const kube::Object& made, const kube::Object& stored);

/// Where the record of what the policies made is kept, in the application's namespace.
std::string policies_config_map(const kube::Object& application);

}  // namespace slipway::delivery::application
