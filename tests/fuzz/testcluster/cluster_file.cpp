// TOML files of clusters, and cluster.json in the directory of one.
#include "cluster_file.hpp"

#include <testcluster/error.hpp>

#include "fuzz/target.hpp"
#include "fuzz/written_file.hpp"
#include "options.hpp"
#include "place.hpp"

namespace fuzz::cluster_file_target {

void read_file(std::string_view input) try {
  static const written_file file("cluster.toml");
  file.write(input);
  const auto found = testcluster::command::read_cluster_file(file.path());
  require(!testcluster::detail::problem_in(found.ensemble), "what was read can be started");
} catch (const testcluster::error& refused) {
  require(!has_control(refused.what()), "no control character is shown");
}

void read_record(std::string_view input) {
  static const written_file file("cluster.json");
  file.write(input);
  const auto state = testcluster::command::examine(file.folder());
  require(state != testcluster::command::condition::live, "no supervisor lives here");
}

void read_cluster(std::string_view input) {
  read_file(input);
  read_record(input);
}

const target known("cluster_file", read_cluster);

}  // namespace fuzz::cluster_file_target
