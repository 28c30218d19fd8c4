#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/setup_keys.h"
#include "requests/setup_reader.h"

namespace treeline::requests {
namespace {

struct Range {
    std::int64_t from = 0, to = 0, step = 1;
};

Range read_range(json::Reader& at, int low, int high) {
    Range range;
    range.from = at.count(range_keys::from, low, high);
    range.to = at.count(range_keys::to, low, high);
    if (range.from > range.to) {
        at.problem({}, fmt::format("runs backwards, from {} to {}", range.from, range.to));
    }
    return range;
}

std::vector<int> steps(json::Reader at, int low, int high) {
    Range range = read_range(at, low, high);
    range.step = at.count_or(range_keys::step, 1, 1, std::max(high, 1));
    at.finish();
    const std::int64_t count = range.to < range.from ? 0 : (range.to - range.from) / range.step + 1;
    if (count > static_cast<std::int64_t>(most_axis_values)) {
        at.problem({}, fmt::format("holds {} values; at most {} are allowed", count, most_axis_values));
        return {};
    }
    std::vector<int> values;
    for (std::int64_t value = range.from; value <= range.to; value += range.step) {
        values.push_back(static_cast<int>(value));
    }
    return values;
}

std::vector<int> powers_of_two(json::Reader at, int low, int high) {
    const Range range = read_range(at, std::max(low, 1), high);
    at.finish();
    std::vector<int> values;
    for (std::int64_t value = 1; value <= range.to; value *= 2) {
        if (value >= range.from) {
            values.push_back(static_cast<int>(value));
        }
    }
    if (values.empty() && range.from <= range.to) {
        at.problem({}, fmt::format("there is no power of two from {} to {}", range.from, range.to));
    }
    return values;
}

std::vector<int> listed_values(json::Reader& at, std::string_view key, int low, int high) {
    const std::vector<std::int64_t> counts = at.counts(key, low, high);
    std::vector<int> values(counts.begin(), counts.end());
    if (values.size() > most_axis_values) {
        at.problem(key, fmt::format("holds {} values; at most {} are allowed", values.size(), most_axis_values));
    }
    std::set<int> seen;
    for (const int value : values) {
        if (!seen.insert(value).second) {
            at.problem(key, fmt::format("holds {} twice", value));
            break;
        }
    }
    return values;
}

}  // namespace

std::vector<int> read_axis(json::Reader& at, std::string_view key, int low, int high) {
    if (!at.has(key) || at.raw().at(std::string(key)).is_array()) {
        return listed_values(at, key, low, high);
    }
    if (!at.raw().at(std::string(key)).is_object()) {
        return {static_cast<int>(at.count(key, low, high))};
    }
    json::Reader inner = at.object(key);
    if (inner.has(range_keys::powers_of_two)) {
        json::Reader range = inner.object(range_keys::powers_of_two);
        inner.finish();
        return powers_of_two(std::move(range), low, high);
    }
    return steps(std::move(inner), low, high);
}

}  // namespace treeline::requests
