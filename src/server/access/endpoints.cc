// The rows of what this folder answers.
#include "server/access/access_review.h"
#include "server/access/token_review.h"
#include "server/endpoint.h"

namespace slipway::server {

namespace {

/// A kind that is only created, never stored, under its own resource.
Endpoint review(std::string group, std::string version, std::string plural, std::string kind, decltype(Endpoint::run) run) {
  Endpoint row;
  row.resource = {group, version, std::move(plural)};
  row.kind = {std::move(group), std::move(version), std::move(kind)};
  row.is_namespaced = false;
  row.verbs = {client::Verb::Create};
  row.run = run;
  return row;
}

}  // namespace

std::vector<Endpoint> access_endpoints() {
  const std::string authorization = "authorization.k8s.io";
  const std::string authentication = "authentication.k8s.io";
  std::vector<Endpoint> rows{
      review(authorization, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", review_own_access),
      review(authorization, "v1", "subjectaccessreviews", "SubjectAccessReview", review_access),
      review(authorization, "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", review_local_access),
      review(authorization, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", review_own_rules),
      review(authentication, "v1", "tokenreviews", "TokenReview", review_token),
      review(authentication, "v1", "selfsubjectreviews", "SelfSubjectReview", review_self),
      // kubectl 1.27 asks `auth whoami` of this version.
      review(authentication, "v1beta1", "selfsubjectreviews", "SelfSubjectReview", review_self)};
  rows[2].is_namespaced = true;
  rows.back().is_listed = false;
  rows.push_back(review(authentication, "v1", "tokens", "TokenRequest", create_token));
  rows.back().resource = {"", "v1", "serviceaccounts"};
  rows.back().subresource = "token";
  rows.back().is_namespaced = true;
  return rows;
}

}  // namespace slipway::server
