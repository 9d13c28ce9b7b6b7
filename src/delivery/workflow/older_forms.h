// The forms in which the first design of workflows wrote calls on objects, beside those of today's vela/op:
//
//   op.#Apply & {resource: X}                             is op.#Apply & {value: X}
//   op.#Read & {apiVersion, kind, name, namespace}        is op.#Read & {value: {apiVersion, kind, metadata: {name,
//   namespace}}}
//
// There the fields of the object that comes back stand beside the parameters too: `apply.status.ready`.
#pragma once

#include "json/value.h"

namespace slipway::delivery::workflow {

/// The object of a call; null: it names none.
json::Value object_in(const json::Value& params);
/// What the call gives for `object`: {value}, and in an older form the object's fields.
json::Value returned_object(const json::Value& params, const json::Value& object);

}  // namespace slipway::delivery::workflow
