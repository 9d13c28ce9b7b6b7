// A family that only tests have: everything that a row of delivery/family.h can say, with a kind Workflow in a group of its
// own beside that of jobflow.
#pragma once

#include "delivery/family.h"

namespace slipway::families_test {

inline const kube::Resource kApprovals{"second.example.test", "v1", "workflows"};
inline const kube::Resource kNotes{"second.example.test", "v1", "notes"};
inline const kube::Resource kPages{"second.example.test", "v1", "pages"};

/// Workflow: waits for spec.approved, then is Complete; its controller keeps a Note for each. Page: answered by functions,
/// which know the pages "one" and "two". Paths: /hooks/second for anyone, /second for those with a right on it.
const delivery::Family& second_family();

}  // namespace slipway::families_test
