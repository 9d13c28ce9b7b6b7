#include "plane/authors.h"

#include "control/author_right.h"
#include "flux/author.h"

namespace slipway::plane {
namespace {

constexpr const char* kSettlingManager = "slipway";

Task<Result<std::size_t>> settle(client::Client& server, delivery::IdentityAnnotations in, kube::Resource resource,
                                 kube::UserInfo author) {
  const auto listed = co_await client::list(server, resource, {});
  if (!listed && listed.error().reason == Reason::NotFound) co_return std::size_t{0};  // it is not served
  SLIPWAY_CO_TRY(list, listed);
  std::size_t settled = 0;
  for (const json::Value& object : list["items"].items()) {
    const auto known = delivery::recorded_identity(in, object);
    const bool is_settled = known && (!control::is_unknown(*known) || control::is_unknown(author));
    if (is_settled) continue;
    const kube::Object wanted = delivery::with_identity(in, object, author);
    const json::Value patch = json::object({{"metadata", json::object({{"annotations", wanted["metadata"]["annotations"]}})}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(server, resource, kube::key_of(object), patch, kSettlingManager));
    ++settled;
  }
  co_return settled;
}

}  // namespace

Task<Result<std::size_t>> settle_authors(client::Client& server, std::optional<kube::UserInfo> adopter, Families of) {
  kube::UserInfo author;
  author.name = control::kUnknownAuthor;
  if (adopter) author = *std::move(adopter);
  std::vector<delivery::AuthoredKinds> all{flux::authored_kinds()};
  for (const delivery::Family* family : of) {
    if (family->authored) all.push_back(*family->authored);
  }
  std::size_t settled = 0;
  for (const delivery::AuthoredKinds& kinds : all) {
    for (const kube::Resource& resource : kinds.resources) {
      SLIPWAY_CO_TRY(count, co_await settle(server, kinds.in, resource, author));
      settled += count;
    }
  }
  co_return settled;
}

std::string authors_mark(const std::string& folder) { return folder + "/authors-recorded"; }

}  // namespace slipway::plane
