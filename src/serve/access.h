// Where access control meets the wire and the data directory: the key that signs service account tokens and the file of static
// tokens, and what a request says about who sends it.
#pragma once

#include <string>

#include "base/env.h"
#include "base/http.h"
#include "net/server.h"
#include "server/access/authenticator.h"

namespace slipway::serve {

/// How one cluster knows its users, by its folder: FOLDER/pki/sa.key signs tokens (ES256; made when absent), FOLDER/tokens.csv
/// has static ones (token,user,uid,"group,group"), where there is such a file, and `shared_folder` has those that hold for all
/// clusters. BadRequest when one of them cannot be read as what it should be.
Result<server::Authenticator::Options> open_access(Env& env, const std::string& folder, const std::string& shared_folder);

/// The client certificate, where our authority has signed it, and the headers.
server::Credentials credentials_of(const net::ConnectionInfo& connection, const http::Headers& headers);

}  // namespace slipway::serve
