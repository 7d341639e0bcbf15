#include "server.hpp"
#include "written_file.hpp"

// The zoo.cfg of one server.
namespace testcluster::detail {
namespace {

std::string four_letter_words(const ensemble_options& options) {
  std::string list = "srvr";
  for (const auto& word : options.four_letter_words) {
    if (word != "srvr") list += "," + word;
  }
  return list;
}

/// Between the servers. They close a connection aside, because the end of TLS waits for the other side, which may be
/// paused.
std::string quorum_lines(const certificate_files& own, const std::filesystem::path& trusted) {
  return "sslQuorum=true\n"
         "ssl.quorum.protocol=TLSv1.3\n"
         "ssl.quorum.enabledProtocols=TLSv1.3,TLSv1.2\n"
         "ssl.quorum.keyStore.type=PEM\n"
         "ssl.quorum.keyStore.location=" +
         own.both.string() +
         "\n"
         "ssl.quorum.trustStore.type=PEM\n"
         "ssl.quorum.trustStore.location=" +
         trusted.string() +
         "\n"
         "learner.closeSocketAsync=true\n"
         "leader.closeSocketAsync=true\n";
}

}  // namespace

std::string server::quorum_address() const { return address(1) + ":" + std::to_string(base_port_ + 2); }

void server::secure(const certificate_files& own, const std::filesystem::path& trusted, bool peers) {
  secure_lines_ =
      "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
      "secureClientPortAddress=" +
      address_.text() +
      "\n"
      "secureClientPort=" +
      std::to_string(base_port_ + secure_port) +
      "\n"
      "ssl.protocol=TLSv1.3\n"
      "ssl.enabledProtocols=TLSv1.3,TLSv1.2\n"
      "ssl.keyStore.type=PEM\n"
      "ssl.keyStore.location=" +
      own.both.string() +
      "\n"
      "ssl.trustStore.type=PEM\n"
      "ssl.trustStore.location=" +
      trusted.string() + "\n";
  if (peers) secure_lines_ += quorum_lines(own, trusted);
}

void server::configure(const ensemble_options& options, const std::string& further) {
  const auto data = folder_ / "data";
  std::filesystem::create_directories(data);
  std::string text;
  const auto set = [&text](const std::string& key, const std::string& value) { text += key + "=" + value + "\n"; };
  const auto milliseconds = [](auto duration) { return std::to_string(duration.count()); };
  set("dataDir", data.string());
  set("clientPortAddress", address_.text());
  set("clientPort", std::to_string(base_port_));
  set("tickTime", milliseconds(options.tick_time));
  set("initLimit", std::to_string(options.init_limit));
  set("syncLimit", std::to_string(options.sync_limit));
  if (options.min_session_timeout.count() > 0) set("minSessionTimeout", milliseconds(options.min_session_timeout));
  if (options.max_session_timeout.count() > 0) set("maxSessionTimeout", milliseconds(options.max_session_timeout));
  set("maxClientCnxns", "0");  // every client of a test has the same address
  set("forceSync", options.force_sync ? "yes" : "no");
  set("preAllocSize", "1024");
  set("4lw.commands.whitelist", four_letter_words(options));
  set("admin.enableServer", options.admin_server ? "true" : "false");
  set("admin.serverAddress", address_.text());
  set("admin.serverPort", std::to_string(base_port_ + 3));
  text += secure_lines_;
  for (const auto& line : options.extra_config) text += line + "\n";
  text += further;
  write_file(folder_ / "zoo.cfg", text, 0600);
  write_file(data / "myid", std::to_string(id_) + "\n", 0644);
}

}  // namespace testcluster::detail
