// The fields of the readiness gates as the proposal prints them. `PackageInfo` is Kptfile.info, `PackageRevisionSpec` is the spec
// of the resource.

type PackageInfo struct {
	ReadinessGates []ReadinessGate `yaml:"readinessGates,omitempty" json:"readinessGates,omitempty"`
}

type PackageRevisionSpec struct {
	ReadinessGates []ReadinessGate `yaml:"readinessGates,omitempty" json:"readinessGates,omitempty"`
}

type ReadinessGate struct {
	ConditionType string `yaml:"conditionType,omitempty" json:"conditionType,omitempty"`
}
