// Who last wrote one key of a Secret, kept in two annotations of it. Whoever knows or replaces a key that signs calls can speak
// for the system that it belongs to, so a signed call that approves something counts only while that user has the right to
// approve. Admission records the user from the request and never believes the body; the reader of the key asks for the right at
// each use. Secrets that no user has written since this was recorded have no writer. Pure.
#pragma once

#include <memory>
#include <string_view>

#include "delivery/family/identity.h"
#include "kube/admission.h"

namespace slipway::delivery {

inline constexpr IdentityAnnotations kKeyWriter{"slipway.dev/hmac-key-author", "slipway.dev/hmac-key-author-groups"};

/// The Secret to store: with the requesting user in its annotations if `data[key]` is new or changed, with the annotations of
/// `old` if it is unchanged, and with none if there is no such key. What the process itself writes stays as it is. For the
/// `mutate_for` row of Secrets; it may run more than once.
kube::Object record_key_writer(const kube::Object& secret, const kube::Object& old, const kube::Asker& asker,
                               std::string_view key);

/// Null if no writer is recorded: the process wrote the key, or it was written before writers were recorded.
std::shared_ptr<const kube::UserInfo> key_writer(const kube::Object& secret);

}  // namespace slipway::delivery
