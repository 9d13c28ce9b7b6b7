// What a roll sees of a workload, and what is written to it; pure. Pods are counted by their own revision label and readiness,
// never by totals of a status; who owns and who resized an object is read from its owner and its managed fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "delivery/rollout/status.h"
#include "delivery/rollout/workload.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

/// A workload as the caches have it.
struct Workload {
  std::string id;  // "Deployment/web-v1"
  kube::GroupVersionKind kind;
  const WorkloadRow* row = nullptr;     // null: no rollout knows the kind
  kube::Object object;                  // null: it is not there
  std::vector<kube::Object> revisions;  // ReplicaSets or ControllerRevisions that it controls
  std::vector<kube::Object> pods;       // that it or its ReplicaSets control
};

/// Kind and name; kinds outside the built-in groups have their group too: "StatefulSet.apps.kruise.io/db".
std::string set_id(const kube::GroupVersionKind& kind, std::string_view name);
/// Identifies what of the object is another version when it changes: of its template only, so that sizes and partitions do not
/// count. Empty when it is not there.
std::string template_revision(const Workload& workload);
/// The same of one workload that is looked at over and over: made anew only when its spec has changed.
class TemplateRevision {
 public:
  const std::string& of(const Workload& workload);

 private:
  std::string key_{};
  std::string revision_{};
};
/// The template of the revision before the present one (its ControllerRevision); null: there is none.
json::Value old_template(const Workload& workload);
/// The name of the label that tells the revisions of its pods apart; empty: there is none.
std::string revision_label(const WorkloadRow& row);
/// The value of that label on its oldest old pod; empty: there is none.
std::string old_pods_label(const Workload& workload);
/// matchLabels of its selector.
json::Value match_labels(const Workload& workload);
/// What the label of its new pods is; empty: unknown yet.
std::string new_pods_label(const Workload& workload);
/// `rollout_uid` is the rollout's, so that its own claim is told from that of others. `new_label`, where it is not empty: new
/// are the pods with that label, whatever its template is by now.
wave::SetView view_of(const Workload& workload, std::string_view rollout_uid, const std::string& new_label = "");
/// Pods of it that are new by that label, by name.
std::vector<kube::Object> pods_with(const Workload& workload, const std::string& new_label);
/// Names of its pods, new ones too.
std::vector<std::string> pod_names(const Workload& workload);
/// Whether a pod that changed counts as it did before: as new, present, ready, or in trouble.
bool counts_alike(const kube::Object& before, const kube::Object& after);
/// Whether any of its pods is of an older revision.
bool has_old_pods(const Workload& workload);
/// "app=web,tier=a" of its selector's labels, for the scale subresource; empty: none.
std::string selector_text(const Workload& workload);

/// Its fields that a rollout may write.
Snapshot snapshot_of(const Workload& workload);

/// What one write does to a workload. Members that are not set are left alone.
struct Edit {
  bool claims = false;    // becomes the rollout's, unpaused, with its held fields
  bool releases = false;  // the opposite; with `restores`, pause and partition are as in the snapshot again
  bool restores = false;
  bool is_replaced = false;  // with `releases`: others' pods serve in the place of its own
  bool undoes = false;       // the snapshot's template or fields; without `new_pods` some are left that must go back to it
  std::optional<std::int64_t> size;
  std::optional<std::int64_t> new_pods;  // by the partition, or by fields: of `whole`
  std::int64_t whole = 0;
  std::optional<std::string> stamp;  // for kStampAnnotation
};
/// A JSON patch; an empty list when there is nothing to change. It tests the object's uid and resourceVersion, so that nothing
/// is written to an object that is another by now. `kept` gets a line for each field that others have changed since and
/// that is therefore left as it is.
json::Value patch_of(const Workload& workload, const Edit& edit, const json::Value& rollout, const Snapshot* snapshot,
                     std::vector<std::string>& kept);

}  // namespace slipway::delivery::rollout
