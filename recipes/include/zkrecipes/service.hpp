// A program of several replicas: the part service.
#pragma once

#include <zkrecipes/service/configuration.hpp>
#include <zkrecipes/service/http_server.hpp>
#include <zkrecipes/service/json_log.hpp>
#include <zkrecipes/service/metrics.hpp>
#include <zkrecipes/service/metrics_page.hpp>
#include <zkrecipes/service/replica.hpp>
