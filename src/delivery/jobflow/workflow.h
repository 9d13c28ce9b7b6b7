// The kind batch.slipway.dev/v1alpha1 Workflow: a graph of Jobs after the Kubernetes Workflow proposal (kubernetes/kubernetes
// #18827), and its child kind WorkflowStepSet, which holds the step statuses of large graphs.
#pragma once

#include "delivery/jobflow/kind.h"
#include "delivery/jobflow/workflow_spec.h"
#include "delivery/jobflow/workflow_status.h"
