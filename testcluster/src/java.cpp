#include "java.hpp"

#include <sstream>

#include <unistd.h>

#include <testcluster/error.hpp>

#include "environment.hpp"

namespace testcluster::detail {
namespace {

// Small heap, one garbage collector thread, no optimising compiler: this suits a short-lived server on a shared
// machine. No performance data, because it would leave a file in /tmp for every killed server.
constexpr const char* default_flags = "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xshare:auto";
constexpr const char* default_jar = "/usr/share/java/zookeeper.jar";
// Jars that Debian's zookeeper.jar needs but does not name as dependencies: a logger, and the AdminServer's servlet
// API.
constexpr const char* further_jars = "/usr/share/java/slf4j-simple.jar:/usr/share/java/servlet-api.jar";
// The same for TLS.
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

}  // namespace testcluster::detail
