#include "server/registry.h"

#include <gtest/gtest.h>

#include "kube/builtin.h"

namespace slipway::server {
namespace {

using client::Verb;

class Parts : public testing::Test {
 public:
  Parts() {
    for (const kube::ResourceType& type : kube::builtin_types()) registry_.put(type);
  }
  std::optional<Part> part(const kube::Resource& resource, std::string_view subresource) {
    return (*registry_.served(resource))->part(subresource);
  }

  Registry registry_;
  const kube::Resource maps_{"", "v1", "configmaps"};
  const kube::Resource deployments_{"apps", "v1", "deployments"};
  const kube::Resource namespaces_{"", "v1", "namespaces"};
  const kube::Resource requests_{"certificates.k8s.io", "v1", "certificatesigningrequests"};
};

TEST_F(Parts, are_those_that_the_kind_has) {
  EXPECT_EQ(part(maps_, "")->content, Part::Content::Whole);
  EXPECT_EQ(part(deployments_, "status")->content, Part::Content::Status);
  EXPECT_EQ(part(deployments_, "scale")->content, Part::Content::Scale);
  EXPECT_EQ(part(namespaces_, "finalize")->content, Part::Content::OfKind);
  for (const char* absent : {"status", "scale", "finalize", "frob"}) EXPECT_FALSE(part(maps_, absent)) << absent;
  EXPECT_FALSE(part(namespaces_, "scale"));
}

TEST_F(Parts, take_verbs_of_their_own) {
  EXPECT_TRUE(part(maps_, "")->takes(Verb::DeleteCollection));
  for (const Verb verb : {Verb::Get, Verb::Update, Verb::Patch}) {
    EXPECT_TRUE(part(deployments_, "scale")->takes(verb));
    EXPECT_TRUE(part(requests_, "approval")->takes(verb));
  }
  for (const Verb verb : {Verb::Create, Verb::Delete, Verb::List, Verb::Watch, Verb::DeleteCollection}) {
    EXPECT_FALSE(part(deployments_, "status")->takes(verb));
  }
  EXPECT_TRUE(part(namespaces_, "finalize")->takes(Verb::Update));
  EXPECT_FALSE(part(namespaces_, "finalize")->takes(Verb::Get));
}

}  // namespace
}  // namespace slipway::server
