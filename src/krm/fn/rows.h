// The functions that are built in, one per file of this folder; their rows are in krm/function.cc.
#pragma once

#include "krm/function.h"

namespace slipway::krm::fn {

Result<void> apply_replacements(ResourceList& list);
Result<void> apply_setters(ResourceList& list);
Result<void> cel_validate(ResourceList& list);
Result<void> create_setters(ResourceList& list);
Result<void> cue_mutate(ResourceList& list);
Result<void> cue_validate(ResourceList& list);
Result<void> delete_annotations(ResourceList& list);
Result<void> drop_comments(ResourceList& list);
Result<void> ensure_name_substring(ResourceList& list);
Result<void> fix(ResourceList& list);
Result<void> format(ResourceList& list);
Result<void> gen_configmap(ResourceList& list);
Result<void> kubeval(ResourceList& list);
Result<void> list_setters(ResourceList& list);
Result<void> no_op(ResourceList& list);
Result<void> remove_local_config_resources(ResourceList& list);
Result<void> search_replace(ResourceList& list);
Result<void> set_annotations(ResourceList& list);
Result<void> set_enforcement_action(ResourceList& list);
Result<void> set_image(ResourceList& list);
Result<void> set_labels(ResourceList& list);
Result<void> set_namespace(ResourceList& list);
Result<void> set_project_id(ResourceList& list);
Result<void> upsert_resource(ResourceList& list);

}  // namespace slipway::krm::fn
