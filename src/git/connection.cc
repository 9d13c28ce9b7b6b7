#include "git/connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"
#include "git/trust.h"

namespace slipway::git {
namespace {

constexpr std::uint64_t kFraming = std::uint64_t{8} << 20;  // of a pack's bytes on the wire, and what is said beside it

template <class Options>
Options defaults(int (*init)(Options*, unsigned), unsigned version) {
  Options options{};
  init(&options, version);
  return options;
}

std::string_view name_of(git_cert_ssh_raw_type_t type) {
  switch (type) {
    case GIT_CERT_SSH_RAW_TYPE_RSA:
      return "ssh-rsa";
    case GIT_CERT_SSH_RAW_TYPE_DSS:
      return "ssh-dss";
    case GIT_CERT_SSH_RAW_TYPE_KEY_ECDSA_256:
      return "ecdsa-sha2-nistp256";
    case GIT_CERT_SSH_RAW_TYPE_KEY_ECDSA_384:
      return "ecdsa-sha2-nistp384";
    case GIT_CERT_SSH_RAW_TYPE_KEY_ECDSA_521:
      return "ecdsa-sha2-nistp521";
    case GIT_CERT_SSH_RAW_TYPE_KEY_ED25519:
      return "ssh-ed25519";
    case GIT_CERT_SSH_RAW_TYPE_UNKNOWN:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

Result<void> Connection::open(git_direction direction) {
  git_remote* made = nullptr;
  auto options = defaults(git_remote_create_options_init, GIT_REMOTE_CREATE_OPTIONS_VERSION);
  options.repository = mirror_;
  options.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF | GIT_REMOTE_CREATE_SKIP_DEFAULT_FETCHSPEC;
  if (const int code = git_remote_create_with_opts(&made, url_.text().c_str(), &options); code != 0) {
    return failed(code, fmt::format("open {}", url_.shown()));
  }
  remote_.reset(made);
  auto how = defaults(git_remote_connect_options_init, GIT_REMOTE_CONNECT_OPTIONS_VERSION);
  how.callbacks = callbacks();
  how.follow_redirects = GIT_REMOTE_REDIRECT_NONE;  // credentials go to the host that was named, and nowhere else
  if (const int code = git_remote_connect_ext(remote_.get(), direction, &how); code != 0) {
    return failed(code, fmt::format("connect to {}", url_.shown()));
  }
  return {};
}

Result<GitRefs> Connection::refs(std::string_view prefix) {
  const git_remote_head** heads = nullptr;
  std::size_t count = 0;
  if (const int code = git_remote_ls(&heads, &count, remote_.get()); code != 0) {
    return failed(code, fmt::format("list references of {}", url_.shown()));
  }
  GitRefs found;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = heads[i]->name;
    if (name == "HEAD" && heads[i]->symref_target != nullptr) found.head = heads[i]->symref_target;
    if (name.starts_with("refs/") && name.starts_with(prefix) && !name.ends_with("^{}")) {
      found.refs.push_back({std::string(name), to_id(heads[i]->oid)});
    }
  }
  std::ranges::sort(found.refs, {}, &GitRef::name);
  return found;
}

Result<std::optional<GitId>> Connection::find(std::string_view ref) {
  SLIPWAY_TRY(all, refs(ref));
  for (const GitRef& one : all.refs) {
    if (one.name == ref) return one.id;
  }
  return std::nullopt;
}

Result<void> Connection::download(const std::vector<std::string>& refs) {
  std::vector<std::string> specs;
  specs.reserve(refs.size());
  for (const std::string& ref : refs) specs.push_back(fmt::format("+{}:{}", ref, ref));
  std::vector<char*> pointers;
  pointers.reserve(refs.size());
  for (std::string& spec : specs) pointers.push_back(spec.data());
  const git_strarray wanted{pointers.data(), pointers.size()};
  auto options = defaults(git_fetch_options_init, GIT_FETCH_OPTIONS_VERSION);
  options.callbacks = callbacks();
  options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  attempt_.allow(max_pack_bytes_ + kFraming);
  if (const int code = git_remote_download(remote_.get(), &wanted, &options); code != 0) {
    return failed(code, fmt::format("fetch {} of {}", refs.front(), url_.shown()));
  }
  return {};
}

Result<std::string> Connection::push(const std::string& refspec) {
  std::string text = refspec;
  char* pointer = text.data();
  const git_strarray specs{&pointer, 1};
  auto options = defaults(git_push_options_init, GIT_PUSH_OPTIONS_VERSION);
  options.callbacks = callbacks();
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  push_refusal_.clear();
  if (const int code = git_remote_upload(remote_.get(), &specs, &options); code != 0) {
    return failed(code, fmt::format("push {} to {}", refspec.substr(refspec.find(':') + 1), url_.shown()));
  }
  return push_refusal_;
}

git_remote_callbacks Connection::callbacks() {
  auto calls = defaults(git_remote_init_callbacks, GIT_REMOTE_CALLBACKS_VERSION);
  calls.payload = this;
  calls.credentials = on_credentials;
  calls.certificate_check = on_certificate;
  calls.transfer_progress = on_transfer;
  calls.push_transfer_progress = on_push_transfer;
  calls.push_update_reference = on_push_result;
  return calls;
}

std::unexpected<Status> Connection::failed(int code, const std::string& what) {
  if (attempt_.has_overflown()) {
    git_error_clear();
    return fail(Reason::RequestEntityTooLarge,
                fmt::format("git: {}: the server sends more than {} bytes", what, attempt_.allowed()));
  }
  if (attempt_.refusal()) {
    git_error_clear();
    return fail(attempt_.refusal()->reason, fmt::format("git: {}: {}", what, attempt_.refusal()->message));
  }
  if (attempt_.is_silent()) {
    git_error_clear();
    return fail(Reason::Timeout, fmt::format("git: {}: no connection within {}, or no answer within {}", what,
                                             to_string(attempt_.limits().connect), to_string(attempt_.limits().first_byte)));
  }
  if (attempt_.is_expired()) {
    git_error_clear();
    return fail(Reason::Timeout, fmt::format("git: {}: no end within the time-out", what));
  }
  if (!refusal_) return failure(code, what);
  Status status = *std::exchange(refusal_, std::nullopt);
  git_error_clear();
  status.message = fmt::format("git: {}: {}", what, status.message);
  return fail(std::move(status));
}

int Connection::refuse(Reason reason, std::string message) {
  refusal_ = fail(reason, std::move(message)).error();
  git_error_set_str(GIT_ERROR_CALLBACK, "refused");
  return reason == Reason::Unauthorized ? GIT_EAUTH : GIT_EUSER;
}

int Connection::on_credentials(git_credential** out, const char*, const char* user, unsigned allowed, void* self) {
  return static_cast<Connection*>(self)->give_credentials(out, user, allowed);
}

int Connection::give_credentials(git_credential** out, const char* user, unsigned allowed) {
  std::string name = user != nullptr && *user != '\0' ? user : credentials_.username;
  if (name.empty()) name = url_.user.empty() ? "git" : url_.user;
  if ((allowed & GIT_CREDENTIAL_USERNAME) != 0) return git_credential_username_new(out, name.c_str());
  if (has_shown_secret_) return refuse(Reason::Unauthorized, "the credentials were refused");
  has_shown_secret_ = true;
  if ((allowed & GIT_CREDENTIAL_SSH_MEMORY) != 0 && !credentials_.ssh_private_key.empty()) {
    const char* passphrase = credentials_.ssh_passphrase.empty() ? nullptr : credentials_.ssh_passphrase.c_str();
    return git_credential_ssh_key_memory_new(out, name.c_str(), nullptr, credentials_.ssh_private_key.c_str(), passphrase);
  }
  if ((allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) != 0 && !credentials_.password.empty()) {
    if (url_.kind == Url::Kind::Http && !url_.is_loopback()) {
      return refuse(Reason::Unauthorized, "credentials are not sent over plain http://; use https://");
    }
    if (!credentials_.username.empty()) name = credentials_.username;
    return git_credential_userpass_plaintext_new(out, name.c_str(), credentials_.password.c_str());
  }
  return refuse(Reason::Unauthorized, url_.kind == Url::Kind::Ssh ? "the server asks for a key or password, none was given"
                                                                  : "the server asks for credentials, none were given");
}

int Connection::on_certificate(git_cert* certificate, int is_valid, const char* host, void* self) {
  auto& one = *static_cast<Connection*>(self);
  if (certificate->cert_type == GIT_CERT_HOSTKEY_LIBSSH2) {
    const auto& key = *reinterpret_cast<const git_cert_hostkey*>(certificate);
    if (one.is_host_key_known(key)) return 0;
    return one.refuse(Reason::Unauthorized, fmt::format("the {} host key of {} is not in the known hosts that were given",
                                                        name_of(key.raw_type), host));
  }
  if (is_valid != 0) return 0;
  if (certificate->cert_type != GIT_CERT_X509 || one.credentials_.ca_bundle.empty()) {
    return one.refuse(Reason::Unauthorized, fmt::format("the certificate of {} is not trusted", host));
  }
  const auto& shown = *reinterpret_cast<const git_cert_x509*>(certificate);
  const std::string_view bytes(static_cast<const char*>(shown.data), shown.len);
  const auto checked = check_certificate(one.credentials_.ca_bundle, bytes, one.url_.host);
  return checked ? 0 : one.refuse(checked.error().reason, checked.error().message);
}

bool Connection::is_host_key_known(const git_cert_hostkey& key) {
  if ((key.type & GIT_CERT_SSH_RAW) == 0) return false;
  const int port = url_.port.empty() ? 22 : static_cast<int>(leading_count(url_.port));
  return is_known_host(credentials_.known_hosts, url_.host, port, name_of(key.raw_type), {key.hostkey, key.hostkey_len});
}

int Connection::on_transfer(const git_indexer_progress* progress, void* self) {
  auto& one = *static_cast<Connection*>(self);
  if (one.attempt_.is_expired()) return GIT_EUSER;
  if (progress->received_bytes <= one.max_pack_bytes_) return 0;
  return one.refuse(Reason::RequestEntityTooLarge, fmt::format("more than {} bytes (max_pack_bytes)", one.max_pack_bytes_));
}

int Connection::on_push_transfer(unsigned, unsigned, size_t, void* self) {
  return static_cast<Connection*>(self)->attempt_.is_expired() ? GIT_EUSER : 0;
}

int Connection::on_push_result(const char*, const char* refusal, void* self) {
  if (refusal != nullptr) static_cast<Connection*>(self)->push_refusal_ = refusal;
  return 0;
}

}  // namespace slipway::git
