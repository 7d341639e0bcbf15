#include "support.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds time_limit) {
  const auto deadline = clock_type::now() + time_limit;
  while (!condition()) {
    if (clock_type::now() > deadline) return false;
    std::this_thread::sleep_for(10ms);  // polls, because other processes do not notify us
  }
  return true;
}

zk_client connect(const std::string& address, std::chrono::milliseconds time_limit) {
  return {testcluster::detail::parse_endpoint(address), clock_type::now() + time_limit, {.timeout_ms = 10'000}};
}

bool alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const char state = stat[stat.rfind(')') + 2];
  return state != 'Z' && state != 'X';
}

std::string failure(const std::function<void()>& function) {
  try {
    function();
  } catch (const testcluster::error& problem) {
    return problem.what();
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

scratch::scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "testcluster-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}
