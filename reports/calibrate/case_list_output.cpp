#include "reports/calibrate/case_list_output.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;
using calibrate::ListedCase;

/// Samples that a case needs at least, and what a GPU is busy for each beside the case itself: emptying the cache, a rehearsal,
/// repetitions up to 0.3 ms.
constexpr double samples = 9.0;
constexpr Seconds shortest_sample(0.3e-3);

/// Device time of all cases, without setting them up.
Seconds busy(const std::vector<ListedCase>& cases, const sim::Device& device) {
    Seconds sum;
    for (const ListedCase& each : cases) {
        const Seconds flush = 3.0 * (device.cache / device.bandwidth);
        sum = sum + samples * (std::max(each.expected, shortest_sample) + each.expected + flush);
    }
    return sum;
}

std::string against_cache(const ListedCase& each, const sim::Device& device) {
    return device.cache > Bytes(0.0) ? fmt::format("{:.3g}x", each.working_set / device.cache) : "";
}

std::string scaled(double value) { return value == 0.0 ? "0" : fmt::format("{:.3g}", value); }

}  // namespace

std::string case_list_table(const std::vector<ListedCase>& cases, const sim::Device& device) {
    text::TextTable table({{"case", text::Align::left},
                           {"MB moved"},
                           {"GFLOP"},
                           {"operands / cache"},
                           {"expected us"},
                           {"by", text::Align::left},
                           {"engines run instead", text::Align::left}});
    for (const ListedCase& each : cases) {
        table.add({each.name, scaled(each.bytes.value() / 1e6), scaled(each.flops.value() / 1e9), against_cache(each, device),
                   scaled(each.expected.value() * 1e6), each.by_law ? "law" : "data sheet", each.stands_for});
    }
    std::string text = table.text();
    text += fmt::format(
        "\n{} cases on {} (cache {:.0f} MB, {:.0f} GB/s): about {:.0f} s of its time for {:.0f} samples each, without setting "
        "them "
        "up.\n",
        cases.size(), device.name, device.cache.value() / 1e6, device.bandwidth.value() / 1e9, busy(cases, device).value(),
        samples);
    text += "Operands of up to twice the cache are measured after the cache was emptied; larger ones push each other out.\n";
    const auto on_two =
        std::count_if(cases.begin(), cases.end(), [](const ListedCase& each) { return each.takes_two_devices; });
    if (on_two > 0) {
        text += fmt::format(
            "{} cases take two devices that read each other's memory (peer access); where there is one, they are left out.\n",
            on_two);
    }
    std::map<std::string, int> marked;
    for (const ListedCase& each : cases) {
        marked[each.stands_for] += each.stands_for.empty() ? 0 : 1;
    }
    for (const auto& [engines_run, count] : marked) {
        if (count > 0) {
            text += fmt::format("{} cases are of kernels that engines replace by {}: their laws price no engine.\n", count,
                                engines_run);
        }
    }
    return text;
}

std::string case_list_json(const std::vector<ListedCase>& cases, const sim::Device& device) {
    Json list = Json::array();
    for (const ListedCase& each : cases) {
        list.push_back({{"case", each.name},
                        {"bytes", each.bytes.value()},
                        {"flops", each.flops.value()},
                        {"operand_bytes", each.working_set.value()},
                        {"expected_us", text::rounded(each.expected.value() * 1e6, 6)},
                        {"by_law", each.by_law},
                        {"devices", each.takes_two_devices ? 2 : 1},
                        {"engines_run_instead", each.stands_for}});
    }
    return Json({{"device", device.name},
                 {"cache_bytes", device.cache.value()},
                 {"device_seconds", text::rounded(busy(cases, device).value(), 4)},
                 {"cases", list}})
               .dump(2) +
           "\n";
}

std::string case_list_csv(const std::vector<ListedCase>& cases) {
    std::string text =
        text::csv_line({"case", "bytes", "flops", "operand_bytes", "expected_us", "by_law", "devices", "engines_run_instead"});
    for (const ListedCase& each : cases) {
        text +=
            text::csv_line({each.name, fmt::format("{:.0f}", each.bytes.value()), fmt::format("{:.0f}", each.flops.value()),
                            fmt::format("{:.0f}", each.working_set.value()), fmt::format("{:.6g}", each.expected.value() * 1e6),
                            each.by_law ? "1" : "0", each.takes_two_devices ? "2" : "1", each.stands_for});
    }
    return text;
}

}  // namespace treeline::reports
