// One conversation with a remote: libgit2's remote with our credentials, trust and bounds in its callbacks. Runs on a lane's
// thread. A connection is for one direction and one operation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "git/handle.h"
#include "git/socket_stream.h"

namespace slipway::git {

class Connection {
 public:
  /// `mirror` receives what is fetched and gives what is pushed; both outlive the connection.
  Connection(git_repository* mirror, const GitRemote& remote, const Url& url, Attempt& attempt, std::uint64_t max_pack_bytes)
      : mirror_(mirror), credentials_(remote.credentials), url_(url), attempt_(attempt), max_pack_bytes_(max_pack_bytes) {}

  Result<void> open(git_direction direction);
  /// What the remote said it has, when it was opened.
  Result<GitRefs> refs(std::string_view prefix);
  /// The remote's `ref`; nothing when it has none.
  Result<std::optional<GitId>> find(std::string_view ref);
  /// Downloads what the references lead to.
  Result<void> download(const std::vector<std::string>& refs);
  /// Changes one reference: "ID:REF" or ":REF". The remote compares the old id that it announced when this was opened. The text
  /// is the remote's refusal, empty when it took the change.
  Result<std::string> push(const std::string& refspec);

 private:
  static int on_credentials(git_credential** out, const char* url, const char* user, unsigned allowed, void* self);
  static int on_certificate(git_cert* certificate, int is_valid, const char* host, void* self);
  static int on_transfer(const git_indexer_progress* progress, void* self);
  static int on_push_transfer(unsigned current, unsigned total, size_t bytes, void* self);
  static int on_push_result(const char* ref, const char* refusal, void* self);

  int give_credentials(git_credential** out, const char* user, unsigned allowed);
  bool is_host_key_known(const git_cert_hostkey& key);
  git_remote_callbacks callbacks();
  std::unexpected<Status> failed(int code, const std::string& what);
  /// A failure that a callback has found; what libgit2 says of it is less exact.
  int refuse(Reason reason, std::string message);

  git_repository* mirror_;
  const GitCredentials& credentials_;
  const Url& url_;
  Attempt& attempt_;
  std::uint64_t max_pack_bytes_;
  Remote remote_;
  std::optional<Status> refusal_;
  std::string push_refusal_;
  bool has_shown_secret_ = false;
};

}  // namespace slipway::git
