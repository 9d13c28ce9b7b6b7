// The types and states of the rollout design as it prints them, without its comments.

type RolloutTraitSpec struct {
TargetRef corev1.ObjectReference `json:"targetRef"`
SourceRef []corev1.ObjectReference `json:"sourceRef,omitempty"`
RolloutPlan RolloutPlan `json:"rolloutPlan"`
}

type RolloutPlan struct {
RolloutStrategy RolloutStrategyType `json:"rolloutStrategy,omitempty"`
TargetSize *int32 `json:"targetSize,omitempty"`
NumBatches *int32 `json:"numBatches,omitempty"`
RolloutBatches []RolloutBatch `json:"rolloutBatches,omitempty"`
BatchPartition *int32 `json:"lastBatchToRollout,omitempty"`
RevertOnDelete bool `json:"revertOnDelete,omitempty"`
Paused bool `json:"paused,omitempty"`
RolloutWebhooks []RolloutWebhook `json:"rolloutWebhooks,omitempty"`
CanaryMetric []CanaryMetric `json:"canaryMetric,omitempty"`
}

const (
VerifyingSpecState RollingState = "verifyingSpec"
InitializingState RollingState = "initializing"
RollingInBatchesState RollingState = "rollingInBatches"
FinalisingState RollingState = "finalising"
RolloutFailingState RollingState = "rolloutFailing"
RolloutSucceedState RollingState = "rolloutSucceed"
RolloutAbandoningState RollingState = "rolloutAbandoned"
RolloutFailedState RollingState = "rolloutFailed"
BatchInitializingState BatchRollingState = "batchInitializing"
BatchInRollingState BatchRollingState = "batchInRolling"
BatchVerifyingState BatchRollingState = "batchVerifying"
BatchRolloutFailedState BatchRollingState = "batchVerifyFailed"
BatchFinalizingState BatchRollingState = "batchFinalizing"
BatchReadyState BatchRollingState = "batchReady"
)
