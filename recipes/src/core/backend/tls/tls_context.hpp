// The secure connections of one session: what its files hold, and what its servers have given us.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_files.hpp"
#include "backend/tls/tls_handles.hpp"
#include "backend/tls/tls_ticket.hpp"

namespace zkrecipes::backend {

class tls_context {
 public:
  /// \throws std::invalid_argument that names the field of `session_options`.
  explicit tls_context(tls_options options);

  enum class change { none, reloaded, unusable };
  /// Reads the files again if one has changed. If that is of no use everything stays as it is, and `problem` says why.
  change refresh(std::string& problem);

  struct connection {
    std::shared_ptr<tls_ticket> ticket;  ///< Has to outlive the handle.
    ssl_handle handle;
  };
  /// A new connection to a server that has one of these names for us: host names, or one address.
  /// \throws std::bad_alloc.
  connection make(const std::string& server, const std::vector<std::string>& names);

 private:
  void load();
  void expect_name(SSL* to, const std::vector<std::string>& names) const;

  tls_options options_;
  std::vector<file_stamp> stamps_;
  ssl_context_handle context_;
  std::map<std::string, std::shared_ptr<tls_ticket>> tickets_;  // by server
};

}  // namespace zkrecipes::backend
