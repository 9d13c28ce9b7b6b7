// Patches as KubeVela writes them: a struct that is unified with the base, so that a differing scalar is a conflict and not an
// override, except where comments above its fields say otherwise (workflow pkg/cue/model/sets). A comment belongs to the
// innermost field of a shorthand, so one above `patch: spec: x:` is not seen on `patch`.
//
//   +patchKey=k          on a list, inherited by lists below: pairs items by the literal at k ("a.b" for deeper ones; "a,b"
//   goes
//                        through the keys one after another). The base keeps its order, new items come after it in theirs.
//                        Items of the patch without the key are dropped once another has it; when none has it, or a key is no
//                        literal, the list is unified item by item.
//   +patchStrategy=retainKeys  a scalar or struct takes the place of that of the base; on a keyed list matching items do.
//   +patchStrategy=replace     a list takes the place of that of the base.
//   +patchStrategy=jsonMergePatch, jsonPatch   on the patch itself: RFC 7396, or RFC 6902 under its field `operations`.
//
// Works on values; nothing is printed and parsed again. DIVERGES: upstream prints the patch, and names that stood in
// expressions without a value yet dangle there ("reference … not found"); here the incomplete error stays where it is and is
// told on use.
#pragma once

#include "cue/cue.h"

namespace slipway::cue {

enum class PatchStrategy : std::uint8_t { Unify, JsonMergePatch, JsonPatch };

/// What the comments above the patch ask for.
PatchStrategy patch_strategy(const Cursor& patch);

/// The patched base; without a patch the base itself. Otherwise a value of its own, perhaps incomplete. Errors: no base;
/// conflicts with their paths below the base; for the two JSON strategies also a base or patch without a value, and operations
/// that do not apply.
std::expected<Cursor, Errors> apply_patch(const Cursor& base, const Cursor& patch, PatchStrategy strategy);

}  // namespace slipway::cue
