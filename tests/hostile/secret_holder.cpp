// A program whose memory the tests search. It reads commands from its standard input, one per line, and answers each
// with a line. It takes no secret from its command line, its environment or its commands.
//   connect ADDRESS FILE            a session whose digest is the two lines of the file: the user and the secret
//   add ADDRESS FILE                the same, but the digest is added to the living session, twice
//   load AUTHORITY CERTIFICATE FILE a session with this certificate, and its key in FILE.key, whose password FILE
//   holds,
//                                   or the reason for which it is refused
//   close                           the end of the session, and of the object
#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

std::vector<std::string> told;  // what the log has said, for as long as this process lives

/// Reads a line of a file. No copy stays in memory: not even in a string that was moved, which a short text does not
/// leave.
void read_secret(const std::string& path, std::size_t line, std::string& into) {
  std::array<char, 256> bytes{};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto size = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  const char* begin = bytes.data();
  const char* const all = begin + std::max<ssize_t>(size, 0);
  for (; line > 0; --line) begin = std::find(begin, all, '\n') + 1;
  into.assign(begin, std::find(begin, all, '\n'));
  OPENSSL_cleanse(bytes.data(), bytes.size());
}

session_options options_at(const std::string& address) {
  session_options options;
  options.hosts = address;
  options.timeout = 30s;
  options.log = [](const log_event& each) { told.push_back(to_string(each)); };
  return options;
}

/// The strings of the options are moved into the session, so that no copy is ours.
std::string connect(asio::io_context& io, std::optional<session>& zk, const std::string& address,
                    const std::string& file) {
  auto options = options_at(address);
  auto& shown = options.digest.emplace_back();
  read_secret(file, 0, shown.user);
  read_secret(file, 1, shown.password);
  zk.emplace(io.get_executor(), std::move(options));
  const auto got = run_coroutine(io, zk->async_get("/a", tuple));
  return std::get<0>(got) ? std::get<0>(got).message() : "connected";
}

/// Our own copy is wiped as soon as the session has taken it.
std::string add(asio::io_context& io, std::optional<session>& zk, const std::string& address, const std::string& file) {
  zk.emplace(io.get_executor(), options_at(address));
  for (int i = 0; i < 2; ++i) {
    credentials shown;
    read_secret(file, 0, shown.user);
    read_secret(file, 1, shown.password);
    auto adding = zk->async_add_credentials(std::move(shown), tuple);
    shown.password.resize(shown.password.capacity());
    OPENSSL_cleanse(shown.password.data(), shown.password.size());
    const auto got = run_coroutine(io, std::move(adding));
    if (std::get<0>(got)) return std::get<0>(got).message();
  }
  const auto got = run_coroutine(io, zk->async_get("/a", tuple));
  return std::get<0>(got) ? std::get<0>(got).message() : "added";
}

std::string load(asio::io_context& io, std::optional<session>& zk, const std::string& authority,
                 const std::string& certificate, const std::string& file) {
  auto options = options_at("127.0.0.1:1");
  options.tls = tls_options{.authorities = authority, .certificate = certificate, .key = file + ".key"};
  options.tls->key_password = [file] {
    std::string password;
    read_secret(file, 0, password);
    return password;
  };
  try {
    zk.emplace(io.get_executor(), std::move(options));
    return "loaded";
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
}

std::string close(asio::io_context& io, std::optional<session>& zk) {
  run_coroutine(io, zk->async_close(tuple));
  zk.reset();
  io.restart();
  io.run();
  return "closed";
}

}  // namespace

int main() {
  asio::io_context io;
  std::optional<session> zk;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, first, second, third;
    words >> command >> first >> second >> third;
    std::string answer = "?";
    if (command == "connect") answer = connect(io, zk, first, second);
    if (command == "add") answer = add(io, zk, first, second);
    if (command == "load") answer = load(io, zk, first, second, third);
    if (command == "close") answer = close(io, zk);
    std::cout << answer << std::endl;
  }
}
