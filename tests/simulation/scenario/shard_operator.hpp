// An operator who edits the nodes of a shard group while its members work.
#pragma once

#include <string>
#include <utility>

#include "scenario/shards.hpp"

namespace zkrecipes::simulation {

class shard_operator {
 public:
  explicit shard_operator(sharing& of);

 private:
  using deed = void (shard_operator::*)();
  void perhaps(std::uint64_t one_in, deed what) { perhaps(chance_, one_in, what); }
  void perhaps(chance& by, std::uint64_t one_in, deed what);

  void remove_member();
  void garble_member();
  void order_twice();
  void edit_record();
  void remove_record();
  void remove_away();
  void freeze();
  void quarantine();
  void release();
  void pin();
  void drain();
  void make_notes();

  void remove_later(std::string path) { remove_later(chance_, std::move(path)); }
  void remove_later(chance& by, std::string path);
  std::string any_id();
  void remove_surely(std::string path);
  std::string any_child(const std::string& parent);
  std::uint32_t any_shard() { return static_cast<std::uint32_t>(chance_.below(shard_count)); }

  sharing& of_;
  stage& in_;
  chance chance_;
  chance wishes_;  // of what the planner is to heed
};

}  // namespace zkrecipes::simulation
