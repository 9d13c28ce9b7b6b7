#include "delivery/family/key_writer.h"

#include <string>

#include "base/text.h"
#include "delivery/family/annotation.h"

namespace slipway::delivery {

kube::Object record_key_writer(const kube::Object& secret, const kube::Object& old, const kube::Asker& asker,
                               std::string_view key) {
  if (asker.user == nullptr) return secret;
  const std::string name(key);
  const json::Value& text = secret["stringData"][name];  // becomes data once admission has passed
  const json::Value value = text.is_null() ? secret["data"][name] : json::Value(base64_encode(text.as_string()));
  const bool is_unchanged = !old.is_null() && old["data"][name] == value;
  const kube::Object recorded = value.is_null() ? with_identity_of(kKeyWriter, secret, {})
                                : is_unchanged  ? with_identity_of(kKeyWriter, secret, old)
                                                : with_identity(kKeyWriter, secret, *asker.user);
  // The annotation of who wrote the whole Secret is another row's (rendered_mark.h).
  return with_annotation(recorded, kContentAuthors, secret["metadata"]["annotations"][kContentAuthors]);
}

std::shared_ptr<const kube::UserInfo> key_writer(const kube::Object& secret) { return recorded_identity(kKeyWriter, secret); }

}  // namespace slipway::delivery
