#include "spool/spool_sum.hpp"

#include <cstdint>

#include <sqlite3.h>

#include <boost/crc.hpp>

#include "spool/spool_file_trouble.hpp"

namespace zkrecipes::detail {

namespace {

void add_number(boost::crc_32_type& to, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) to.process_byte(static_cast<unsigned char>(value >> shift));
}

void sum(sqlite3_context* context, int count, sqlite3_value** values) {
  boost::crc_32_type all;
  for (int i = 0; i < count; ++i) {
    const bool is_number = sqlite3_value_type(values[i]) == SQLITE_INTEGER;
    all.process_byte(is_number ? 'n' : 'b');  // one bit makes the number 0 of an empty key
    if (is_number) {
      add_number(all, static_cast<std::uint64_t>(sqlite3_value_int64(values[i])));
      continue;
    }
    const auto* bytes = sqlite3_value_blob(values[i]);  // before its size, which is that of this form
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[i]));
    add_number(all, size);
    if (bytes) all.process_bytes(bytes, size);
  }
  sqlite3_result_int64(context, all.checksum());
}

}  // namespace

void add_spool_sum(sqlite3* to) {
  constexpr int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  require_ok(sqlite3_create_function_v2(to, "spool_sum", -1, how, nullptr, &sum, nullptr, nullptr, nullptr));
}

}  // namespace zkrecipes::detail
