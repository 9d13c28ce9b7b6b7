// A cursor over the history of a State; see Watcher in store.h.
#pragma once

#include <memory>
#include <string>

#include "store/state.h"
#include "store/store.h"

namespace slipway::store {

/// Changes below `prefix` after `from`. REQUIRES: state->check_revision(from).
std::unique_ptr<Watcher> make_watcher(Env& env, std::shared_ptr<State> state, std::string prefix, Revision from);

}  // namespace slipway::store
