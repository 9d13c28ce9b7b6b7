// The types of the Workflow proposal as its last revision prints them, without its comments.

type Workflow struct {
	unversioned.TypeMeta `json:",inline"`
	api.ObjectMeta       `json:"metadata,omitempty"`
	Spec WorkflowSpec     `json:"spec,omitempty"`
	Status WorkflowStatus `json:"status,omitempty"`
}

type WorkflowList struct {
	unversioned.TypeMeta `json:",inline"`
	unversioned.ListMeta `json:"metadata,omitempty"`
	Items []Workflow     `json:"items"`
}

type WorkflowSpec struct {
	api.ObjectMeta `json:"metadata,omitempty"`
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	Steps map[string]WorkflowStep `json:"steps,omitempty"`
	Selector *LabelSelector `json:"selector,omitempty"`
}

type WorkflowStep struct {
	JobTemplate *JobTemplateSpec `json:"jobTemplate,omitempty"`
	ExternalRef *api.ObjectReference `json:"externalRef,omitempty"`
	Dependencies []string `json:"dependencies,omitempty"`
}

type WorkflowCondition struct {
	Type WorkflowConditionType `json:"type"`
	Status api.ConditionStatus `json:"status"`
	LastProbeTime unversioned.Time `json:"lastProbeTime,omitempty"`
	LastTransitionTime unversioned.Time `json:"lastTransitionTime,omitempty"`
	Reason string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type WorkflowStatus struct {
	Conditions []WorkflowCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	StartTime *unversioned.Time `json:"startTime,omitempty"`
	CompletionTime *unversioned.Time `json:"completionTime,omitempty"`
	Statuses map[string]WorkflowStepStatus `json:statuses`
}

type WorkflowStepStatus struct {
	Complete bool `json:"complete"`
	Reference api.ObjectReference `json:"reference"`
}
