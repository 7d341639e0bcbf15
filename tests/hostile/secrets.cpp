// Where secrets stay: another process holds them, and its memory, its command line and its environment are searched.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <testcluster/authority.hpp>

#include "hostile/lying_case.hpp"
#include "support/line_process.hpp"
#include "support/temporary_folder.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process) + "/"; }

std::size_t count_in(const std::string& bytes, const std::string& text) {
  std::size_t count = 0;
  for (auto at = bytes.find(text); at != bytes.npos; at = bytes.find(text, at + 1)) ++count;
  return count;
}

/// The part of the memory that a line of /proc/PID/maps describes; empty if it can not be written, or not be read, as
/// that of the kernel.
std::string bytes_of(int memory, const std::string& line) {
  std::istringstream fields(line);
  std::size_t begin = 0, end = 0;
  char dash = 0;
  std::string rights;
  fields >> std::hex >> begin >> dash >> end >> rights;
  if (!rights.starts_with("rw") || line.find("[v") != line.npos) return {};
  std::string bytes(end - begin, '\0');
  const auto size = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(begin));
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

}  // namespace

/// How often the text stands in the memory of the process that may be written: its heap, its stacks, and its variables.
/// \throws std::runtime_error if the memory can not be read.
std::size_t count_in_memory(pid_t process, const std::string& text) {
  const int memory = ::open((folder_of(process) + "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) throw std::runtime_error("the memory of the process can not be read");
  std::ifstream maps(folder_of(process) + "maps");
  std::size_t count = 0, seen = 0;
  for (std::string line; std::getline(maps, line);) {
    const auto bytes = bytes_of(memory, line);
    seen += bytes.size();
    count += count_in(bytes, text);
  }
  ::close(memory);
  if (seen == 0) throw std::runtime_error("the process has no memory");
  return count;
}

/// A file of /proc/PID, such as "cmdline".
std::string file_of_process(pid_t process, const std::string& name) {
  std::ifstream file(folder_of(process) + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

namespace fs = std::filesystem;

/// Random letters. So no program has them among its constants.
std::string make_secret(std::size_t size) {
  std::random_device source;
  std::string letters;
  while (letters.size() < size) letters.push_back(static_cast<char>('a' + source() % 26));
  return letters;
}

struct secret_case : lying_case {
  std::string write(const std::string& name, const std::string& content) const {
    const auto path = folder.path() / name;
    std::ofstream(path) << content;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path.string();
  }

  std::string ask(const std::string& command) {
    holder.tell(command);
    std::optional<std::string> answer;
    const bool has_answered = run_until(io, [&] { return (answer = holder.answer()).has_value(); });
    BOOST_TEST_REQUIRE(has_answered, command);
    return *answer;
  }

  std::size_t count(const std::string& secret) const { return count_in_memory(holder.pid(), secret); }

  void check_proc(const std::string& secret) const {
    for (const char* name : {"cmdline", "environ", "comm", "maps"}) {
      BOOST_TEST(file_of_process(holder.pid(), name).find(secret) == std::string::npos, name);
    }
  }

  /// A session with this secret: the memory holds it as long as there is the session, for later connections, and in
  /// `copies` places at most.
  void check_digest(std::size_t length, const std::string& command = "connect", const std::string& done = "connected",
                    std::size_t copies = 2) {
    scripted_server server(io,
                           [this](scripted_connection client) -> asio::awaitable<void> { co_await behave(client); });
    const auto secret = make_secret(length);
    const auto file = write("digest", "user\n" + secret + "\n");
    BOOST_TEST(ask(command + " " + server.address() + " " + file) == done);
    BOOST_TEST(count(secret) > 0u);
    BOOST_TEST(count(secret) <= copies);
    check_proc(secret);
    BOOST_TEST(ask("close") == "closed");
    BOOST_TEST(count(secret) == 0u);
    server.stop();
  }

  temporary_folder folder;
  // The look-up of a function at its first call leaves the registers on the stack, and in them a short secret.
  line_process holder{"holder", {"/usr/bin/env", "LD_BIND_NOW=1", SECRET_HOLDER}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secrets, secret_case)

BOOST_AUTO_TEST_CASE(a_digest_is_gone_with_the_session) { check_digest(40); }

// Such a text stands in the string itself, and a string that is moved leaves it there.
BOOST_AUTO_TEST_CASE(a_short_digest_is_gone_with_the_session) { check_digest(12); }

// The session has them once, and no request keeps a copy.
BOOST_AUTO_TEST_CASE(added_credentials_are_gone_with_the_session) { check_digest(40, "add", "added", 1); }
BOOST_AUTO_TEST_CASE(short_added_credentials_are_gone_with_the_session) { check_digest(12, "add", "added", 1); }

BOOST_AUTO_TEST_CASE(the_password_of_a_key_is_gone_when_the_key_is_read) {
  testcluster::authority authority(folder.path());
  const auto secret = make_secret(40);
  const auto made = authority.issue({.name = "client", .key_password = secret});
  const auto file = write("password", secret + "\n");
  fs::copy_file(made.key, file + ".key");
  BOOST_TEST(ask("load " + authority.certificate().string() + " " + made.certificate.string() + " " + file) ==
             "loaded");
  BOOST_TEST(count(secret) == 0u);
  check_proc(secret);
}

BOOST_AUTO_TEST_CASE(a_refused_key_shows_no_password) {
  testcluster::authority authority(folder.path());
  const auto made = authority.issue({.name = "client", .key_password = make_secret(40)});
  const auto wrong = make_secret(40);
  const auto file = write("password", wrong + "\n");
  fs::copy_file(made.key, file + ".key");
  const auto why = ask("load " + authority.certificate().string() + " " + made.certificate.string() + " " + file);
  BOOST_TEST(why.find("tls.key: ") != why.npos, why);
  BOOST_TEST(why.find(wrong) == why.npos, why);
  BOOST_TEST(count(wrong) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
