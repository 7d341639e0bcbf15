#include "cluster/topic_reader.hpp"
#include "commands/listing.hpp"
#include "report/topic_report.hpp"

namespace zkadmin {
namespace {

std::string formatted_topics(const known_topics& topics, output_format format, bool is_one) {
  switch (format) {
    case output_format::table: return is_one && topics ? to_table(topics->found.at(0)) : to_table(topics);
    case output_format::json: return to_json(topics);
    case output_format::tsv: return to_tsv(topics);
  }
  return {};
}

}  // namespace

exit_code show_topics(surroundings& around, const settings& wanted, const std::string& path, output_format format) {
  const listing_kind<topic_status> topics{"topic", recipe::topic, read_topic};
  return show_list<topic_status>(around, wanted, topics, path, [format, &path](const known_topics& all) {
    return formatted_topics(all, format, !path.empty());
  });
}

}  // namespace zkadmin
