#include "live/hold_fixture.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/lock.hpp>

#include "live/testimony.hpp"

using namespace zkrecipes::test;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The `which`-th number of a testimony.
std::int64_t number_of(const std::string& file, std::size_t which) {
  const auto text = contents(file);
  std::int64_t numbers[2]{};
  static_assert(sizeof numbers == sizeof(testimony));
  if (text.size() == sizeof numbers) std::memcpy(numbers, text.data(), sizeof numbers);
  return numbers[which];
}

}  // namespace

running_program hold_fixture::start(std::vector<std::string> arguments,
                                    std::map<std::string, std::string> environment) {
  environment.emplace("ZKADMIN_HOSTS", hosts);
  environment.emplace("ZKADMIN_TIMEOUT", "20s");
  environment.emplace("PATH", "/usr/bin:/bin");
  return {io(), std::move(arguments), environment};
}

program_result hold_fixture::finish(std::vector<std::string> arguments,
                                    std::map<std::string, std::string> environment) {
  return start(std::move(arguments), std::move(environment)).wait();
}

std::vector<std::string> hold_fixture::witness(const std::string& name, std::vector<std::string> more) const {
  return std::vector<std::string>{"--", WITNESS_PROGRAM, file(name)} + more;
}

std::string hold_fixture::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_.path() / name) << text;
  return file(name);
}

std::int64_t hold_fixture::begin_of(const std::string& name) const { return number_of(file(name), 0); }
std::int64_t hold_fixture::last_sign_of(const std::string& name) const { return number_of(file(name), 1); }

bool hold_fixture::begins(const std::string& name) {
  return run_until([&] { return last_sign_of(name) != 0; });
}

bool hold_fixture::is_gone(const std::string& name) const {
  std::error_code error;
  for (const auto& each : fs::directory_iterator("/proc", error)) {
    const auto words = contents(each.path() / "cmdline");
    if (words.find(WITNESS_PROGRAM) == 0 && words.find(file(name)) != words.npos) return false;
  }
  return true;
}

bool hold_fixture::sleeps(const std::string& name) {
  const auto process = std::to_string(std::stoi(contents(file(name))));
  return run_until([&] { return contents("/proc/" + process + "/stat").find(") S ") != std::string::npos; });
}

std::size_t hold_fixture::length(const std::string& path) { return contains(path) ? children(path).size() : 0; }

bool hold_fixture::gets_length(const std::string& path, std::size_t wanted) {
  return run_until([&] { return length(path) == wanted; });
}

zkrecipes::node_data hold_fixture::member(const std::string& path) { return get(path + "/" + children(path).at(0)); }

pid_t hold_fixture::keeper_of(const running_program& front) {
  const auto id = std::to_string(front.pid());
  const auto list = contents("/proc/" + id + "/task/" + id + "/children");
  return static_cast<pid_t>(std::atoi(list.c_str()));
}

zkrecipes::ownership hold_fixture::take(const std::string& path) {
  zkrecipes::lock lock(zk(), path);
  auto got = run(lock.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(got));
  return std::move(std::get<1>(got));
}

std::vector<std::string> operator+(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::int64_t present() { return zkrecipes::lease_clock::now().time_since_epoch().count(); }
