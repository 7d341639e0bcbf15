#include "scenario/scripts.hpp"

#include <utility>

namespace zkrecipes::simulation {

namespace {

using results = std::vector<operation_result>;

std::string below(const char* name) { return std::string(script_node) + '/' + name; }

void write_again(actor& a) {
  a.meanwhile([&a] {
    a.aside<node_stat>([&](auto token) { a.zk().async_set(script_node, "again", any_version, std::move(token)); });
  });
}

void add_child(actor& a) {
  a.meanwhile([&a] {
    a.aside<created_node>([&](auto token) {
      a.zk().async_create(below("child-"), "", create_mode::ephemeral_sequential, std::move(token));
    });
  });
}

void ask_for_it(actor& a) {
  a.meanwhile([&a] { a.aside<>([&](auto token) { a.line().async_request_resignation(std::move(token)); }); });
}

/// Writes the record of no term: the data stays the same, but its version grows.
void write_record(actor& a) {
  a.meanwhile([&a] {
    a.aside<node_stat>([&](auto token) { a.zk().async_set(script_line, "", any_version, std::move(token)); });
  });
}

/// Tries a wait for a change: the first wait returns the present state at once, the second one waits for the change.
template <class Result, class Wait, class Seen>
void wait_twice(actor& a, Wait wait, Seen seen) {
  a.all().start<Result>(
      a.signal(), [wait](auto token) { wait({}, std::move(token)); },
      [&a, wait, seen](error_code error, Result first) {
        if (error) return a.done(error);
        a.run<Result>([&](auto token) { wait(seen(first), std::move(token)); });
      });
}

std::vector<script> session_scripts() {
  return {
      {"connected", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_connected(std::move(t)); }); }, {}, true},
      {"create",
       false,
       [](actor& a) {
         a.run<created_node>(
             [&](auto t) { a.zk().async_create(below("node-"), "", create_mode::ephemeral_sequential, std::move(t)); });
       },
       {}},
      {"ensure_path",
       false,
       [](actor& a) { a.run<>([&](auto t) { a.zk().async_ensure_path(below("some/where"), std::move(t)); }); },
       {},
       true},
      {"remove",
       false,
       [](actor& a) { a.run<>([&](auto t) { a.zk().async_remove(below("none"), any_version, std::move(t)); }); },
       {errc::no_node}},
      {"get",
       false,
       [](actor& a) { a.run<node_data>([&](auto t) { a.zk().async_get(script_node, std::move(t)); }); },
       {},
       true},
      {"set",
       false,
       [](actor& a) {
         a.run<node_stat>([&](auto t) { a.zk().async_set(script_node, "x", any_version, std::move(t)); });
       },
       {}},
      {"exists",
       false,
       [](actor& a) { a.run<node_stat>([&](auto t) { a.zk().async_exists(script_node, std::move(t)); }); },
       {},
       true},
      {"children",
       false,
       [](actor& a) { a.run<node_children>([&](auto t) { a.zk().async_children(script_node, std::move(t)); }); },
       {},
       true},
      {"commit",
       false,
       [](actor& a) {
         a.run<results>([&](auto t) { a.zk().async_commit(transaction().set(script_node, "y"), std::move(t)); });
       },
       {}},
      {"sync", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_sync(std::move(t)); }); }, {}, true},
      {"get_acl",
       false,
       [](actor& a) { a.run<acl>([&](auto t) { a.zk().async_get_acl(script_node, std::move(t)); }); },
       {},
       true},
      {"set_acl",
       false,
       [](actor& a) {
         a.run<>([&](auto t) { a.zk().async_set_acl(script_node, open_acl(), any_version, std::move(t)); });
       },
       {}},
      {"changed",
       false,
       [](actor& a) {
         write_again(a);
         wait_twice<node_data>(
             a, [&a](node_data seen, auto t) { a.zk().async_data_change(script_node, seen.stat.mzxid, std::move(t)); },
             [](const node_data& first) { return first; });
       },
       {},
       true},
      {"children_changed",
       false,
       [](actor& a) {
         add_child(a);
         wait_twice<node_children>(
             a,
             [&a](node_children seen, auto t) {
               a.zk().async_children_change(script_node, seen.stat.pzxid, std::move(t));
             },
             [](const node_children& first) { return first; });
       },
       {},
       true},
      {"close", false, [](actor& a) { a.run<>([&](auto t) { a.zk().async_close(std::move(t)); }); }, {}, true, false},
  };
}

std::vector<script> line_scripts() {
  return {
      {"campaign",
       false,
       [](actor& a) {
         a.all().start<ownership>(
             a.signal(), [&](auto t) { a.line().async_campaign(std::move(t)); },
             [&a](error_code error, ownership won) {
               if (!error) a.granted(std::move(won));
               a.done(error);
             });
       },
       {},
       true},
      {"release", true, [](actor& a) { a.run<>([&](auto t) { a.held().async_release(std::move(t)); }); }, {}, true},
      {"let go", true, [](actor& a) { a.held() = ownership(), a.done({}); }, {}, true},
      {"lost",
       true,
       [](actor& a) {
         a.meanwhile([&a] { a.remove_own_node(); });
         a.run<>([&](auto t) { a.held().async_lost(std::move(t)); });
       },
       {errc::node_removed},
       true},
      {"revoked",
       true,
       [](actor& a) {
         ask_for_it(a);
         a.run<>([&](auto t) { a.held().async_revoked(std::move(t)); });
       },
       {errc::revoked},
       true},
      {"fenced commit",
       true,
       [](actor& a) {
         a.run<results>(
             [&](auto t) { a.zk().async_commit(a.held().fenced(transaction().set(script_node, "z")), std::move(t)); });
       },
       {}},
      {"view",
       true,
       [](actor& a) { a.run<election_view>([&](auto t) { a.line().async_view(std::move(t)); }); },
       {},
       true},
      {"view change",
       true,
       [](actor& a) {
         write_record(a);
         wait_twice<election_view>(
             a, [&a](const election_view& seen, auto t) { a.line().async_view_change(seen, std::move(t)); },
             [](const election_view& first) { return first; });
       },
       {},
       true},
      {"resignation request",
       true,
       [](actor& a) { a.run<transaction>([&](auto t) { a.line().async_resignation_request(std::move(t)); }); },
       {errc::no_node},
       true},
      {"request resignation",
       true,
       [](actor& a) { a.run<>([&](auto t) { a.line().async_request_resignation(std::move(t)); }); },
       {errc::no_node, errc::bad_version}},
  };
}

}  // namespace

const std::vector<script>& scripts() {
  static const std::vector<script> all = [] {
    auto all_of_them = session_scripts();
    for (const auto part : {&line_scripts, &recipe_scripts, &agreement_scripts, &group_scripts, &queue_scripts}) {
      for (auto& each : part()) all_of_them.push_back(std::move(each));
    }
    return all_of_them;
  }();
  return all;
}

}  // namespace zkrecipes::simulation
