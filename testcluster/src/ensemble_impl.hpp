#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "server.hpp"
#include "workspace.hpp"

namespace testcluster::detail {

/// The proxies between the servers: two for each ordered pair, one for each port at which the first server connects to
/// the second. Each server's own zoo.cfg names the proxies in place of the other servers, so no connection bypasses
/// them.
class peer_links {
 public:
  explicit peer_links(const std::vector<std::unique_ptr<server>>& all);

  proxy& at(int from, int to, peer_port port);

  /// The address at which `from` reaches `to`, for the line `server.N` of zoo.cfg.
  std::string quorum_address(int from, int to);

  /// All proxies through which these two servers reach each other.
  std::vector<proxy*> between(int one, int other);

 private:
  struct link {
    loopback_address address;  // one for both proxies: a line of zoo.cfg has room for one address with two ports
    std::unique_ptr<proxy> quorum;
    std::unique_ptr<proxy> election;
  };
  link& find(int from, int to);
  void connect(const server& from, const server& to);
  std::size_t servers_;
  std::vector<link> links_;
};

/// The digest credentials by which testcluster itself speaks to the servers: those of the superuser, or others if the
/// servers only demand some. A file with those of the superuser is removed with the object.
class own_credentials {
 public:
  /// Writes the file of the superuser to `folder`. Throws testcluster::error if that fails.
  own_credentials(const ensemble_options& options, const std::filesystem::path& folder);
  ~own_credentials();
  own_credentials(const own_credentials&) = delete;
  own_credentials& operator=(const own_credentials&) = delete;

  /// "user:password"; empty if the servers need none.
  const std::string& secret() const { return secret_; }

  /// The file with the superuser's; empty if there is no superuser.
  const std::filesystem::path& file() const { return file_; }

  /// The lines of zoo.cfg, which have the hash of the password only.
  const std::string& lines() const { return lines_; }

 private:
  std::string secret_;
  std::filesystem::path file_;
  std::string lines_;
};

}  // namespace testcluster::detail

namespace testcluster {

// The members are destroyed in the reverse order, as is needed: proxies first, then servers, guard and files.
struct ensemble::impl {
  explicit impl(const ensemble_options& given);

  detail::server& at(int id);
  detail::server& running(int id);
  std::vector<detail::server*> running();

  /// Empty if all running servers serve, otherwise what is missing.
  std::string obstacle();
  bool quorum();
  int total() const { return options.servers + options.observers; }
  bool votes(const detail::server& each) const { return each.id() <= options.servers; }
  int running_voters();
  void wait_serving();
  bool port_taken() const;
  void poll(const std::function<std::string()>& obstacle_now);

  /// Tries once to start all servers on the ports from base_port. False if another program has one of the ports.
  bool start_all(std::uint16_t base_port);

  /// The lines of zoo.cfg by which a server finds itself and the others.
  std::string members(const detail::server& viewer);

  /// The proxies between two servers. Throws if the two are the same or unknown, or if the ensemble has no such
  /// proxies.
  detail::peer_links& links_of(int one, int other);
  std::vector<testcluster::proxy*> links_around(int id);
  std::vector<std::string> faults_of(int id);

  /// The address at which clients reach a server, its own or that of its proxy, and the server's certificate for it.
  std::string make_reachable(detail::server& which);

  detail::tls_folder& secured();

  /// Whether the servers speak TLS with each other. Proxies between them have to read the first message of an election
  /// connection, and a line of the user's decides for itself.
  bool peers_speak_tls() const;

  ensemble_options options;
  detail::workspace files;
  detail::own_credentials own;
  std::optional<detail::tls_folder> tls;
  detail::guard keeper;
  std::vector<std::unique_ptr<detail::server>> servers;
  std::optional<detail::peer_links> links;
  std::vector<std::unique_ptr<testcluster::proxy>> proxies;
  std::string hosts;
};

}  // namespace testcluster
