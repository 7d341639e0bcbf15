// A session, and single values.
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

subject of_session() {
  const auto data = create_mode::persistent;
  return subject_of<session>("session")
      .made([](const session& zk) { return zk; })
      .has_always("session::async_status_change(seen)",
                  [](session& s, auto t) { s.async_status_change(s.status().changes, std::move(t)); })
      .has("session::async_connected()", [](session& s, auto t) { s.async_connected(std::move(t)); })
      .has(
          "session::async_connected_for(budget)",
          [](session& s, auto t) { s.async_connected_for(budget, std::move(t)); }, timed_out)
      .has("session::async_create(path, data, mode)",
           [=](session& s, auto t) { s.async_create("/made", "", data, std::move(t)); })
      .has("session::async_create(path, data, mode, access)",
           [=](session& s, auto t) { s.async_create("/made", "", data, open_acl(), std::move(t)); })
      .has("session::async_create_with_parents(path, data, mode)",
           [=](session& s, auto t) { s.async_create_with_parents("/made/below", "", data, std::move(t)); })
      .has("session::async_ensure_path(path)", [](session& s, auto t) { s.async_ensure_path("/a/b", std::move(t)); })
      .has("session::async_remove(path, version)",
           [](session& s, auto t) { s.async_remove("/a", any_version, std::move(t)); }, {errc::no_node})
      .has("session::async_remove_with_children(path)",
           [](session& s, auto t) { s.async_remove_with_children("/a", std::move(t)); })
      .has("session::async_get(path)", [](session& s, auto t) { s.async_get("/a", std::move(t)); }, {errc::no_node})
      .has("session::async_set(path, data, version)",
           [](session& s, auto t) { s.async_set("/a", "", any_version, std::move(t)); }, {errc::no_node})
      .has("session::async_exists(path)", [](session& s, auto t) { s.async_exists("/a", std::move(t)); },
           {errc::no_node})
      .has("session::async_children(path)", [](session& s, auto t) { s.async_children("/a", std::move(t)); },
           {errc::no_node})
      .has("session::async_commit(operations)",
           [](session& s, auto t) { s.async_commit(transaction().check("/"), std::move(t)); })
      .has("session::async_sync()", [](session& s, auto t) { s.async_sync(std::move(t)); })
      .has("session::async_get_acl(path)", [](session& s, auto t) { s.async_get_acl("/", std::move(t)); })
      .has("session::async_set_acl(path, access, acl_version)",
           [](session& s, auto t) { s.async_set_acl("/a", open_acl(), any_version, std::move(t)); }, {errc::no_node})
      .has("session::async_add_credentials(added)",
           [](session& s, auto t) {
             s.async_add_credentials({"user", "secret"}, std::move(t));
           })
      .has("session::async_data_change(path, seen_mzxid)",
           [](session& s, auto t) { s.async_data_change("/a", 0, std::move(t)); })
      .has("session::async_children_change(path, seen_pzxid)",
           [](session& s, auto t) { s.async_children_change("/", -1, std::move(t)); })
      .has_always(
          "session::async_close_for(budget, why)",
          [](session& s, auto t) { s.async_close_for(budget, diagnostic(), std::move(t)); }, timed_out)
      .has_always("session::async_close()", [](session& s, auto t) { s.async_close(std::move(t)); });
}

subject of_shared_value() {
  return subject_of<shared_value>("shared_value")
      .made([](const session& zk) { return shared_value(zk, "/value"); })
      .has("shared_value::async_get()", [](auto& v, auto t) { v.async_get(std::move(t)); }, {errc::no_node})
      .has("shared_value::async_set(data)", [](auto& v, auto t) { v.async_set("x", std::move(t)); })
      .has("shared_value::async_compare_and_set(seen, data)",
           [](auto& v, auto t) { v.async_compare_and_set(node_stat{}, "x", std::move(t)); })
      .has("shared_value::async_change(seen)", [](auto& v, auto t) { v.async_change(node_stat{}, std::move(t)); });
}

subject of_counter() {
  return subject_of<counter>("counter")
      .made([](const session& zk) { return counter(zk, "/count"); })
      .has("counter::async_get()", [](auto& c, auto t) { c.async_get(std::move(t)); })
      .has("counter::async_add(delta)", [](auto& c, auto t) { c.async_add(1, std::move(t)); })
      .has("counter::async_compare_and_set(seen, value)",
           [](auto& c, auto t) { c.async_compare_and_set(counter_reading(), 1, std::move(t)); })
      .has("counter::async_change(seen)", [](auto& c, auto t) { c.async_change(counter_reading(), std::move(t)); });
}

}  // namespace

std::vector<subject> session_subjects() { return {of_session(), of_shared_value(), of_counter()}; }

}  // namespace zkrecipes::test
