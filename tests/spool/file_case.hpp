// The file of a spooled producer, on the SQLite of this machine.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <sqlite3.h>
#include <stdlib.h>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_file.hpp"

namespace zkrecipes::test {

/// In a folder whose name means something to a shell.
class file_case {
 public:
  file_case() {
    std::string name = std::filesystem::temp_directory_path() / "zkrecipes-spool; it's one-XXXXXX";
    BOOST_TEST_REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~file_case() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "spool.db"; }
  detail::spool_file_settings settings() const { return {path(), "/q", "p", spool_durability::power}; }

  static detail::spool_change rows(std::uint64_t from, std::uint64_t to, std::uint64_t put = 0, std::size_t size = 10) {
    detail::spool_change all;
    for (auto i = from; i <= to; ++i) {
      auto data = std::to_string(i);
      data.resize(std::max(size, data.size()), '.');
      all.rows.push_back(std::make_shared<detail::spool_row>(detail::spool_row{i, "key", std::move(data)}));
    }
    all.put = put;
    return all;
  }

  /// Runs SQL on the file, as an operator could.
  void meddle(const std::string& sql) {
    sqlite3* connection = nullptr;
    BOOST_TEST_REQUIRE(sqlite3_open(path().c_str(), &connection) == SQLITE_OK);
    char* why = nullptr;
    const int result = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &why);
    BOOST_TEST(result == SQLITE_OK, (why ? why : "?"));
    sqlite3_free(why);
    sqlite3_close(connection);
  }

  /// Refused, with the name of the file and a cure, and not changed.
  void expect_refusal(detail::spool_file_settings with, spool_errc why, const std::string& what) {
    const auto before = content();
    detail::spool_file file(with);
    const auto answer = file.open({});
    BOOST_TEST((answer.error == why), answer.error.message());
    BOOST_TEST(answer.trouble.starts_with(path() + ": "), answer.trouble);
    BOOST_TEST(answer.trouble.find(what) != std::string::npos, answer.trouble);
    BOOST_TEST(answer.trouble.find("; ") != std::string::npos, answer.trouble);
    BOOST_TEST((content() == before), "it was changed");
    BOOST_TEST((file.commit(rows(1, 1)).error));  // it is not open
  }

  std::string content() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& what) const { std::ofstream(path(), std::ios::binary) << what; }

 private:
  std::filesystem::path folder_;
};

}  // namespace zkrecipes::test
