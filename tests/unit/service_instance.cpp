// The JSON of Curator's x-discovery. Curator's own serializer wrote the texts in the cases.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_discovery.hpp>

using namespace zkrecipes;

BOOST_AUTO_TEST_SUITE(service_instances)

BOOST_AUTO_TEST_CASE(what_curator_writes_is_read) {
  const auto plain = parse_service_instance(
      R"({"name":"billing","id":"i-1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":null,)"
      R"("registrationTimeUTC":1795246817624,"serviceType":"DYNAMIC","uriSpec":null})");
  BOOST_TEST_REQUIRE(plain.has_value());
  const service_instance expected{
      .name = "billing", .id = "i-1", .address = "10.0.0.7", .port = 8080, .registration_time = 1795246817624};
  BOOST_TEST((*plain == expected));
  const auto rich = parse_service_instance(
      R"({"name":"billing","id":"q","address":"hé","port":1,"sslPort":2,"payload":{"@class":"P$Pay","weight":3},)"
      R"("registrationTimeUTC":1,"serviceType":"STATIC","uriSpec":{"parts":[{"value":"scheme","variable":true}]},)"
      R"("enabled":false,"unknown":1})");
  BOOST_TEST_REQUIRE(rich.has_value());
  BOOST_TEST((rich->ssl_port == 2));
  BOOST_TEST(rich->payload == R"({"@class":"P$Pay","weight":3})");
  BOOST_TEST((rich->type == service_type::static_node));
  BOOST_TEST(rich->uri_spec == R"({"parts":[{"value":"scheme","variable":true}]})");
  BOOST_TEST(!rich->enabled);
}

BOOST_AUTO_TEST_CASE(a_payload_keeps_its_numbers) {
  const std::string payload = R"({"w":0.1000000000000000055511,"n":[12345678901234567890123,-0,2.50,1e999]})";
  const auto read = parse_service_instance(R"({"name":"n","id":"i","address":"a","payload":)" + payload + "}");
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->payload == payload);
  const auto text = to_json(*read);
  BOOST_TEST_REQUIRE(text.has_value());
  BOOST_TEST(text->find(payload) != text->npos, *text);
  BOOST_TEST((parse_service_instance(*text) == read));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  for (auto type :
       {service_type::dynamic, service_type::static_node, service_type::permanent, service_type::dynamic_sequential}) {
    const service_instance before{.name = "n",
                                  .id = "i",
                                  .address = "a\"\n",
                                  .port = -1,
                                  .ssl_port = 65535,
                                  .payload = R"(["x",null])",
                                  .registration_time = 5,
                                  .type = type,
                                  .uri_spec = "{}",
                                  .enabled = false};
    const auto text = to_json(before);
    BOOST_TEST_REQUIRE(text.has_value());
    const auto after = parse_service_instance(*text);
    BOOST_TEST_REQUIRE(after.has_value());
    BOOST_TEST((*after == before));
  }
}

BOOST_AUTO_TEST_CASE(missing_fields_have_defaults) {
  const auto bare = parse_service_instance(R"({"name":"n","id":"i"})");
  BOOST_TEST_REQUIRE(bare.has_value());
  BOOST_TEST((*bare == service_instance{.name = "n", .id = "i"}));
}

BOOST_AUTO_TEST_CASE(what_is_no_instance_is_refused) {
  for (const auto* text :
       {"", "not JSON", "[]", "null", "{}", R"({"name":"n"})", R"({"id":"i"})", R"({"name":"n","id":1})",
        R"({"name":"n","id":"i","port":"80"})", R"({"name":"n","id":"i","port":80.5})",
        R"({"name":"n","id":"i","port":4294967296})", R"({"name":"n","id":"i","enabled":"yes"})",
        R"({"name":"n","id":"i","serviceType":"NEW"})", R"({"name":"n","id":"i","registrationTimeUTC":"now"})",
        R"({"name":"n","id":"i"} and more)", "{\"name\":\"n\",\"id\":\"\xff\"}"}) {
    BOOST_TEST(!parse_service_instance(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(what_no_json_can_hold_is_not_written) {
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "\xff"}).has_value());
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "a", .payload = "{"}).has_value());
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "a", .uri_spec = "1 2"}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
