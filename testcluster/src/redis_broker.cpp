#include <fstream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <testcluster/redis_broker.hpp>

#include "broker_process.hpp"
#include "connection.hpp"
#include "workspace.hpp"

namespace testcluster {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct redis_broker::impl {
  explicit impl(const redis_broker_options& given);

  void write_secure_lines(std::ostream& out);
  detail::tls_folder& certificates();
  fs::path configuration() const { return folder.path() / "redis.conf"; }
  void write_configuration();
  void launch();
  bool answers() const;

  redis_broker_options options;
  detail::workspace files;
  detail::guard keeper;
  detail::owned_folder folder;
  detail::loopback_address host;
  std::string address;
  std::string secure_address;
  std::optional<detail::tls_folder> tls;
  detail::broker_process process;
};

namespace {

/// A kill can cut a transaction in the append-only file. Redis drops only the last command of it, and a later start
/// would execute those in front of it together with the next transaction. redis-check-aof drops all of it.
constexpr const char* repair_and_start =
    "for log in appendonlydir/*.manifest appendonly.aof; do "
    "[ ! -e \"$log\" ] || echo y | redis-check-aof --fix \"$log\"; done; "
    "exec redis-server \"$0\"";

const redis_broker_options& checked(const redis_broker_options& options) {
  if (options.start_timeout <= 0ms) throw std::invalid_argument("start_timeout: it must be more than zero");
  if (options.port == 0) throw std::invalid_argument("port: it must be 1 to 65535");
  if (options.tls && options.port == 65535) throw std::invalid_argument("port: with tls the next one is needed, too");
  for (const char each : options.password) {
    const bool is_bad = each == '"' || each == '\\' || static_cast<unsigned char>(each) < 0x20;
    if (is_bad) throw std::invalid_argument("password: no quotes, backslashes and control characters");
  }
  return options;
}

}  // namespace

redis_broker::impl::impl(const redis_broker_options& given)
    : options(checked(given)),
      files(options.dir),
      keeper(files.temporary() ? files.path() : fs::path{}),
      folder(files.path() / "redis"),
      address(host.text() + ":" + std::to_string(options.port)),
      process({.program = "redis-server", .package = "redis-server", .subject = "the broker"}, folder.path() / "log") {
  if (options.tls) {
    secure_address = host.text() + ':' + std::to_string(options.port + 1);
    tls.emplace(folder.path() / "tls");
  }
  write_configuration();
  launch();
}

detail::tls_folder& redis_broker::impl::certificates() {
  if (!tls) throw error("the broker was started without tls");
  return *tls;
}

void redis_broker::impl::write_secure_lines(std::ostream& out) {
  const auto own = certificates().signer().issue({.name = "redis", .hosts = {host.text(), "localhost"}});
  out << "tls-port " << options.port + 1 << "\ntls-ca-cert-file " << tls->signer().certificate().string() << '\n';
  out << "tls-cert-file " << own.certificate.string() << "\ntls-key-file " << own.key.string() << '\n';
}

void redis_broker::impl::write_configuration() {
  std::ofstream out(configuration());
  fs::permissions(configuration(), fs::perms::owner_read | fs::perms::owner_write);
  const bool is_durable = options.durability == redis_durability::always;
  out << "bind " << host.text() << "\nport " << options.port << "\nprotected-mode no\ndaemonize no\nsave \"\"\n";
  out << "dir " << folder.path().string() << "\nappendonly " << (is_durable ? "yes\nappendfsync always" : "no") << '\n';
  if (!options.password.empty()) out << "requirepass \"" << options.password << "\"\n";
  if (tls) write_secure_lines(out);
  for (const auto& each : options.extra_config) out << each << '\n';
  out.close();
  if (!out) throw error("could not write " + configuration().string());
}

void redis_broker::impl::launch() {
  const auto configured = configuration().string();
  std::vector<std::string> command{"redis-server", configured};
  const bool has_log = fs::exists(folder.path() / "appendonlydir") || fs::exists(folder.path() / "appendonly.aof");
  if (has_log) command = {"sh", "-c", repair_and_start, configured};
  process.launch({.command = std::move(command), .group = keeper.group(), .working_directory = folder.path()});
  process.await_answer([this] { return answers(); }, 2ms, detail::clock::now() + options.start_timeout);
}

/// A broker that loads its data says so to PING.
bool redis_broker::impl::answers() const {
  try {
    detail::connection to(detail::parse_endpoint(address), detail::clock::now() + 1s);
    to.write("PING\r\n");
    const auto answer = to.read(5);
    return answer == "+PONG" || answer == "-NOAU";
  } catch (const error&) {
    return false;
  }
}

redis_broker::redis_broker(const redis_broker_options& options) : impl_(std::make_unique<impl>(options)) {}

redis_broker::~redis_broker() = default;

const std::string& redis_broker::address() const { return impl_->address; }

const fs::path& redis_broker::dir() const { return impl_->files.path(); }

const std::string& redis_broker::secure_address() const {
  impl_->certificates();
  return impl_->secure_address;
}

authority& redis_broker::authority() { return impl_->certificates().signer(); }

const certificate_files& redis_broker::client_certificate() const { return impl_->certificates().client(); }

bool redis_broker::running() { return impl_->process.runs(); }

pid_t redis_broker::pid() { return impl_->process.pid(); }

void redis_broker::kill() {
  impl_->process.require(true, "kill");
  impl_->process.kill();
}

void redis_broker::stop() {
  impl_->process.require(true, "stop");
  impl_->process.stop(impl_->options.start_timeout);
}

void redis_broker::start() {
  impl_->process.require(false, "start");
  impl_->launch();
}

void redis_broker::restart() {
  if (running()) kill();
  start();
}

void redis_broker::pause() {
  impl_->process.require(true, "pause");
  impl_->process.pause();
}

void redis_broker::resume() {
  impl_->process.require(true, "resume");
  impl_->process.resume();
}

std::string redis_broker::log() const { return impl_->process.log(); }

}  // namespace testcluster
