// PipelineView (pipelines.slipway.dev/v1alpha1), served and not stored: a Pipeline of the same name with the status as the user
// who asks may see it (reader_access.h), for every client. Who may get pipelineviews and not pipelines sees of the targets what
// they may see in their namespaces and clusters, and no more; the rights are asked for anew by each request, and by a watch
// after a minute at most.
//
// DIVERGES from Weave GitOps Enterprise, whose own server shows its users what they may see and has no such kind.
#pragma once

#include "client/served.h"
#include "kube/resource.h"

namespace slipway::delivery::pipeline {

inline const kube::GroupVersionKind kPipelineViewKind{"pipelines.slipway.dev", "v1alpha1", "PipelineView"};
inline const kube::Resource kPipelineViews{"pipelines.slipway.dev", "v1alpha1", "pipelineviews"};

/// Offers get, list and watch.
client::AnsweredKind pipeline_view_kind();

}  // namespace slipway::delivery::pipeline
