#include "server.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include <testcluster/ensemble.hpp>
#include <testcluster/error.hpp>

#include "spawn.hpp"
#include "written_file.hpp"
#include "zk_client.hpp"

namespace testcluster::detail {

/// The command that runs one server with this configuration. Throws testcluster::error naming the Debian package if
/// java or ZooKeeper is not installed.
std::vector<std::string> server_command(const std::filesystem::path& config, const ensemble_options& options);

namespace {

// Small heap, one garbage collector thread, no optimising compiler: this suits a short-lived server on a shared
// machine. No performance data, because it would leave a file in /tmp for every killed server.
constexpr const char* default_flags = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xshare:auto";
constexpr const char* default_jar = "/usr/share/java/zookeeper.jar";
// Jars that Debian's zookeeper.jar needs but does not name as dependencies: a logger, and the AdminServer's servlet
// API.
constexpr const char* further_jars = "/usr/share/java/slf4j-simple.jar:/usr/share/java/servlet-api.jar";
// Further jars, which the server needs for TLS.
constexpr const char* netty_jars[] = {"handler",
                                      "transport",
                                      "buffer",
                                      "common",
                                      "codec",
                                      "resolver",
                                      "transport-native-epoll",
                                      "transport-native-unix-common"};

bool in_path(const std::string& program) {
  std::istringstream folders(environment("PATH", "/usr/bin:/bin"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string class_path(const std::string& zookeeper, bool tls) {
  auto path = zookeeper + ":" + further_jars;
  if (!tls) return path;
  for (const std::string each : netty_jars) path += ":/usr/share/java/netty-" + each + ".jar";
  return path;
}

}  // namespace

std::vector<std::string> server_command(const std::filesystem::path& config, const ensemble_options& options) {
  const auto jar = environment("TESTCLUSTER_ZOOKEEPER_JAR", default_jar);
  if (!in_path("java")) throw error("java not found; on Debian 12: apt-get install default-jre-headless");
  if (::access(jar.c_str(), R_OK) != 0) {
    throw error("ZooKeeper not found (" + jar + "); on Debian 12: apt-get install zookeeper");
  }
  std::vector<std::string> command{"java"};
  std::istringstream flags(environment("TESTCLUSTER_JVM_FLAGS", default_flags));
  for (std::string flag; flags >> flag;) command.push_back(flag);
  if (options.heap_mib > 0) command.push_back("-Xmx" + std::to_string(options.heap_mib) + "m");  // the last one counts
  command.insert(
      command.end(),
      {"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS", "-cp",
       class_path(jar, options.tls), "org.apache.zookeeper.server.quorum.QuorumPeerMain", config.string()});
  return command;
}

using namespace std::chrono_literals;
namespace fs = std::filesystem;

server::server(int id, fs::path folder, std::uint16_t base_port)
    : id_(id), folder_(std::move(folder)), base_port_(base_port) {}

server::~server() {
  kill();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string server::address(int port_offset) const {
  return address_.text() + ":" + std::to_string(base_port_ + port_offset);
}

tcp::endpoint server::client_endpoint() const { return parse_endpoint(address(0)); }

void server::start(pid_t group, const ensemble_options& options) {
  std::error_code absent;
  const auto log_size = fs::file_size(log_file(), absent);
  log_start_ = absent ? 0 : log_size;
  pid_ = spawn({.command = server_command(folder_ / "zoo.cfg", options),
                .group = group,
                .output = log_file(),
                .working_directory = folder_});
}

void server::end(int signal_number) {
  ::kill(pid_, signal_number);
  ::kill(pid_, SIGCONT);  // a paused process would not see SIGTERM before it goes on
  paused_ = false;
}

void server::kill() {
  if (pid_ == 0) return;
  end(SIGKILL);
  await(pid_);
  pid_ = 0;
}

void server::stop(std::chrono::milliseconds time_limit) {
  end(SIGTERM);
  if (!await_until(pid_, clock::now() + time_limit)) return kill();
  pid_ = 0;
}

void server::pause() {
  ::kill(pid_, SIGSTOP);
  paused_ = true;
}

void server::resume() {
  ::kill(pid_, SIGCONT);
  paused_ = false;
}

server::state server::current() {
  if (pid_ != 0 && collect(pid_)) {
    pid_ = 0;
    paused_ = false;
  }
  if (pid_ == 0) return state::stopped;
  return paused_ ? state::paused : state::running;
}

std::string server::role() {
  const auto now = current();
  if (now == state::stopped) return "stopped";
  if (now == state::paused) return "paused";
  try {
    const auto answer = four_letter_word(client_endpoint(), "srvr", clock::now() + 500ms);
    const std::string key = "Mode: ";
    const auto start = answer.find(key);
    if (start == answer.npos) return "looking";
    return answer.substr(start + key.size(), answer.find('\n', start) - start - key.size());
  } catch (const error&) {
    return "looking";
  }
}

std::string server::log() const {
  std::ifstream file(log_file(), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(log_start_));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The zoo.cfg of one server.

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
