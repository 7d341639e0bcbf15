// The data of a member of a line: any text, or a record with requests.
#include "line/member_data.hpp"

#include "election/term_record.hpp"
#include "fuzz/target.hpp"

namespace fuzz::member_data_target {

using namespace zkrecipes::detail;
using namespace std::chrono_literals;

void read_data(std::string_view input) {
  const std::string data(input);
  require(grace_of(data) >= 0ms, "a grace is not negative");
  if (is_revocable(data)) {
    const auto asked = with_revocation(data, 1500ms);
    require(asks_revocation(asked), "a request can be read");
    require(grace_of(asked) <= 1500ms, "the shorter grace stays");
    const bool has_id = read_member(data)->text("id").has_value();  // else the whole data stands for it
    require(!has_id || member_id(asked) == member_id(data), "a request keeps the id");
    require(is_shared(with_shared(asked)), "the mark of a member that lets others pass can be read");
  }
  require(member_id(id_data(data)) == data || data.empty(), "an id is read as it was written");
  require(member_id(revocable_data(data)) == data, "an id is read from a record as it was written");
  require(!asks_revocation(id_data(data)), "an id is no request");
  require(is_of_ours(candidate_data(data, true)) && is_awaiting(candidate_data(data, true)), "a candidate is ours");
  require(!keeps_record(campaigner_data(data)), "a campaigner keeps no record");
  is_of_ours(data), keeps_record(data), is_awaiting(data);
}

const target known("member_data", read_data);

}  // namespace fuzz::member_data_target
