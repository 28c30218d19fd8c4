// How `treeline study traffic` shows what it found.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reports/figure.h"
#include "sweeps/adaptive/traffic_study.h"

namespace treeline::reports {

/// What loads are, as a heading: "Requests/s", or "Requests in flight".
inline const char* load_heading(const sweeps::TrafficInput& input) {
    return input.closed_loop ? "Requests in flight" : "Requests/s";
}
/// The same as an ending: "12 requests in flight".
inline const char* load_unit(const sweeps::TrafficInput& input) {
    return input.closed_loop ? "requests in flight" : "requests/s";
}

/// The answer: the highest arrival rate that the schedule sustains, against plain decoding and the best single setting; and a
/// sentence for every policy that cannot keep up.
std::string sentence_of(const sweeps::TrafficAnswer& answer);
std::vector<std::string> overload_sentences(const sweeps::TrafficAnswer& answer);

std::string traffic_table(const sweeps::TrafficAnswer& answer);
/// Format "treeline-traffic", version 1. Columns over the arrival rates for each policy; null if a queue grows without bound.
nlohmann::ordered_json traffic_json(const sweeps::TrafficAnswer& answer);
/// Latency by arrival rate, as a section of any page.
FigureSection traffic_section(const sweeps::TrafficAnswer& answer);
/// A self-contained page of charts.
std::string traffic_html(const sweeps::TrafficAnswer& answer);
/// One line per arrival rate and policy.
std::string traffic_csv(const sweeps::TrafficAnswer& answer);

}  // namespace treeline::reports
