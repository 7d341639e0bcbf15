// The text format of Prometheus.
#include <cstdint>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/metrics_page.hpp>

using zkrecipes::service::metrics_page;

BOOST_AUTO_TEST_SUITE(service_metrics_page)

BOOST_AUTO_TEST_CASE(samples_of_a_metric_stand_together) {
  metrics_page page;
  page.counter("b_total", "Of b.", 1, {{"way", "in"}});
  page.gauge("a", "Of a.", 0.25);
  page.counter("b_total", "Of b.", 2, {{"way", "out"}, {"by", "x"}});
  BOOST_TEST(page.text() ==
             "# HELP a Of a.\n# TYPE a gauge\na 0.25\n"
             "# HELP b_total Of b.\n# TYPE b_total counter\nb_total{way=\"in\"} 1\nb_total{way=\"out\",by=\"x\"} 2\n");
}

BOOST_AUTO_TEST_CASE(the_text_of_a_label_is_escaped) {
  metrics_page page;
  page.gauge("a", "Of a.", 1, {{"name", "q\"b\\n\nx"}});
  BOOST_TEST(page.text() == "# HELP a Of a.\n# TYPE a gauge\na{name=\"q\\\"b\\\\n\\nx\"} 1\n");
}

BOOST_AUTO_TEST_CASE(the_help_of_a_metric_is_one_line) {
  metrics_page page;
  page.gauge("a", "Of \"a\\b\",\nand c.", 1);
  BOOST_TEST(page.text() == "# HELP a Of \"a\\\\b\",\\nand c.\n# TYPE a gauge\na 1\n");
}

BOOST_AUTO_TEST_CASE(a_large_total_keeps_its_digits) {
  metrics_page page;
  page.counter("a_total", "Of a.", std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(page.text() == "# HELP a_total Of a.\n# TYPE a_total counter\na_total 18446744073709551615\n");
}

BOOST_AUTO_TEST_SUITE_END()
