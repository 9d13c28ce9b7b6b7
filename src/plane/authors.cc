#include "plane/authors.h"

#include "control/author_right.h"

namespace slipway::plane {
namespace {

constexpr const char* kManager = "slipway";

Task<Result<std::size_t>> settle(client::Client& server, delivery::IdentityAnnotations in, kube::Resource resource,
                                 kube::UserInfo author) {
  SLIPWAY_CO_TRY(list, co_await client::list(server, resource, {}));
  std::size_t settled = 0;
  for (const json::Value& object : list["items"].items()) {
    const auto known = delivery::recorded_identity(in, object);
    const bool is_settled = known && (!control::is_unknown(*known) || control::is_unknown(author));
    if (is_settled) continue;
    const kube::Object wanted = delivery::with_identity(in, object, author);
    const json::Value patch = json::object({{"metadata", json::object({{"annotations", wanted["metadata"]["annotations"]}})}});
    SLIPWAY_CO_TRY(written, co_await client::merge_patch(server, resource, kube::key_of(object), patch, kManager));
    ++settled;
  }
  co_return settled;
}

}  // namespace

Task<Result<std::size_t>> settle_authors(client::Client& server, std::optional<kube::UserInfo> adopter, Families of) {
  kube::UserInfo author;
  author.name = control::kUnknownAuthor;
  if (adopter) author = *std::move(adopter);
  std::size_t settled = 0;
  for (const delivery::Family* family : of) {
    if (!family->authored) continue;
    for (const kube::Resource& resource : family->authored->resources) {
      SLIPWAY_CO_TRY(count, co_await settle(server, family->authored->in, resource, author));
      settled += count;
    }
  }
  co_return settled;
}

std::string authors_mark(const std::string& folder) { return folder + "/authors-recorded"; }

}  // namespace slipway::plane
